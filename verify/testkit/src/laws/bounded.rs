//! Bounded: no sync goes on for ever, no stage is without measure, whatever fails.

use std::collections::BTreeSet;

use flyball_api::{ApiError, Status};
use flyball_plan::{Actions, TOO_MANY_STAGES, lint};

use super::Lawful;
use crate::{Fault, Moment, Runner, World};

/// Runs while requests fail, and finds every stage to be small, named once per sync, and clean;
/// and the world to settle when the failures end.
///
/// A fault is a byte: the upper bits choose the request (0 to 31 from the start), the lower three
/// what happens to it.
pub fn bounded<C: Lawful>(mut world: World, faults: &[u8]) -> Result<(), String> {
    for fault in faults {
        world.fail(u64::from(fault >> 3), fault_of(fault & 7));
    }
    let mut names = BTreeSet::new();
    let mut watch = |moment: Moment<'_>| {
        let Moment::Stage {
            key,
            stages_before,
            actions,
        } = moment
        else {
            return Ok(());
        };
        if stages_before == 0 {
            names.clear();
        }
        let found = check::<C>(actions, names.insert(actions.id()));
        found.map_err(|why| format!("{key}, stage {:?}: {why}", actions.stage))
    };
    let syncs = Runner::new(C::subject(), &world).converge(&mut world, C::others, &mut watch)?;
    match syncs
        .iter()
        .find(|sync| sync.finished.report.rule == TOO_MANY_STAGES)
    {
        Some(sync) => Err(sync.to_string()),
        None => Ok(()),
    }
}

fn check<C: Lawful>(actions: &Actions, is_first_of_its_name: bool) -> Result<(), String> {
    let count = actions.items.len();
    let lints = lint(actions);
    if !lints.is_empty() {
        return Err(format!("{lints:?} in {actions:?}"));
    }
    if count > C::STAGE_ACTIONS_MAX {
        return Err(format!(
            "{count} actions, more than {}",
            C::STAGE_ACTIONS_MAX
        ));
    }
    if !is_first_of_its_name {
        return Err("the second of that name in one sync".to_owned());
    }
    Ok(())
}

fn fault_of(choice: u8) -> Fault {
    let (code, reason) = match choice {
        0 => return Fault::AnswerLost,
        1 => return Fault::Refused(ApiError::transport("connection refused")),
        2 => (409, "Conflict"),
        3 => (404, "NotFound"),
        4 => (403, "Forbidden"),
        5 => (422, "Invalid"),
        6 => (504, "Timeout"),
        _ => (500, "InternalError"),
    };
    Fault::Refused(ApiError::from_status(Status::failure(
        code,
        reason,
        "so the law wants it",
    )))
}
