//! Lives of the toy controller, step by step.

use flyball_api::views::{Pod, ReplicaSet};
use flyball_plan::Outcome;
use flyball_testkit::builders::{pod, replica_set};
use flyball_testkit::{Fault, Runner, Sync, World, kubelet, settle};

use crate::controller::{Keeper, NONE};

fn sync(runner: &mut Runner<Keeper<NONE>>, world: &mut World) -> Sync {
    match runner.sync(world, &mut |_| Ok(())) {
        Ok(Ok(sync)) => sync,
        other => panic!("nothing is due: {:?}", other.map(Result::err)),
    }
}

#[test]
fn a_key_whose_writes_the_caches_have_not_shown_waits() {
    let mut world = World::of([replica_set("web").replicas(2)]);
    let mut runner = Runner::new(Keeper::<NONE>, &world);
    assert_eq!(sync(&mut runner, &mut world).actions().count(), 2);
    // ReplicaSets are seen again, pods are not.
    let set = world.put(replica_set("web").replicas(3));
    let revision = world.revision();
    runner.see(&world, |caches| {
        caches.catch_up_kind(&world, set.kind, revision)
    });
    let gated = sync(&mut runner, &mut world);
    assert!(
        matches!(gated.finished.outcome, Outcome::Gated(_)),
        "{gated}"
    );
    runner.see(&world, |caches| caches.catch_up(&world));
    assert_eq!(runner.caches().seen(Pod::KIND), revision);
    let (syncs, _) = runner.run(&mut world, &mut |_| Ok(())).unwrap();
    assert_eq!(
        world.list::<Pod>("").len(),
        3,
        "{}",
        flyball_testkit::transcript(&syncs)
    );
}

#[test]
fn a_lost_answer_is_made_good_without_a_pod_too_many() {
    let mut world = World::of([replica_set("web").replicas(3)]);
    world.fail(1, Fault::AnswerLost);
    let text = settle(Keeper::<NONE>, &mut world);
    assert!(text.contains("→ Timeout: the answer was lost"), "{text}");
    assert_eq!(world.list::<Pod>("").len(), 3);
    assert_eq!(
        world
            .get::<ReplicaSet>("default", "web")
            .unwrap()
            .status
            .replicas,
        3
    );
}

#[test]
fn a_run_can_be_read() {
    let mut world = World::of([
        replica_set("web").replicas(1),
        pod("web-a").controlled_by("ReplicaSet", "web").ready(),
        pod("web-b").controlled_by("ReplicaSet", "web").ready(),
    ]);
    let text = settle(Keeper::<NONE>, &mut world);
    let expected = "\
sync default/web
stage status
  update ReplicaSet default/web status [uid, version]
    {replicas: 2}
stage pods (slow start)
  delete Pod default/web-a [uid]
rests: keep pods: desired 1, active 2
sync default/web
stage status
  update ReplicaSet default/web status [uid, version]
    {replicas: 1}
rests: keep pods: desired 1, active 1
sync default/web
rests: keep pods: desired 1, active 1
";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn the_stand_in_gives_replica_sets_what_they_want() {
    let mut world = World::of([replica_set("web").replicas(4)]);
    kubelet::fulfil_replica_sets(&mut world);
    let status = world.get::<ReplicaSet>("default", "web").unwrap().status;
    assert_eq!(
        (
            status.replicas,
            status.available_replicas,
            status.observed_generation
        ),
        (4, 4, 1)
    );
    let settled = world.revision();
    kubelet::fulfil_replica_sets(&mut world);
    assert_eq!(world.revision(), settled, "and then leaves them alone");
}
