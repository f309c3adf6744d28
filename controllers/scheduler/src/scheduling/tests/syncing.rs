use std::time::Duration;

use flyball_api::{ApiError, Status};
use flyball_testkit::Fault;

use super::*;
use crate::placing::{BURST, FAILURES_MAX, VICTIMS_MAX};

fn refused(code: u16, reason: &str) -> Fault {
    Fault::Refused(ApiError::from_status(Status::failure(code, reason, "no")))
}

fn unlimited(name: &str) -> Value {
    let much = json!({"cpu": "100000", "memory": "100Ti", "pods": "100000"});
    node(name, json!({"status": {"allocatable": much}}))
}

#[test]
fn what_is_written_already_is_not_written_again() {
    let mut world = world([node("n", json!({})), pod("p", "9", json!({}))]);
    let first = play(&mut world).unwrap();
    assert_eq!(first.stages.len(), 1);
    let again = play(&mut world).unwrap();
    assert!(again.stages.is_empty());
    let five_minutes = Duration::from_secs(300);
    assert_eq!(again.rest.revisit, Revisit::After(five_minutes));
}

#[test]
fn the_moment_of_a_condition_is_that_of_its_first_writing() {
    let mut world = world([node("n", json!({})), pod("p", "9", json!({}))]);
    let condition = |world: &World| {
        let pod = world.json(Pod::KIND, "default", "p").unwrap();
        let conditions = pod["status"]["conditions"].clone();
        conditions.as_array().unwrap().last().unwrap().clone()
    };
    play(&mut world).unwrap();
    let first = condition(&world);
    assert_eq!(
        (&first["status"], &first["reason"]),
        (&json!("False"), &json!("Unschedulable"))
    );
    world.advance(Duration::from_secs(60));
    world.put(node("m", json!({})));
    play(&mut world).unwrap();
    let second = condition(&world);
    assert_ne!(first["message"], second["message"]);
    assert_eq!(first["lastTransitionTime"], second["lastTransitionTime"]);
}

#[test]
fn what_cannot_be_bound_is_told_and_tried_again() {
    let mut world = world([node("n", json!({})), pod("p", "1", json!({}))]);
    world.fail(0, refused(500, "InternalError"));
    let played = play(&mut world).unwrap();
    assert!(matches!(played.rest.revisit, Revisit::BackOff(_)));
    let told = played.told().join("\n");
    assert!(
        told.starts_with("FailedScheduling p: running Bind plugin \"DefaultBinder\": "),
        "{told}"
    );
    let pod = world.json(Pod::KIND, "default", "p").unwrap();
    assert_eq!(pod["status"]["conditions"][0]["reason"], "SchedulerError");
    assert_eq!(play(&mut world).unwrap().bound(), ["p → n"]);
}

#[test]
fn what_was_overtaken_is_not_told() {
    let fates = [
        (refused(404, "NotFound"), false),
        (refused(409, "Conflict"), true),
    ];
    for (fault, again) in fates {
        let mut world = world([node("n", json!({})), pod("p", "1", json!({}))]);
        world.fail(0, fault);
        let played = play(&mut world).unwrap();
        assert!(played.told().is_empty());
        assert_eq!(matches!(played.rest.revisit, Revisit::Conflict(_)), again);
    }
}

#[test]
fn a_victim_that_could_not_be_told_stays() {
    let mut world = world([
        node("n", json!({})),
        running("v", "n", "4", json!({})),
        pod("p", "4", priority(10)),
    ]);
    world.fail(0, refused(403, "Forbidden"));
    let played = play(&mut world).unwrap();
    assert!(played.deleted().is_empty());
    assert!(matches!(played.rest.revisit, Revisit::BackOff(_)));
}

#[test]
fn a_sync_writes_only_so_much_and_the_next_goes_on() {
    let pods = (0..BURST + 1).map(|i| pod(&format!("p{i}"), "1", json!({})));
    let mut placing = world([unlimited("n")].into_iter().chain(pods));
    let played = play(&mut placing).unwrap();
    assert_eq!(played.bound().len(), BURST);
    assert_eq!(played.rest.revisit, Revisit::After(Duration::ZERO));
    assert_eq!(play(&mut placing).unwrap().bound().len(), 1);

    let pods = (0..FAILURES_MAX + 1).map(|i| pod(&format!("p{i}"), "9", json!({})));
    let mut failing = world([node("n", json!({}))].into_iter().chain(pods));
    let played = play(&mut failing).unwrap();
    assert_eq!(played.told().len(), FAILURES_MAX);
    assert_eq!(played.rest.revisit, Revisit::After(Duration::ZERO));
    assert_eq!(play(&mut failing).unwrap().told().len(), 1);

    let full = json!({"status": {"allocatable": {"pods": "300"}}});
    let victims = (0..300).map(|i| running(&format!("v{i}"), "n", "0", json!({})));
    let pods = (0..300).map(|i| pod(&format!("p{i}"), "0", priority(1)));
    let objects = [node("n", full)].into_iter().chain(victims).chain(pods);
    let mut room = world(objects);
    let played = play(&mut room).unwrap();
    assert_eq!(played.deleted().len(), VICTIMS_MAX);
    assert_eq!(played.rest.revisit, Revisit::After(Duration::ZERO));
}
