//! The cases: one sync each, as YAML.

use flyball_testkit::check_cases;

use super::*;

#[test]
fn replica_sets_do_what_their_cases_say() {
    check_cases(&ReplicaSetController::default(), "src/replicas/cases");
}

#[test]
fn replication_controllers_do_what_their_cases_say() {
    check_cases(
        &ReplicationControllerController::default(),
        "src/replicas/cases/replication_controllers",
    );
}
