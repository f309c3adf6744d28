//! Order-blind: in whatever order objects arrive, the plan and the end are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use flyball_api::ObjectName;
use flyball_plan::{Answers, Now, Step};

use super::Lawful;
use crate::{Caches, Runner, World};

/// Lists the world in the usual and in a shuffled order; finds the first step of every key and the
/// settled world to be the same.
pub fn order_blind<C: Lawful<Key = ObjectName>>(world: World, seed: u64) -> Result<(), String> {
    let shuffled = |at: usize| {
        let mut hasher = DefaultHasher::new();
        (seed, at).hash(&mut hasher);
        hasher.finish()
    };
    let keys = world
        .objects()
        .filter(|(id, _)| id.0 == C::KIND)
        .map(|(id, _)| &id.1);
    for key in keys {
        let plan = first_step::<C>(key, &world, |at| at as u64);
        let other = first_step::<C>(key, &world, shuffled);
        if plan != other {
            return Err(format!("{key}: in one order {plan}\nin another {other}"));
        }
    }
    let mut one = world.clone();
    Runner::new(C::subject(), &one).converge(&mut one, C::others, &mut |_| Ok(()))?;
    let mut two = world;
    Runner::listing(C::subject(), &two, shuffled).converge(&mut two, C::others, &mut |_| Ok(()))?;
    super::essence::same::<C>(&one, &two)
}

fn first_step<C: Lawful<Key = ObjectName>>(
    key: &ObjectName,
    world: &World,
    rank: impl Fn(usize) -> u64,
) -> String {
    let controller = C::subject();
    let mut caches = Caches::watched_by::<C>(world);
    caches.list(world, rank);
    let seen = controller.observe(key, &caches.snapshot(), &C::Memory::default());
    match seen.map(|seen| controller.step(&seen, &Answers::none(), Now::at(world.now()))) {
        Some(Step::Do(actions)) => format!("{actions:#?}"),
        Some(Step::Rest(rest)) => format!("{rest:?}"),
        None => "nothing".to_owned(),
    }
}
