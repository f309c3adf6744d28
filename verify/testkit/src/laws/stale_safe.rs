//! Stale-safe: a plan from old caches may fail, but it never harms.

use std::time::Duration;

use flyball_plan::{Action, Answer, Write};

use super::{Lawful, Upset, quiet::is_quiet};
use crate::{Moment, Runner, World};

/// More syncs than any controller needs on one view of the world.
const SYNCS_MAX: usize = 100;

/// Lets the controller act on caches that have not heard of some upsets, and that catch up with
/// them and with its own writes slowly, each kind at its own pace. Finds of every write that it
/// would fail on another object of the same name, and that it leaves the controller's invariants
/// intact. In the end, finds the world settled, as desired, and quiet.
///
/// Each lag is one look at the world: two bits per kind say how much of what it has missed a
/// cache learns (nothing, a part, most, all).
pub fn stale_safe<C: Lawful>(
    mut world: World,
    upsets: &[Upset],
    lags: &[u8],
) -> Result<(), String> {
    world.start();
    let known = world.revision();
    for upset in upsets {
        upset.happen(&mut world);
    }
    let mut runner = Runner::behind(C::subject(), &world, known);
    // The first look is the oldest.
    for lag in [0].iter().chain(lags) {
        look(&mut runner, &world, *lag);
        run::<C>(&mut runner, &mut world)?;
        C::others(&mut world);
        // Time enough for what failed to be tried again.
        world.advance(Duration::from_secs(2));
    }
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::After { world, .. } => C::invariants(world),
        Moment::Stage { .. } | Moment::Before { .. } => Ok(()),
    };
    runner.converge(&mut world, C::others, &mut watch)?;
    C::reached(&world)?;
    is_quiet(C::subject(), &mut world)
}

/// Lets each cache learn of a part of what it has missed.
fn look<C: Lawful>(runner: &mut Runner<C>, world: &World, lag: u8) {
    for (at, kind) in runner.caches().kinds().into_iter().enumerate() {
        let seen = runner.caches().seen(kind);
        let part = u64::from(lag.rotate_right(2 * at as u32) & 3);
        let missed = world.revision() - seen;
        runner.see(world, |caches| {
            caches.catch_up_kind(world, kind, seen + missed * part / 3)
        });
    }
}

/// Runs whatever is due, on the caches as they are.
fn run<C: Lawful>(runner: &mut Runner<C>, world: &mut World) -> Result<(), String> {
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Stage { .. } => Ok(()),
        Moment::Before { action, world, .. } => spares_a_namesake(action, world),
        Moment::After { world, .. } => C::invariants(world),
    };
    for _ in 0..SYNCS_MAX {
        if runner.sync(world, &mut watch)?.is_err() {
            return Ok(());
        }
    }
    Err(format!(
        "does not rest after {SYNCS_MAX} syncs on one view of the world"
    ))
}

/// Whether a write would fail if its target were gone and another had its name.
fn spares_a_namesake(action: &Action, world: &World) -> Result<(), String> {
    let write = action.write();
    let write = write.filter(|write| !write.is_create() && !write.is_of_collection());
    let Some(Write { target, .. }) = write else {
        return Ok(());
    };
    let mut other = world.clone();
    super::upset::recreate(&mut other, target);
    match other.apply(action) {
        Answer::Done(_) => Err(format!("would hit whatever has that name: {action:?}")),
        _ => Ok(()),
    }
}
