//! One view per kind.

use flyball_api::views::Pod;
use flyball_api::{DecodeError, LeanMeta, Object, ObjectName, object};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Driver, Engine, Keys, Now, Report, Step};

use super::toys::{Twins, settings};
use crate::Process;

/// A pod as another controller would like to see it.
struct OtherPod {
    metadata: LeanMeta,
}

object!(OtherPod, Pod::KIND, decode = other_pod);

fn other_pod(json: &[u8]) -> Result<OtherPod, DecodeError> {
    let Pod { metadata, .. } = Pod::decode(json)?;
    Ok(OtherPod { metadata })
}

struct Onlooker;

impl Controller for Onlooker {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "onlooker",
        watches: &[Watch::of::<OtherPod>()],
        ..Twins::DESCRIPTOR
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

#[test]
fn two_views_of_a_kind_are_refused_with_the_names_of_both_controllers() {
    let of = |drivers: Vec<Box<dyn Driver>>| Process::new(drivers, None, settings());
    let twins = || Box::new(Engine::new(Twins)) as Box<dyn Driver>;
    assert!(of(vec![twins(), twins()]).is_ok());
    let Err(conflict) = of(vec![twins(), Box::new(Engine::new(Onlooker))]) else {
        panic!("the onlooker would see no pod, and take that for a complete list");
    };
    assert_eq!(conflict.kind, Pod::KIND);
    let text = conflict.to_string();
    for word in ["twins", "onlooker", "pods", "views::pod::Pod", "OtherPod"] {
        assert!(text.contains(word), "{text}");
    }
}
