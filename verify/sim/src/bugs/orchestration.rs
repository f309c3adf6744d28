//! Deliberate bugs of the orchestration: made by the process itself, through its flaws, or at the
//! seams around it.

use flyball_api::views::Pod;
use flyball_api::{LeanMeta, ObjectName, object};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Driver, Engine, Keys, Now, Report, Step};
use flyball_process::{Flaw, Flaws};

use super::Bug;
use crate::parts::Part;

/// The mistakes of a simulated process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bugs(pub(crate) Option<Bug>);

impl Flaws for Bugs {
    fn has(&self, flaw: Flaw) -> bool {
        let made = match self.0 {
            Some(Bug::CachesSecondView) => Flaw::SecondView,
            Some(Bug::ReadyBeforePublished) => Flaw::ReadyBeforePublished,
            Some(Bug::DropsOldVersion) => Flaw::OldVersionDropped,
            Some(Bug::LeadsWithOldCaches) => Flaw::TermWithOldCaches,
            Some(Bug::TakesLowerVersions) => Flaw::LowerVersionTaken,
            Some(Bug::SparesOneKind) => Flaw::KindNotRelisted,
            Some(Bug::LosesResyncs) => Flaw::ResyncLost,
            Some(Bug::RoutesBeforePublishing) => Flaw::RoutedBeforePublished,
            Some(Bug::StopsWithoutWaiting) => Flaw::StopForgetsSyncs,
            Some(Bug::WritesAfterItsTerm) => Flaw::TermBeyondClock,
            Some(Bug::NeverDoubts) => Flaw::NeverInDoubt,
            _ => return false,
        };
        made == flaw
    }
}

/// A controller of the manager that caches pods as a type of its own, if that is the bug.
pub(crate) fn second_view(bug: Option<Bug>, part: &Part) -> Option<Box<dyn Driver>> {
    let is_made = bug == Some(Bug::CachesSecondView) && part.elects;
    is_made.then(|| Box::new(Engine::new(Onlooker)) as _)
}

/// A pod, once more.
#[derive(Debug, serde::Deserialize)]
struct SecondPod {
    metadata: LeanMeta,
}

object!(SecondPod, Pod::KIND);

/// Looks at pods and does nothing.
struct Onlooker;

impl Controller for Onlooker {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "onlooker",
        aliases: &[],
        client: "onlooker",
        component: "onlooker",
        queue: "onlooker",
        watches: &[Watch::of::<SecondPod>()],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    fn route(&self, _: &Change, _: &Snapshot) -> Keys<ObjectName> {
        Keys::new()
    }
    fn observe(&self, _: &ObjectName, _: &Snapshot, _: &()) -> Option<()> {
        None
    }
    fn step(&self, (): &(), _: &Answers, _: Now) -> Step {
        Step::rest(Report::default())
    }
}

/// What a controller is shown of the caches.
pub(super) fn spoil_sight(bug: Bug, shown: &Snapshot) -> Option<Snapshot> {
    let is_incomplete = !shown.incomplete().is_empty();
    (bug == Bug::BelievesIncomplete && is_incomplete).then(|| shown.waiting_for([]))
}
