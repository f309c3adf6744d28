//! The order of leaving, on bare slots.

use super::*;

fn moment(ms: u64) -> Moment {
    Moment::at(Duration::from_millis(ms))
}

/// Lanes that age after 1 s, filled at time zero, in order of slot.
fn lanes(keys: &[(&str, Priority)]) -> Lanes {
    let mut lanes = Lanes::new(Duration::from_secs(1));
    for (slot, (namespace, priority)) in keys.iter().enumerate() {
        let lane = lanes.join(namespace);
        lanes.push(slot as Slot, lane, *priority, moment(0));
    }
    lanes
}

fn drain(lanes: &mut Lanes, now: Moment) -> Vec<Slot> {
    std::iter::from_fn(|| lanes.pop(now)).collect()
}

use Priority::{High, Low, Normal};

#[test]
fn keys_of_one_namespace_leave_in_the_order_they_came() {
    let mut lanes = lanes(&[("a", Normal), ("a", Normal), ("a", Normal)]);
    assert_eq!(drain(&mut lanes, moment(0)), [0, 1, 2]);
}

#[test]
fn namespaces_take_turns() {
    let mut lanes = lanes(&[
        ("big", Normal),
        ("big", Normal),
        ("big", Normal),
        ("small", Normal),
        ("", Normal),
        ("small", Normal),
    ]);
    assert_eq!(drain(&mut lanes, moment(0)), [0, 3, 4, 1, 5, 2]);
}

#[test]
fn a_hundred_thousand_keys_cost_another_namespace_one_turn() {
    let mut crowd = vec![("crowd", Normal); 100_000];
    crowd.push(("lone", Normal));
    let mut lanes = lanes(&crowd);
    // Aged or not: a crowd that has waited for long has no more right to a turn.
    for now in [moment(0), moment(3_600_000)] {
        lanes.pop(now);
        assert_eq!(lanes.pop(now), Some(100_000));
        let lone = lanes.join("lone");
        lanes.push(100_000, lone, Normal, now);
    }
}

#[test]
fn higher_priorities_leave_first_while_nothing_has_aged() {
    let mut lanes = lanes(&[("a", Low), ("a", Normal), ("a", High), ("b", High)]);
    assert_eq!(drain(&mut lanes, moment(999)), [2, 3, 1, 0]);
}

#[test]
fn an_aged_priority_takes_turns_with_the_higher_ones() {
    let mut lanes = lanes(&[
        ("a", Low),
        ("a", Low),
        ("a", Normal),
        ("a", High),
        ("a", High),
        ("a", High),
        ("a", High),
    ]);
    assert_eq!(drain(&mut lanes, moment(1000)), [3, 2, 0, 4, 1, 5, 6]);
}

#[test]
fn only_the_aged_priorities_take_turns() {
    let mut lanes = lanes(&[("a", High), ("a", High), ("a", Low)]);
    let lane = lanes.join("a");
    lanes.push(3, lane, Normal, moment(500));
    assert_eq!(drain(&mut lanes, moment(1000)), [0, 2, 1, 3]);
}

#[test]
fn a_raised_key_goes_behind_those_that_were_there() {
    let mut lanes = lanes(&[("a", Low), ("a", Low), ("a", High)]);
    let lane = lanes.join("a");
    lanes.raise(1, lane, Low, High, moment(1));
    assert_eq!(lanes.len(), 3);
    assert_eq!(drain(&mut lanes, moment(1)), [2, 1, 0]);
}

#[test]
fn a_lane_emptied_by_a_raise_leaves_the_rotation() {
    let mut lanes = lanes(&[("a", Low), ("b", Low), ("b", Low)]);
    let lane = lanes.join("a");
    lanes.raise(0, lane, Low, Normal, moment(0));
    assert_eq!(drain(&mut lanes, moment(0)), [0, 1, 2]);
}

#[test]
fn a_namespace_without_keys_is_forgotten() {
    let mut lanes = Lanes::new(Duration::ZERO);
    let first = lanes.join("a");
    lanes.join("a");
    lanes.leave(first);
    assert_eq!(lanes.join("a"), first);
    lanes.leave(first);
    lanes.leave(first);
    assert!(lanes.by_name.is_empty());
    assert_eq!(lanes.join("b"), first);
}
