//! What the status of a pod may say, and what is said about odd names.

use serde_json::{Value, json};

use super::{Pod, Rules};
use crate::object::Object;

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => panic!("not an object"),
    }
}

#[test]
fn a_status_update_keeps_spec_owners_and_class_of_service() {
    let old = object(json!({
        "metadata": {"name": "a", "ownerReferences": [{"uid": "1"}]},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Pending", "qosClass": "BestEffort", "observedGeneration": 2},
    }));
    let mut new = object(json!({
        "metadata": {"name": "a"},
        "spec": {"nodeName": "other"},
        "status": {"phase": "Running"},
    }));
    Pod.prepare_status_update(&mut new, &old);
    assert_eq!(new["spec"], old["spec"]);
    assert_eq!(new["metadata"], old["metadata"]);
    assert_eq!(
        new["status"],
        json!({"phase": "Running", "qosClass": "BestEffort", "observedGeneration": 2})
    );
}

#[test]
fn mistakes_in_a_status_are_found() {
    let ended = json!([{"name": "c", "state": {"terminated": {"exitCode": 0}}}]);
    let old = object(json!({
        "spec": {"restartPolicy": "OnFailure", "nodeName": "n"},
        "status": {"qosClass": "BestEffort", "containerStatuses": ended},
    }));
    for (status, expected) in [
        (
            json!({"qosClass": "BestEffort", "containerStatuses": ended}),
            "",
        ),
        (
            json!({"qosClass": "Burstable", "containerStatuses": ended}),
            "status.qosClass: Invalid value: \"Burstable\": field is immutable",
        ),
        (
            json!({"qosClass": "BestEffort", "nominatedNodeName": "m"}),
            "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
        ),
        (
            json!({"qosClass": "BestEffort", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}),
            "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
        ),
    ] {
        let mut new = old.clone();
        new.insert("status".to_owned(), status);
        let errors = Pod.validate_status_update(&new, &old);
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts.join("\n"), expected);
    }
}

#[test]
fn a_name_that_is_no_label_is_worth_a_warning() {
    let named = |name: &str| object(json!({"metadata": {"name": name}}));
    assert!(Pod.warnings(&named("web-1")).is_empty());
    assert_eq!(Pod.warnings(&named("web.1")).len(), 1);
}
