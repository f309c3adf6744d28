//! A correct controller passes all laws, and for each law there is one that it catches.

use crate::controller::{BELIEVING, BY_NAME, ENDLESS, GREEDY, Keeper, NONE, RANDOM, RESTLESS};
use flyball_testkit::builders::{Build, pod, replica_set};
use flyball_testkit::{World, laws};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Two sets, and pods of every kind of belonging and state.
fn worlds() -> impl Strategy<Value = World> {
    let pods = proptest::collection::vec((0..4_u8, 0..4_u8), 0..8);
    (0..5, 0..3, pods).prop_map(|(web, db, pods)| {
        let mut world = World::of([
            replica_set("web").replicas(web),
            replica_set("db").replicas(db),
        ]);
        for (at, (owner, state)) in pods.into_iter().enumerate() {
            world.put(state_of(belonging(pod(&format!("web-{at}")), owner), state));
        }
        world
    })
}

fn belonging(pod: Build, owner: u8) -> Build {
    match owner {
        0 => pod,
        1 => pod.controlled_by_uid("ReplicaSet", "web", "long-gone"),
        2 => pod.controlled_by("ReplicaSet", "db").label("app", "db"),
        _ => pod.controlled_by("ReplicaSet", "web"),
    }
}

fn state_of(pod: Build, state: u8) -> Build {
    match state {
        0 => pod,
        1 => pod.phase("Failed"),
        _ => pod.ready(),
    }
}

flyball_testkit::laws!(Keeper<NONE>, worlds);

/// Whether the law finds a counterexample, in 200 tries that are always the same.
fn is_caught<S: Strategy>(inputs: S, law: impl Fn(S::Value) -> Result<(), String>) -> bool {
    let config = Config {
        cases: 200,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let rng = TestRunner::deterministic().rng().clone();
    let mut runner = TestRunner::new_with_rng(config, rng);
    runner
        .run(&inputs, |input| law(input).map_err(TestCaseError::fail))
        .is_err()
}

#[test]
fn writing_for_nothing_is_not_quiet() {
    assert!(is_caught(worlds(), laws::quiet::<Keeper<RESTLESS>>));
}

#[test]
fn taking_what_looks_right_is_not_own_only() {
    assert!(is_caught(worlds(), laws::own_only::<Keeper<GREEDY>>));
}

#[test]
fn a_stage_by_the_same_name_is_not_bounded() {
    let law = |(world, faults): (World, Vec<u8>)| laws::bounded::<Keeper<ENDLESS>>(world, &faults);
    assert!(is_caught((worlds(), laws::bytes(8)), law));
}

#[test]
fn a_delete_without_uid_is_not_bounded() {
    assert!(is_caught(
        worlds(),
        |world| laws::bounded::<Keeper<BY_NAME>>(world, &[])
    ));
}

#[test]
fn hash_order_is_not_order_blind() {
    let law = |(world, seed)| laws::order_blind::<Keeper<RANDOM>>(world, seed);
    assert!(is_caught((worlds(), any::<u64>()), law));
}

#[test]
fn believing_ones_own_status_is_not_amnesiac() {
    let law =
        |(world, deaths): (World, Vec<u8>)| laws::amnesiac::<Keeper<BELIEVING>>(world, &deaths);
    assert!(is_caught((worlds(), laws::bytes(4)), law));
}

#[test]
fn deleting_by_name_is_not_stale_safe() {
    let inputs = (worlds(), laws::upsets(), laws::bytes(6));
    let law = |(world, upsets, lags): (World, Vec<_>, Vec<u8>)| {
        laws::stale_safe::<Keeper<BY_NAME>>(world, &upsets, &lags)
    };
    assert!(is_caught(inputs, law));
}
