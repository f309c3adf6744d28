//! Scaling: the Deployment's size changed, so its ReplicaSets change theirs.
//!
//! In the middle of a roll-out the change is spread over all ReplicaSets in proportion to their
//! sizes. Were it given to one of them, scaling up would hasten the roll-out, and with it the harm
//! that a bad template does. Upstream: `scale` in `sync.go`, `GetReplicaSetProportion`.

use flyball_api::views::Deployment;

use super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS, count};
use super::edits::Edit;
use super::limits::{Limits, Strategy};
use super::sets::{Family, Set, sum};

/// Whether a ReplicaSet was last sized for another size of the Deployment.
///
/// A recreation has no proportion to keep: with several active ReplicaSets there is nothing to
/// scale by, and the roll-out itself gives them their sizes. Upstream takes that for a scaling too,
/// does nothing, and never rolls out again.
pub(super) fn is_due(deployment: &Deployment, family: &Family) -> bool {
    let limits = Limits::of(deployment);
    let changed = |set: &Set| remembers_other(set, limits.replicas);
    let has_rule = Strategy::of(deployment) == Strategy::RollingUpdate
        || family.active().count() < 2
        || is_saturated(family.new.as_ref(), &limits);
    has_rule && family.active().any(changed)
}

fn remembers_other(set: &Set, replicas: i32) -> bool {
    count(set, DESIRED_REPLICAS).is_some_and(|desired| desired != replicas)
}

/// The sizes that the ReplicaSets are to have.
pub(super) fn scale(deployment: &Deployment, family: &Family) -> Vec<Edit> {
    let limits = Limits::of(deployment);
    let active: Vec<&Set> = family.active().collect();
    match active.as_slice() {
        // None is active: the new one, or else the youngest.
        [] => match family.new.as_ref().or(family.old.last()) {
            Some(set) => whole(set, &limits),
            None => Vec::new(),
        },
        [only] => whole(only, &limits),
        _ if is_saturated(family.new.as_ref(), &limits) => family
            .old
            .iter()
            .filter(|set| set.is_active())
            .map(|set| resized(set, 0, &limits))
            .collect(),
        _ if Strategy::of(deployment) == Strategy::RollingUpdate => {
            proportional(active, &limits, deployment.status.replicas)
        }
        _ => Vec::new(),
    }
}

fn resized(set: &Set, replicas: i32, limits: &Limits) -> Edit {
    let mut edit = Edit::of(set);
    edit.resize(replicas, limits);
    edit
}

/// One ReplicaSet has all pods. One that has the right size by chance still must learn what it
/// was sized for, if it counts; upstream leaves that out, and from then on takes every sync for a
/// scaling and never rolls out again.
fn whole(set: &Set, limits: &Limits) -> Vec<Edit> {
    let must_learn = set.is_active() && remembers_other(set, limits.replicas);
    if set.replicas() == limits.replicas && !must_learn {
        return Vec::new();
    }
    vec![resized(set, limits.replicas, limits)]
}

/// Whether the new ReplicaSet has all pods, was meant to, and all are available: then whatever
/// else is active came by adoption and has nothing to do here.
fn is_saturated(new: Option<&Set>, limits: &Limits) -> bool {
    new.is_some_and(|new| {
        let desired = new
            .annotation(DESIRED_REPLICAS)
            .and_then(|text| text.parse().ok());
        new.replicas() == limits.replicas
            && desired == Some(limits.replicas)
            && new.available() == limits.replicas
    })
}

/// Spreads the difference over all active ReplicaSets, the largest first; of equals the younger
/// first when growing, the older first when shrinking. The largest also takes what rounding left,
/// which may make it grow while others shrink.
fn proportional(mut sets: Vec<&Set>, limits: &Limits, status_replicas: i32) -> Vec<Edit> {
    let allowed = if limits.replicas > 0 {
        limits.most()
    } else {
        0
    };
    let to_add = allowed.saturating_sub(sum(sets.iter().map(|set| set.replicas())));
    sets.sort_by(|a, b| {
        let by_age = if to_add < 0 { a.by_age(b) } else { b.by_age(a) };
        b.replicas().cmp(&a.replicas()).then(by_age)
    });

    let mut added = 0;
    let mut sizes: Vec<i32> = Vec::with_capacity(sets.len());
    for set in &sets {
        let share = share(set, limits, status_replicas, to_add, added);
        sizes.push(set.replicas().saturating_add(share));
        added += share;
    }
    if let Some(largest) = sizes.first_mut() {
        *largest = largest.saturating_add(to_add - added).max(0);
    }
    let mut changes: Vec<(bool, Edit)> = sets
        .iter()
        .zip(sizes)
        .map(|(set, size)| (size > set.replicas(), resized(set, size, limits)))
        .collect();
    // Room is made before it is taken, so that there are never too many in between.
    changes.sort_by_key(|(grows, _)| *grows);
    changes.into_iter().map(|(_, change)| change).collect()
}

/// How many of the pods `to_add` (or to take away) fall to one ReplicaSet, `added` of them being
/// given away already.
fn share(set: &Set, limits: &Limits, status_replicas: i32, to_add: i32, added: i32) -> i32 {
    if set.replicas() == 0 || to_add == added {
        return 0;
    }
    let share = fraction(set, limits, status_replicas);
    let left = to_add - added;
    if to_add > 0 {
        share.min(left)
    } else {
        share.max(left)
    }
}

/// The change of size that keeps a ReplicaSet's part of the whole.
fn fraction(set: &Set, limits: &Limits, status_replicas: i32) -> i32 {
    let size = set.replicas();
    if limits.replicas == 0 {
        return -size;
    }
    // Without a trace of the earlier size, what is there now must do.
    let before = match count(set, MAX_REPLICAS) {
        Some(before) if before != 0 => before,
        _ => status_replicas,
    };
    if before == 0 {
        return 0;
    }
    let grown = f64::from(size) * f64::from(limits.most()) / f64::from(before);
    // A float beyond the range of i32 becomes its end.
    (grown.round() as i32).saturating_sub(size)
}
