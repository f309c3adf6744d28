//! What every write keeps, however old the caches it was planned from.
//!
//! Caches may be as old as the start of a trial, never older. So a promise is about what was so at
//! some time since: the controller may not have heard of what came later, but it makes nothing up.

use flyball_plan::Target;

use super::past::{self, Life, Suitor, active_now, before, controller, lives};
use super::*;

/// What went wrong on the way that nobody but the server knows of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slack {
    /// Creates that took effect without the controller being told.
    pub(super) creates_lost: usize,
    /// Deletes that took effect without the controller being told.
    pub(super) deletes_lost: usize,
    /// Whether creates or deletes were refused, so that an owner may say it fails.
    pub(super) refused: bool,
    /// Whether others lay hands on pods, so that fewer may be left than were judged to be.
    pub(super) others_interfere: bool,
}

/// Judges the newest change of the world, which may also have been somebody else's.
pub(super) fn kept_by_the_last_write<K: OnTrial>(
    world: &World,
    slack: Slack,
) -> Result<(), String> {
    let Some(newest) = world.history().last() else {
        return Ok(());
    };
    if newest.revision <= world.at_start().revision() {
        return Ok(());
    }
    let (old, new) = (before(world, newest), newest.state.as_deref());
    match (newest.id.0, old, new) {
        (kind, None, Some(pod)) if kind == Pod::KIND => {
            creates_what_is_missing::<K>(world, pod, slack)
        }
        (kind, Some(old), Some(new)) if kind == Pod::KIND => {
            adopts_what_it_may::<K>(world, old, new)
        }
        (kind, Some(old), Some(new)) if kind == K::KIND && old["status"] != new["status"] => {
            says_what_is_so::<K>(world, old, new, slack)
        }
        _ => Ok(()),
    }
}

/// Never more active pods than were desired at some time, but for those nobody was told of.
fn creates_what_is_missing<K: OnTrial>(
    world: &World,
    pod: &Value,
    slack: Slack,
) -> Result<(), String> {
    let owners = lives(world, K::KIND);
    let Some((uid, life)) = controller(pod).and_then(|uid| owners.get_key_value(uid)) else {
        return Ok(());
    };
    let (active, most) = (active_now(world, uid), desired(life).max().unwrap_or(0));
    if active > most + slack.creates_lost {
        return Err(format!(
            "{uid} has {active} active pods and never wanted more than {most}"
        ));
    }
    Ok(())
}

/// How many pods were desired, from the start on.
fn desired(life: &Life<'_>) -> impl Iterator<Item = usize> {
    let replicas = life.states.iter().map(|state| &state["spec"]["replicas"]);
    replicas.map(|replicas| usize::try_from(replicas.as_i64().unwrap_or(1)).unwrap_or(0))
}

/// Who adopts lives, and has seen the pod as an orphan that it selects.
fn adopts_what_it_may<K: OnTrial>(world: &World, old: &Value, new: &Value) -> Result<(), String> {
    let owners = lives(world, K::KIND);
    let adopter = controller(new).filter(|uid| controller(old) != Some(*uid));
    let Some(adopter) = adopter.and_then(|uid| owners.get(uid)?.states.last().copied()) else {
        return Ok(());
    };
    let adopter = Suitor::of::<K>(adopter);
    let mut all = world.list::<K::Object>("").into_iter();
    if !all.any(|it| it.uid().to_string() == adopter.uid && !K::owner(&it).meta.is_deleting()) {
        return Err(format!("{} adopts after its end: {new}", adopter.uid));
    }
    let pod = &lives(world, Pod::KIND)[past::uid(new)];
    if !pod.ever(|pod| adopter.selects(pod) && past::is_active(pod) && controller(pod).is_none()) {
        return Err(format!(
            "{} adopts what was never an orphan of its kind: {new}",
            adopter.uid
        ));
    }
    Ok(())
}

/// Judges a patch that just took effect: who lets a pod go has seen it not to match.
pub(super) fn releases_what_it_may<K: OnTrial>(world: &World) -> Result<(), String> {
    let Some(newest) = world.history().last() else {
        return Ok(());
    };
    let (Some(old), Some(new)) = (before(world, newest), newest.state.as_deref()) else {
        return Ok(());
    };
    let owners = lives(world, K::KIND);
    let former = controller(old).filter(|uid| controller(new) != Some(*uid));
    let Some(former) = former.and_then(|uid| owners.get(uid)?.states.last().copied()) else {
        return Ok(());
    };
    let former = Suitor::of::<K>(former);
    let pod = &lives(world, Pod::KIND)[past::uid(new)];
    if !pod.ever(|pod| !former.selects(pod)) {
        return Err(format!(
            "{} lets go what it always selected: {old}",
            former.uid
        ));
    }
    Ok(())
}

/// Every number of a status lies between what was so all the time and what was so at any time; it
/// is no older than the one before it, and tells of no failure that did not happen.
fn says_what_is_so<K: OnTrial>(
    world: &World,
    old: &Value,
    new: &Value,
    slack: Slack,
) -> Result<(), String> {
    if past::uid(old) != past::uid(new) {
        return Ok(());
    }
    let owner = Suitor::of::<K>(new);
    let status = &new["status"];
    let said = |field: &str| status[field].as_u64().unwrap_or(0) as usize;
    let pods = lives(world, Pod::KIND);
    // One that was just adopted counts as it was when it was an orphan.
    let was_own = |pod: &Life<'_>| pod.ever(|state| owner.controls(state));
    let between = |field: &str, holds: &dyn Fn(&Value) -> bool| {
        let always = |pod: &&Life<'_>| pod.always(|state| holds(state) && owner.has(state));
        let ever = |pod: &&Life<'_>| {
            was_own(pod) && pod.ever(|state| holds(state) && owner.may_have(state))
        };
        let least = pods.values().filter(always).count();
        let most = pods.values().filter(ever).count();
        let said = said(field);
        if (least..=most).contains(&said) {
            return Ok(());
        }
        Err(format!(
            "{}: {field} is {said}, but can only be {least} to {most}",
            owner.uid
        ))
    };
    between("replicas", &past::is_active)?;
    between("readyReplicas", &|pod| {
        past::is_active(pod) && past::is_ready(pod)
    })?;
    if K::COUNTS_TERMINATING {
        between("terminatingReplicas", &past::is_terminating)?;
    } else if !status["terminatingReplicas"].is_null() {
        return Err(format!("{}: counts what it has no field for", owner.uid));
    }
    let (replicas, ready) = (said("replicas"), said("readyReplicas"));
    if ready > replicas
        || said("availableReplicas") > ready
        || said("fullyLabeledReplicas") > replicas
    {
        return Err(format!("{}: contradicts itself: {status}", owner.uid));
    }
    let observed = |object: &Value| object["status"]["observedGeneration"].as_i64().unwrap_or(0);
    if observed(new) < observed(old)
        || observed(new) > new["metadata"]["generation"].as_i64().unwrap_or(0)
    {
        return Err(format!(
            "{}: observed {} after {}",
            owner.uid,
            observed(new),
            observed(old)
        ));
    }
    if fails(new) && !fails(old) && !slack.refused {
        return Err(format!("{}: nothing failed, and yet {status}", owner.uid));
    }
    let kept = |field: &str| {
        let [old, new] = [old, new].map(|object| &object["metadata"][field]);
        old == new || (past::is_nothing(old) && past::is_nothing(new))
    };
    if old["spec"] != new["spec"]
        || !["labels", "annotations", "ownerReferences"]
            .into_iter()
            .all(kept)
    {
        return Err(format!(
            "{}: a status changes more than the status: {new}",
            owner.uid
        ));
    }
    Ok(())
}

fn fails(owner: &Value) -> bool {
    let conditions = owner["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "ReplicaFailure")
}

/// Judges a deletion that just took effect: it hit the incarnation that was judged, which the
/// owner controlled, and left as many as were wanted.
pub(super) fn deletes_its_own<K: OnTrial>(
    world: &World,
    key: &str,
    target: &Target,
    judged: &str,
    slack: Slack,
) -> Result<(), String> {
    let owners = lives(world, K::KIND);
    let pods = lives(world, Pod::KIND);
    let Some(pod) = pods.get(judged) else {
        return Err(format!(
            "{key} deletes {target:?}, which was never {judged}"
        ));
    };
    let is_of_key = |life: &Life<'_>| {
        life.states.iter().any(|owner| {
            let meta = &owner["metadata"];
            let text = |field: &str| meta[field].as_str().unwrap_or_default();
            format!("{}/{}", text("namespace"), text("name")) == key
        })
    };
    let owner = owners.iter().find(|(uid, life)| {
        // A pod may fail between being seen as an orphan and being adopted: then it never was both.
        is_of_key(life)
            && pod.ever(|state| controller(state) == Some(uid))
            && pod.ever(past::is_active)
    });
    let Some((uid, owner)) = owner else {
        return Err(format!("{key} deletes what was never its own: {target:?}"));
    };
    let (active, least) = (active_now(world, uid), desired(owner).min().unwrap_or(0));
    if !slack.others_interfere && active + slack.deletes_lost < least {
        return Err(format!(
            "{uid} has {active} active pods and never wanted fewer than {least}"
        ));
    }
    Ok(())
}
