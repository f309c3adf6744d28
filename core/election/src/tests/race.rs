//! Elections by chance: never two leaders, and soon one.

use std::time::Duration;

use proptest::prelude::*;

use super::world::{Breed, LEASE, RENEW, RETRY, World};

const CALM_AT: Duration = Duration::from_secs(120);

/// After the last fault: requests under way come to an end, a standby looks within a spread retry
/// period, and from then on waits one lease; the rest is for messages to travel.
fn leader_expected_at() -> Duration {
    CALM_AT + RENEW / 2 + RETRY.mul_f64(2.2) + LEASE + Duration::from_secs(1)
}

/// One election from start to end; says how often the leader changed under faults.
fn elect(breeds: &[Breed], seed: u64) -> usize {
    let mut world = World::new(breeds, seed, CALM_AT);
    world.run(CALM_AT);
    let changes = world.changes;
    world.run(leader_expected_at());
    let leader = world.check();
    assert!(leader.is_some(), "nobody leads at {:?}", world.now);
    // And without faults it stays so: at every moment, the same one.
    for second in 0..60 {
        world.run(leader_expected_at() + Duration::from_secs(second));
        assert_eq!(world.check(), leader);
    }
    changes
}

fn breeds() -> impl Strategy<Value = Vec<Breed>> {
    prop::collection::vec(
        prop_oneof![2 => Just(Breed::Ours), 1 => Just(Breed::Go)],
        2..=4,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn never_two_lead_and_soon_one_does(breeds in breeds(), seed in any::<u64>()) {
        elect(&breeds, seed);
    }
}

#[test]
fn the_faults_do_make_leaders_change() {
    let breeds = [Breed::Ours, Breed::Ours, Breed::Go];
    let changes: usize = (0..50).map(|seed| elect(&breeds, seed)).sum();
    assert!(changes >= 50, "only {changes} changes in 50 elections");
}
