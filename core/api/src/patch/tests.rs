use super::*;
use crate::Kind;

const SET: Kind = Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets");

#[test]
fn adoption_demands_the_childs_uid_and_makes_one_controller() {
    let child = Uid::new("child-1");
    let owner = OwnerReference::controller_of(SET, "web", &Uid::new("owner-1"));
    let owners = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
        "uid": "owner-1", "controller": true, "blockOwnerDeletion": true}]);
    let want = json!({"metadata": {"uid": "child-1", "ownerReferences": owners}});
    assert_eq!(adopt(&child, &owner, &[]), want);
    let tracking = "batch.kubernetes.io/job-tracking";
    let want = json!({"metadata": {"uid": "child-1", "ownerReferences": owners,
        "finalizers": [tracking]}});
    assert_eq!(adopt(&child, &owner, &[tracking]), want);
}

#[test]
fn release_deletes_the_owner_by_uid() {
    let (child, owner) = (Uid::new("child-1"), Uid::new("owner-1"));
    let owners = json!([{"$patch": "delete", "uid": "owner-1"}]);
    let want = json!({"metadata": {"uid": "child-1", "ownerReferences": owners}});
    assert_eq!(release(&child, &[&owner], &[]), want);
    let want = json!({"metadata": {"uid": "child-1", "ownerReferences": owners,
        "$deleteFromPrimitiveList/finalizers": ["f"]}});
    assert_eq!(release(&child, &[&owner], &["f"]), want);
}

#[test]
fn preconditions_join_what_is_patched() {
    let uid = Uid::new("5f1f3a7e-9a37-4a6e-8f57-0d8f4f6f2a10");
    let patch = json!({"metadata": {"annotations": {"a": null}}, "spec": {"replicas": 3}});
    let want = json!({"metadata": {"annotations": {"a": null}, "resourceVersion": "42",
        "uid": "5f1f3a7e-9a37-4a6e-8f57-0d8f4f6f2a10"}, "spec": {"replicas": 3}});
    assert_eq!(guarded(Some(&uid), Some("42"), patch), want);
    let want = json!({"metadata": {"resourceVersion": "4\"2"}, "status": {}});
    assert_eq!(guarded(None, Some("4\"2"), json!({"status": {}})), want);
    let want = json!({"metadata": {"resourceVersion": "42"}});
    assert_eq!(guarded(None, Some("42"), json!({"metadata": null})), want);
}

#[test]
fn what_is_no_patch_stays_what_it_is() {
    assert_eq!(guarded(None, Some("42"), json!([1])), json!([1]));
    let odd = json!({"metadata": "text"});
    assert_eq!(guarded(None, Some("42"), odd.clone()), odd);
}
