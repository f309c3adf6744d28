//! What to do when a write clashes: the object is looked at, as the server has it by then.

use flyball_api::views::Partial;
use flyball_api::{ApiError, Object};
use flyball_plan::{Answer, Flow, Precondition, Read, Report, Step};

use super::observe::Seen;
use super::plan::Sync;
use super::report;

/// The same incarnation of the object, as the server has it after a write was refused; if there is
/// none, or that is still to be asked, the step to take instead.
pub(super) fn look_again(
    sync: &Sync<'_>,
    object: &Seen,
    refusal: &ApiError,
    report: &Report,
) -> Flow<Partial> {
    let look = || Read::exists(object.target.clone(), object.uid.clone());
    match Live::of(sync.ask("look", look)?) {
        Live::Is(live) if *live.uid() == object.uid => Ok(live),
        Live::Is(_) | Live::Gone => Err(Step::rest(report::gone_already())),
        // A server that does not answer is given time, conflict or not.
        Live::Unknown => Err(Step::retry(refusal.to_string(), report.clone())),
    }
}

/// An object as the server has it.
pub(super) enum Live {
    /// There it is.
    Is(Partial),
    /// There is none of its name.
    Gone,
    /// The server did not say.
    Unknown,
}

impl Live {
    /// What an answer says.
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Failed(error) if error.is_object_not_found() => Self::Gone,
            Answer::Read(found) => match Partial::decode(found.json().as_bytes()) {
                Ok(found) => Self::Is(found),
                Err(_) => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// That an object is exactly as the server had it.
pub(super) fn unchanged(live: &Partial) -> Precondition {
    Precondition {
        uid: Some(live.uid().clone()),
        resource_version: Some(live.resource_version().into()),
    }
}
