//! Whose the pods are: adopt matching orphans, release own pods that no longer match.
//!
//! Nothing else happens before this is settled: a pod that is about to be adopted must not be
//! replaced, one that was released must be.

use std::time::Duration;

use flyball_api::views::Pod;
use flyball_api::{Class, Selector};
use flyball_plan::rules::claim::{Claim, adopt, claim, may_adopt, recheck, release};
use flyball_plan::{Actions, Answer, Answers, Report, Step};

use super::observe::selects;
use super::{BURST, Observation, Owner, ReplicaKind};

const RECHECK: &str = "recheck";
const CLAIM: &str = "claim";

/// Where the question of whose the pods are stands.
pub(super) enum Claims<'a> {
    /// These active pods are the owner's.
    Settled(Vec<&'a Pod>),
    /// This comes first.
    Unsettled(Step),
}

pub(super) fn settle<'a, K: ReplicaKind>(
    seen: &'a Observation<K>,
    owner: &Owner<'_>,
    selector: &Selector,
    answers: &Answers,
) -> Claims<'a> {
    let Sorted {
        mut own,
        releases,
        adoptions,
        postponed,
    } = sort(seen, owner, selector);
    if releases.is_empty() && adoptions.is_empty() {
        return Claims::Settled(own);
    }

    // A cache may still show an owner that was deleted, or made anew under the same name.
    let allowed = match answers.stage(RECHECK) {
        _ if adoptions.is_empty() => Ok(()),
        None => {
            let ask = recheck(owner.kind, owner.meta);
            return Claims::Unsettled(Step::Do(Actions::in_order(RECHECK, vec![ask])));
        }
        Some(round) => match round.answers.first() {
            Some(answer) => may_adopt::<K::Object>(owner.meta, answer),
            None => Err("the owner was not read".to_owned()),
        },
    };

    let mut errors = Vec::new();
    let adopting = if allowed.is_ok() { &adoptions[..] } else { &[] };
    if !(releases.is_empty() && adopting.is_empty()) {
        let Some(round) = answers.stage(CLAIM) else {
            let release = releases
                .iter()
                .map(|pod| release(&owner.meta.uid, Pod::KIND, &pod.metadata));
            let adopt = adopting
                .iter()
                .map(|pod| adopt(owner.kind, owner.meta, Pod::KIND, &pod.metadata));
            let items = release.chain(adopt).collect();
            return Claims::Unsettled(Step::Do(Actions::together(CLAIM, items)));
        };
        let (released, adopted) = round
            .answers
            .split_at(releases.len().min(round.answers.len()));
        errors.extend(released.iter().filter_map(release_error));
        for (pod, answer) in adopting.iter().zip(adopted) {
            match answer {
                Answer::Done(_) => own.push(pod),
                // Gone: not ours, and nothing to be done about it.
                Answer::Failed(error) if error.class() == Class::NotFound => {}
                Answer::Failed(error) => errors.push(error.to_string()),
                _ => errors.push(not_tried(pod)),
            }
        }
    }
    if let Err(why) = allowed {
        errors.extend(adoptions.iter().map(|pod| {
            let (name, uid) = (pod.metadata.object_name(), &pod.metadata.uid);
            format!("can't adopt Pod {name} ({uid}): {why}")
        }));
    }

    let report = || {
        Report::new("whose the pods are")
            .saw("adopting", adoptions.len())
            .saw("releasing", releases.len())
    };
    if let Some(first) = errors.first() {
        let error = match errors.len() {
            1 => first.clone(),
            count => format!("{first} (and {} more)", count - 1),
        };
        let report = report()
            .saw("failed", errors.len())
            .waits_for("another try");
        return Claims::Unsettled(Step::retry(error, report));
    }
    if postponed > 0 {
        let report = report().waits_for(format!("{postponed} more to be adopted or released"));
        return Claims::Unsettled(Step::rest_for(Duration::ZERO, report));
    }
    Claims::Settled(own)
}

/// Pods by what is to be done about them.
struct Sorted<'a> {
    own: Vec<&'a Pod>,
    releases: Vec<&'a Pod>,
    adoptions: Vec<&'a Pod>,
    /// How many are left for the next sync, so that none makes more writes than a plan may hold.
    postponed: usize,
}

fn sort<'a, K: ReplicaKind>(
    seen: &'a Observation<K>,
    owner: &Owner<'_>,
    selector: &Selector,
) -> Sorted<'a> {
    let mut sorted = Sorted {
        own: Vec::new(),
        releases: Vec::new(),
        adoptions: Vec::new(),
        postponed: 0,
    };
    for pod in &seen.active {
        let room = sorted.releases.len() + sorted.adoptions.len() < BURST;
        match claim(
            owner.meta,
            &pod.metadata,
            selects(selector, &pod.metadata.labels),
        ) {
            Claim::Ignore => {}
            Claim::Keep => sorted.own.push(pod),
            Claim::Release | Claim::Adopt if !room => sorted.postponed += 1,
            Claim::Release => sorted.releases.push(pod),
            Claim::Adopt => sorted.adoptions.push(pod),
        }
    }
    sorted
}

/// Why a release failed, if it did. A pod that is gone, replaced or nobody's already is as good
/// as released.
fn release_error(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Failed(error) if !matches!(error.class(), Class::NotFound | Class::Invalid) => {
            Some(error.to_string())
        }
        Answer::Skipped => Some("a release was not tried".to_owned()),
        _ => None,
    }
}

fn not_tried(pod: &Pod) -> String {
    format!(
        "the adoption of {} was not tried",
        pod.metadata.object_name()
    )
}
