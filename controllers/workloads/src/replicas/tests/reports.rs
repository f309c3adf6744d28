//! Where a report leads.

use std::time::Duration;

use flyball_api::views::ReplicaSet;
use flyball_api::{Object, ObjectName};
use flyball_plan::{Again, Reports, Target, Unseen, Wait};
use flyball_testkit::builders::replica_set;
use flyball_testkit::{Runner, World};

use crate::replicas::ReplicaSetController;

#[test]
fn own_writes_that_no_cache_shows_are_reached() {
    let mut world = World::of([replica_set("web").replicas(2)]);
    let mut runner = Runner::new(ReplicaSetController::default(), &world);
    runner.sync(&mut world, &mut |_| Ok(())).unwrap().unwrap();
    // The cache of ReplicaSets shows a change, that of pods does not show the pods.
    let set = world.put(replica_set("web").replicas(3));
    let revision = world.revision();
    runner.see(&world, |caches| {
        caches.catch_up_kind(&world, set.kind, revision)
    });
    let gated = runner.sync(&mut world, &mut |_| Ok(())).unwrap().unwrap();
    let mut reports = Reports::default();
    reports.note("replicaset-controller", &gated.finished);
    let way = reports.walk(&Target {
        kind: ReplicaSet::kind(),
        name: ObjectName::new("default", "web"),
    });
    let [stop] = way.as_slice() else {
        panic!("{way:#?}");
    };
    assert_eq!(stop.rule.code, "OwnWriteUnseen");
    let Wait::OwnWrite(Unseen::Version(kind, _)) = &stop.waits_for else {
        panic!("{stop:#?}");
    };
    assert_eq!(kind.plural, "pods");
    assert_eq!(stop.again, Again::After(Duration::from_secs(1)));
}
