//! Quiet: at rest, a fresh look wants nothing.

use flyball_plan::{Action, Controller};

use super::Lawful;
use crate::{Runner, World};

/// Lets the world settle, starts the controller anew and finds that it wants nothing more; what it
/// tells people does not count.
pub fn quiet<C: Lawful>(mut world: World) -> Result<(), String> {
    Runner::new(C::subject(), &world).converge(&mut world, C::others, &mut |_| Ok(()))?;
    C::reached(&world)?;
    is_quiet(C::subject(), &mut world)
}

/// Whether a controller that looks for the first time wants nothing.
pub(super) fn is_quiet<C: Controller>(controller: C, world: &mut World) -> Result<(), String> {
    let (syncs, _) = Runner::new(controller, world).run(world, &mut |_| Ok(()))?;
    let wants = |action: &Action| !matches!(action, Action::Record(_));
    match syncs.iter().find(|sync| sync.actions().any(wants)) {
        Some(sync) => Err(format!("all is settled, and yet:\n{sync}")),
        None => Ok(()),
    }
}
