//! What a pod takes from its template, and what it does not.

use super::*;

const REPLICA_SET: Kind = Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets");

fn owner(name: &str) -> LeanMeta {
    LeanMeta {
        name: name.into(),
        namespace: "shop".into(),
        uid: "u-1".into(),
        ..LeanMeta::default()
    }
}

fn body(template: &str) -> String {
    let template = Template::new(template).unwrap();
    pod_body(&template, REPLICA_SET, &owner("web"))
        .unwrap()
        .json()
        .to_owned()
}

#[test]
fn splices_the_spec_byte_for_byte() {
    let spec = r#"{"containers":[{"name":"c","resources":{"limits":{"cpu":"0.50"}}}],
        "fromTheFuture" : {"deep":[1.50,null,{"x":"\u00e9"}]}, "nothing":null}"#;
    let json = body(&format!(
        r#"{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{spec}}}"#
    ));
    assert!(json.ends_with(&format!(r#""spec":{spec}}}"#)), "{json}");
}

#[test]
fn takes_labels_annotations_and_finalizers_and_nothing_else_of_the_metadata() {
    let json = body(
        r#"{"metadata":{"name":"n","namespace":"elsewhere","creationTimestamp":null,
            "labels":{"b":"2","a":"1"},"annotations":{"note":"x"},"finalizers":["f/g"],
            "ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"x"}]},
            "spec":{}}"#,
    );
    assert_eq!(
        json,
        concat!(
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-","#,
            r#""labels":{"a":"1","b":"2"},"annotations":{"note":"x"},"finalizers":["f/g"],"#,
            r#""ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","#,
            r#""uid":"u-1","controller":true,"blockOwnerDeletion":true}]},"spec":{}}"#
        )
    );
}

#[test]
fn leaves_out_what_the_template_does_not_have() {
    let json = body(r#"{"metadata":{"labels":{"a":"1"}}}"#);
    assert!(
        !json.contains("annotations") && !json.contains("finalizers"),
        "{json}"
    );
    assert!(json.ends_with(r#""spec":{}}"#), "{json}");
}

#[test]
fn refuses_a_template_without_labels() {
    for template in ["null", "{}", r#"{"metadata":{"labels":{}},"spec":{}}"#] {
        let template = Template::new(template).unwrap();
        let refused = pod_body(&template, REPLICA_SET, &owner("web")).unwrap_err();
        assert_eq!(refused.to_string(), "unable to create pods, no labels");
    }
}

#[test]
fn names_begin_with_the_owner_and_a_dash_where_that_is_legal() {
    let longest = "a".repeat(253);
    for (owner, prefix) in [
        ("web", "web-".to_owned()),
        ("a", "a-".to_owned()),
        ("web.v1", "web.v1-".to_owned()),
        ("Web", "Web".to_owned()),
        ("my_set", "my_set".to_owned()),
        (longest.as_str(), format!("{longest}-")),
        (&"a".repeat(254), "a".repeat(254)),
    ] {
        assert_eq!(name_prefix(owner), prefix, "{owner}");
    }
}
