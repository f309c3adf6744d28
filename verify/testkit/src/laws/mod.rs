//! The six laws that every controller keeps, as property tests.
//!
//! | law | any world, and then … |
//! |---|---|
//! | quiet | at rest, a fresh look wants nothing |
//! | own-only | it writes to its key's object, to what that controls, to what that may adopt; nothing else |
//! | bounded | stages are few, finite, and pass the linter, whatever fails |
//! | order-blind | whatever order objects arrive in: same plan, same end |
//! | amnesiac | killed after any write and started anew: same end |
//! | stale-safe | whatever others did meanwhile: a plan from old caches breaks nothing, and heals |
//!
//! A controller says what the laws need to know with [`Lawful`] and is put on trial with
//! [`laws!`](crate::laws!). Each law is also a plain function, for a world at hand.

mod amnesiac;
mod bounded;
mod essence;
mod order_blind;
mod own_only;
mod quiet;
mod stale_safe;
mod upset;

use flyball_api::{Kind, LabelSelector};
use flyball_plan::Controller;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::{World, kubelet};

pub use amnesiac::amnesiac;
pub use bounded::bounded;
pub use essence::essence;
pub use order_blind::order_blind;
pub use own_only::own_only;
pub use quiet::quiet;
pub use stale_safe::stale_safe;
pub use upset::{Upset, upsets};

/// What the laws need to know of a controller.
pub trait Lawful: Controller {
    /// The kind of object that its keys name, if they name objects. Two laws need it: own-only and
    /// order-blind.
    const KIND: Kind;

    /// The most actions that one stage may hold.
    const STAGE_ACTIONS_MAX: usize = 500;

    /// A controller with the settings to be tested.
    fn subject() -> Self;

    /// What must hold after every write, whatever others did: of the world as it is and, through
    /// [`World::history`], [`World::at`] and [`World::states`], as it was.
    fn invariants(world: &World) -> Result<(), String>;

    /// What must hold when nothing changes any more: the desired state.
    fn reached(world: &World) -> Result<(), String>;

    /// Everybody else does one step of their work.
    fn others(world: &mut World) {
        kubelet::step(world);
    }

    /// Whether the object of a key may take over an object that nobody controls: unless said
    /// otherwise, if both live in one namespace, neither is going, and its selector matches.
    fn may_adopt(owner: &Value, child: &Value) -> bool {
        selects(owner, child)
    }

    /// What of a settled world must be the same whatever way led to it. Narrow it where the
    /// controller promises less, as which of two equal pods survives.
    fn essence(world: &World) -> String {
        essence(world)
    }
}

/// Whether both live in one namespace, neither is going, and the owner's selector matches.
fn selects(owner: &Value, child: &Value) -> bool {
    let mut selector = owner["spec"]["selector"].clone();
    if selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none() {
        selector = json!({"matchLabels": selector});
    }
    let selector = serde_json::from_value::<LabelSelector>(selector).unwrap_or_default();
    let labels = child["metadata"]["labels"].clone();
    let matches = selector
        .compile()
        .is_ok_and(|compiled| compiled.matches_with(|key| labels.get(key).and_then(Value::as_str)));
    let going = |object: &Value| !object["metadata"]["deletionTimestamp"].is_null();
    let namespace = |object: &Value| object["metadata"]["namespace"].clone();
    let together = namespace(owner) == namespace(child);
    matches && together && !going(owner) && !going(child)
}

/// How often each law is tried, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 48;

/// Enough to make a counterexample readable, few enough not to wait for it.
const SHRINKS_MAX: u32 = 400;

/// How the property tests of [`laws!`](crate::laws!) are run.
pub fn config() -> Config {
    let chosen = Config::default();
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => chosen.cases,
        None => CASES,
    };
    Config {
        cases,
        max_shrink_iters: SHRINKS_MAX,
        ..chosen
    }
}

/// Puts a controller on trial: six property tests over worlds from a function that returns a
/// strategy for [`World`](crate::World)s.
///
/// ```text
/// flyball_testkit::laws!(ReplicaSets, worlds);
/// ```
///
/// The worlds should have several objects of the controller's kind, children in every state,
/// orphans, and strangers' objects. Counterexamples are kept in `proptest-regressions/`: commit
/// them. Two uses of this need two modules.
#[macro_export]
macro_rules! laws {
    ($controller:ty, $worlds:expr) => {
        $crate::proptest::proptest! {
            #![proptest_config($crate::laws::config())]

            #[test]
            fn quiet(world in $worlds()) {
                $crate::laws::verdict($crate::laws::quiet::<$controller>(world))?;
            }

            #[test]
            fn own_only(world in $worlds()) {
                $crate::laws::verdict($crate::laws::own_only::<$controller>(world))?;
            }

            #[test]
            fn bounded(world in $worlds(), faults in $crate::laws::bytes(8)) {
                $crate::laws::verdict($crate::laws::bounded::<$controller>(world, &faults))?;
            }

            #[test]
            fn order_blind(world in $worlds(), seed in $crate::proptest::prelude::any::<u64>()) {
                $crate::laws::verdict($crate::laws::order_blind::<$controller>(world, seed))?;
            }

            #[test]
            fn amnesiac(world in $worlds(), deaths in $crate::laws::bytes(4)) {
                $crate::laws::verdict($crate::laws::amnesiac::<$controller>(world, &deaths))?;
            }

            #[test]
            fn stale_safe(
                world in $worlds(),
                upsets in $crate::laws::upsets(),
                lags in $crate::laws::bytes(6),
            ) {
                $crate::laws::verdict(
                    $crate::laws::stale_safe::<$controller>(world, &upsets, &lags),
                )?;
            }
        }
    };
}

#[doc(hidden)]
pub fn verdict(kept: Result<(), String>) -> proptest::test_runner::TestCaseResult {
    kept.map_err(proptest::test_runner::TestCaseError::fail)
}

/// Up to so many bytes, by which a law is bent.
#[doc(hidden)]
pub fn bytes(max: usize) -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::num::u8::ANY, 0..=max)
}
