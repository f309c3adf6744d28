//! The six laws, and what they take for desired and for harmful.

use flyball_api::views::{Deployment, ReplicaSet};
use flyball_api::{ConditionStatus, Kind, Object, Uid};
use flyball_testkit::{Lawful, World, Written};

use super::super::DeploymentController;
use super::super::annotations::{DESIRED_REPLICAS, REVISION, REVISION_HISTORY, ROLLBACK_TO};
use super::super::limits::Limits;
use super::super::observe::same_template;
use super::worlds::{play_replica_sets, worlds};

impl Lawful for DeploymentController {
    const KIND: Kind = Deployment::KIND;

    fn subject() -> Self {
        Self::default()
    }

    fn invariants(world: &World) -> Result<(), String> {
        // Asked after every write, so it is the last one that has to be judged.
        let Some((last, earlier)) = world.history().split_last() else {
            return Ok(());
        };
        if last.id.0 == ReplicaSet::KIND {
            one_set_is_created_per_template(world, last, earlier)?;
            revisions_are_not_lost(last, earlier)?;
        }
        statuses_make_sense(last, earlier)
    }

    fn reached(world: &World) -> Result<(), String> {
        for deployment in world.list::<Deployment>("") {
            reached(world, &deployment).map_err(|why| format!("{}: {why}", name(&deployment)))?;
        }
        Ok(())
    }

    fn others(world: &mut World) {
        play_replica_sets(world);
    }

    /// Which of several ways led there shows in the order of conditions and in what ReplicaSets
    /// that are out of use remember of earlier sizes.
    fn essence(world: &World) -> String {
        let mut lines = Vec::new();
        for deployment in world.list::<Deployment>("") {
            let status = &deployment.status;
            let mut said: Vec<String> = status
                .conditions
                .iter()
                .map(|said| format!("{}={} {}", said.kind, holds(said.status), said.reason))
                .collect();
            said.sort();
            let (own, revision) = (&deployment.metadata, revision(&deployment.metadata));
            lines.push(format!(
                "{} {revision:?} {:?} {} {} {} {said:?}",
                own.name,
                status.collision_count,
                status.replicas,
                status.updated_replicas,
                status.available_replicas
            ));
        }
        for set in world.list::<ReplicaSet>("") {
            let (name, owner) = (&set.metadata.name, set.metadata.controller());
            let owner = owner.map(|owner| &owner.name);
            let revision = revision(&set.metadata);
            let history = set.metadata.annotations.get(REVISION_HISTORY);
            let replicas = set.spec.replicas;
            lines.push(format!(
                "{name} of {owner:?} {replicas:?} {revision:?} {history:?}"
            ));
        }
        lines.join("\n")
    }
}

flyball_testkit::laws!(DeploymentController, worlds);

fn holds(status: ConditionStatus) -> &'static str {
    match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    }
}

fn name(deployment: &Deployment) -> &str {
    &deployment.metadata.name
}

fn revision(meta: &flyball_api::Meta) -> Option<&str> {
    meta.annotations.get(REVISION)
}

fn own(world: &World, deployment: &Deployment) -> Vec<ReplicaSet> {
    let mut sets = world.list::<ReplicaSet>(&deployment.metadata.namespace);
    let selector = deployment.spec.selector.clone().unwrap_or_default();
    let selector = selector.compile().unwrap();
    sets.retain(|set| {
        set.metadata.is_controlled_by(&deployment.metadata.uid)
            && selector.matches_with(|label| set.metadata.labels.get(label))
    });
    sets.sort_by_key(|set| (set.metadata.creation_timestamp, set.metadata.name.clone()));
    sets
}

/// The desired state: one whole ReplicaSet with the template, all else empty, a history that is
/// not too long, and a status that says just that.
fn reached(world: &World, deployment: &Deployment) -> Result<(), String> {
    let own = own(world, deployment);
    let status = &deployment.status;
    let sum = |count: fn(&ReplicaSet) -> i32| own.iter().map(count).sum::<i32>();
    if status.observed_generation != deployment.metadata.generation
        || status.replicas != sum(|set| set.status.replicas)
        || status.ready_replicas != sum(|set| set.status.ready_replicas)
        || status.available_replicas != sum(|set| set.status.available_replicas)
    {
        return Err(format!("says {status:?}"));
    }
    let limits = Limits::of(deployment);
    let available = said(deployment, "Available").map(|said| said.0);
    if available != Some(status.available_replicas >= limits.least()) {
        return Err(format!("is it available? {status:?}"));
    }
    if deployment.metadata.is_deleting() || deployment.spec.paused {
        return Ok(());
    }

    let has_template = |set: &&ReplicaSet| same_template(deployment, set).unwrap_or(false);
    let Some(new) = own.iter().find(has_template) else {
        return Err("has no ReplicaSet with its template".to_owned());
    };
    let is_new = |set: &ReplicaSet| set.metadata.uid == new.metadata.uid;
    for set in &own {
        let wanted = if is_new(set) { limits.replicas } else { 0 };
        if set.spec.replicas != Some(wanted) {
            return Err(format!("{} should have {wanted}", set.metadata.name));
        }
    }
    let remembered = new.metadata.annotations.get(DESIRED_REPLICAS);
    if limits.replicas > 0 && remembered.is_some_and(|it| it != limits.replicas.to_string()) {
        return Err(format!("was scaled, but remembers {remembered:?}"));
    }
    let number = |set: &ReplicaSet| revision(&set.metadata)?.parse::<i64>().ok();
    let newest = own.iter().filter_map(number).max();
    if number(new).is_some() && number(new) != newest {
        return Err(format!("revision {newest:?} is not the new one's"));
    }
    if revision(&deployment.metadata) != revision(&new.metadata) {
        return Err("does not say its revision".to_owned());
    }
    let rollback = deployment.metadata.annotations.get(ROLLBACK_TO);
    if rollback.is_some_and(|revision| revision.parse::<i64>().is_ok()) {
        return Err("has not been rolled back".to_owned());
    }
    if let Some(limit) = deployment.spec.revision_history_limit
        && own.len() as i64 - 1 > i64::from(limit)
    {
        return Err(format!("keeps {} ReplicaSets", own.len()));
    }
    let progress = said(deployment, "Progressing");
    match deployment.spec.progress_deadline_seconds {
        Some(_) if progress != Some((true, "NewReplicaSetAvailable")) => {
            Err(format!("does not say that it is done: {progress:?}"))
        }
        None if progress.is_some() => Err(format!("has no deadline, but says {progress:?}")),
        _ => Ok(()),
    }
}

/// Whether a condition is true, and its reason.
fn said<'a>(deployment: &'a Deployment, kind: &str) -> Option<(bool, &'a str)> {
    let conditions = &deployment.status.conditions;
    let said = conditions.iter().find(|said| said.kind == kind)?;
    Some((said.status == ConditionStatus::True, &said.reason))
}

/// Two ReplicaSets with one template would run the same pods twice. Those made by others (which
/// begin as orphans) or there from the start may be so; the controller makes one.
fn one_set_is_created_per_template(
    world: &World,
    last: &Written,
    earlier: &[Written],
) -> Result<(), String> {
    let is_new = |set: &ReplicaSet| before::<ReplicaSet>(&set.metadata.uid, earlier).is_none();
    let Some(made) = state::<ReplicaSet>(last).filter(is_new) else {
        return Ok(());
    };
    let Some(owner) = made.metadata.controller().map(|owner| owner.uid.clone()) else {
        return Ok(());
    };
    let start = world.at_start().revision();
    let born_here = |set: &ReplicaSet| {
        let mut states = earlier.iter().filter(|it| is(&set.metadata.uid, it));
        let first = states.next().filter(|first| first.revision > start);
        let first = first.and_then(state::<ReplicaSet>);
        first.is_some_and(|first| first.metadata.is_controlled_by(&owner))
    };
    let twin = |set: &ReplicaSet| {
        let (a, b) = (made.spec.template.json(), set.spec.template.json());
        let hash = Some(super::super::POD_TEMPLATE_HASH);
        flyball_api::semantic::template_equal(a, b, hash).unwrap_or(true)
    };
    let mut others = world.list::<ReplicaSet>(&made.metadata.namespace);
    others.retain(|set| set.metadata.is_controlled_by(&owner) && born_here(set) && twin(set));
    match others.first() {
        Some(twin) => {
            let (made, twin) = (&made.metadata.name, &twin.metadata.name);
            Err(format!("{made} was made beside {twin} for one template"))
        }
        None => Ok(()),
    }
}

/// A ReplicaSet's revision only grows, and what it was before is in its history.
fn revisions_are_not_lost(last: &Written, earlier: &[Written]) -> Result<(), String> {
    let Some(set) = state::<ReplicaSet>(last) else {
        return Ok(());
    };
    let number = |set: &ReplicaSet| revision(&set.metadata)?.parse::<i64>().ok();
    let earlier = before::<ReplicaSet>(&set.metadata.uid, earlier);
    let (Some(before), now) = (earlier.as_ref().and_then(number), number(&set)) else {
        return Ok(());
    };
    let history = set.metadata.annotations.get(REVISION_HISTORY);
    let mut kept = history.unwrap_or_default().split(',');
    if now == Some(before)
        || now > Some(before) && (before == 0 || kept.any(|kept| kept == before.to_string()))
    {
        return Ok(());
    }
    let name = &set.metadata.name;
    Err(format!(
        "{name} was {before}, is {now:?}, keeps {history:?}"
    ))
}

/// No status that is written contradicts itself or claims a generation that never was.
fn statuses_make_sense(last: &Written, earlier: &[Written]) -> Result<(), String> {
    let Some(deployment) = state::<Deployment>(last) else {
        return Ok(());
    };
    let status = &deployment.status;
    let before = match before::<Deployment>(&deployment.metadata.uid, earlier) {
        Some(before) if before.status != *status => before,
        _ => return Ok(()),
    };
    let mut kinds: Vec<&str> = status.conditions.iter().map(|c| c.kind.as_str()).collect();
    kinds.sort_unstable();
    let twice = kinds.windows(2).any(|pair| pair[0] == pair[1]);
    let done = Some((true, "NewReplicaSetAvailable"));
    let now_done = said(&deployment, "Progressing") == done && said(&before, "Progressing") != done;
    let all_new =
        status.updated_replicas == status.replicas && status.available_replicas == status.replicas;
    if twice
        || status.observed_generation > deployment.metadata.generation
        || status.updated_replicas > status.replicas
        || status.available_replicas > status.ready_replicas
        || status.ready_replicas > status.replicas
        || (now_done && !all_new)
    {
        return Err(format!("{} claims {status:?}", name(&deployment)));
    }
    Ok(())
}

/// The last state of one incarnation.
fn before<T: Object>(uid: &Uid, earlier: &[Written]) -> Option<T> {
    let before = earlier.iter().rev().find(|written| is(uid, written));
    before.and_then(state)
}

fn is(uid: &Uid, written: &Written) -> bool {
    let state = written.state.as_ref();
    state.is_some_and(|state| state["metadata"]["uid"] == uid.to_string())
}

fn state<T: Object>(written: &Written) -> Option<T> {
    let state = written.state.as_ref()?;
    (written.id.0 == T::kind())
        .then(|| T::decode(state.to_string().as_bytes()).ok())
        .flatten()
}
