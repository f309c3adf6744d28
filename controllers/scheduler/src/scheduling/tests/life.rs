//! One life of a scheduler: its engine, fed from a world whose caches may lag.
//!
//! The runner of the testkit caches pods and nodes as the workload controllers see them, and so
//! cannot show a scheduler its own views.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_informer::Change;
use flyball_plan::{Engine, Finished, Next, Now};
use flyball_testkit::Id;

use super::*;

/// More syncs than any test needs before the scheduler rests.
const SYNCS_MAX: usize = 200;

/// Is told of each action before it is tried; an error stops everything, as a crash would.
pub(super) type Witness<'a> = &'a mut dyn FnMut(&World, &Action) -> Result<(), String>;

pub(super) struct Life {
    engine: Engine<Scheduler>,
    told: BTreeMap<Id, Arc<Value>>,
    cached: Snapshot,
    born: Timestamp,
}

impl Life {
    pub(super) fn begin(world: &World) -> Self {
        let mut life = Self {
            engine: Engine::new(Scheduler::default()),
            told: BTreeMap::new(),
            cached: snapshot(world),
            born: world.now(),
        };
        life.see(world);
        life
    }

    /// Lets the caches see the world as it is.
    pub(super) fn see(&mut self, world: &World) {
        self.cached = snapshot(world);
        let is: BTreeMap<Id, Arc<Value>> = world
            .objects()
            .map(|(id, it)| (id.clone(), it.clone()))
            .collect();
        let ids: std::collections::BTreeSet<&Id> = is.keys().chain(self.told.keys()).collect();
        let changes: Vec<Change> = ids
            .into_iter()
            .filter_map(|id| change(id, self.told.get(id), is.get(id)))
            .collect();
        for it in &changes {
            let now = self.now(world);
            self.engine.changed(it, &self.cached, now);
        }
        self.told = is;
    }

    /// Tells of a pod that came, without letting the caches see anything else.
    pub(super) fn wake(&mut self, pod: &Arc<Value>, world: &World) {
        if let Some(change) = between::<Pod>(None, Some(pod)) {
            let now = self.now(world);
            self.engine.changed(&change, &self.cached, now);
        }
    }

    fn now(&self, world: &World) -> Now {
        Now {
            monotonic: world.now().saturating_since(self.born),
            wall: world.now(),
        }
    }

    /// Runs one sync if one is due.
    pub(super) fn sync(
        &mut self,
        world: &mut World,
        witness: Witness<'_>,
    ) -> Result<Option<Finished>, String> {
        let mut next = self.engine.next(&self.cached, self.now(world));
        loop {
            let work = match next {
                Next::Idle(_) => return Ok(None),
                Next::Finished(finished) => return Ok(Some(*finished)),
                Next::Work(work) => work,
            };
            let found = lint(&work.actions);
            if !found.is_empty() {
                return Err(format!("{found:?} in {:?}", work.actions));
            }
            let mut answers = Vec::new();
            for action in &work.actions.items {
                witness(world, action)?;
                answers.push(world.apply(action));
            }
            let then = self.engine.answered(work.id, answers, self.now(world));
            next = then.ok_or("the engine does not know its own sync")?;
        }
    }

    /// Runs everything that is due, caches following after each sync; says how many syncs it took.
    pub(super) fn run(&mut self, world: &mut World, witness: Witness<'_>) -> Result<usize, String> {
        for syncs in 0..SYNCS_MAX {
            self.see(world);
            if self.sync(world, witness)?.is_none() {
                return Ok(syncs);
            }
        }
        Err(format!("does not rest after {SYNCS_MAX} syncs"))
    }

    /// Runs until nothing changes any more, kubelets letting go who has to.
    pub(super) fn settle(&mut self, world: &mut World, witness: Witness<'_>) -> Result<(), String> {
        for _ in 0..SYNCS_MAX {
            self.run(world, witness)?;
            let before = world.revision();
            flyball_testkit::kubelet::finish_deletions(world);
            if world.revision() == before {
                return Ok(());
            }
        }
        Err("does not come to rest".to_owned())
    }
}

fn change(id: &Id, old: Option<&Arc<Value>>, new: Option<&Arc<Value>>) -> Option<Change> {
    if old == new {
        return None;
    }
    match id.0.kind {
        "Pod" => Some(between::<Pod>(old, new)?),
        "Node" => Some(between::<Node>(old, new)?),
        "Namespace" => Some(between::<Namespace>(old, new)?),
        _ => None,
    }
}

pub(super) fn between<T: flyball_api::Object>(
    old: Option<&Arc<Value>>,
    new: Option<&Arc<Value>>,
) -> Option<Change> {
    let read = |it: &Arc<Value>| Arc::new(T::decode(it.to_string().as_bytes()).unwrap());
    match (old.map(read), new.map(read)) {
        (None, None) => None,
        (None, Some(new)) => Some(Change::added(new)),
        (Some(old), None) => Some(Change::deleted(old)),
        (Some(old), Some(new)) => Some(Change::updated(old, new)),
    }
}
