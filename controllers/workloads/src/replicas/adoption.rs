//! Whose the pods are: adopt matching orphans, release own pods that no longer match.
//!
//! Nothing else happens before this is settled: a pod that is about to be adopted must not be
//! replaced, one that was released must be.

use std::time::Duration;

use flyball_api::Selector;
use flyball_api::views::Pod;
use flyball_plan::rules::claim::{Claim, claim};
use flyball_plan::rules::claims::{self, Candidate, ClaimFailed, Fate};
use flyball_plan::{Flow, Precondition, Report, Step, Sync, Timer, Wait};

use super::observe::selects;
use super::{BURST, Observation, Owner, ReplicaKind, report};

/// The active pods that are the owner's, once all claims are settled.
pub(super) fn settle<'a, K: ReplicaKind>(
    sync: &Sync<'a, Observation<K>>,
    owner: &Owner<'_>,
    selector: &Selector,
) -> Flow<Vec<&'a Pod>> {
    let Sorted {
        mut own,
        releases,
        adoptions,
        postponed,
    } = sort(sync.seen, owner, selector);
    let releasing = releases.iter().map(|pod| (pod, Claim::Release));
    let changes = releasing.chain(adoptions.iter().map(|pod| (pod, Claim::Adopt)));
    let candidates: Vec<_> = changes
        .map(|(pod, claim)| Candidate {
            meta: &pod.metadata,
            claim,
        })
        .collect();
    let claims = claims::settle::<K::Object, _>(
        sync,
        owner.meta,
        Pod::KIND,
        &candidates,
        Precondition::incarnation,
    )?;
    let fates = claims.fates.iter().skip(releases.len()).zip(&adoptions);
    own.extend(fates.filter_map(|(fate, pod)| match fate {
        Fate::Adopted(_) => Some(*pod),
        _ => None,
    }));
    let report = || {
        Report::new(report::CLAIMING)
            .saw("adopting", adoptions.len())
            .saw("releasing", releases.len())
    };
    if let Some(first) = claims.failures.first() {
        let count = claims.failures.len();
        let text = match count {
            1 => told(first),
            count => format!("{} (and {} more)", told(first), count - 1),
        };
        let failure = first.failure(&owner.meta.namespace, text);
        return Err(Step::retry(failure, report().saw("failed", count)));
    }
    if postponed > 0 {
        let report = report()
            .saw("postponed", postponed)
            .waits_for(Wait::Time(Timer::NextBatch));
        return Err(Step::rest_for(Duration::ZERO, report));
    }
    Ok(own)
}

fn told(failure: &ClaimFailed) -> String {
    match failure {
        ClaimFailed::Refused { child, uid, why } => {
            format!("can't adopt Pod {child} ({uid}): {why}")
        }
        ClaimFailed::Write(error) => error.to_string(),
        ClaimFailed::NotTried(pod) => format!("the claim of {pod} was not tried"),
    }
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
