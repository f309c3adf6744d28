use flyball_rbac::User;
use serde_json::{Value, json};

use crate::tests::Server;

const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";

fn ask(server: &mut Server, path: &str, spec: &Value) -> (u16, Value) {
    server.post(&format!("{AUTHORIZATION}/{path}"), &json!({"spec": spec}))
}

#[test]
fn somebody_is_told_what_they_may_do_themselves() {
    let mut server = Server::new();
    let spec = json!({"resourceAttributes": {"verb": "get", "resource": "pods"}});
    let (code, review) = ask(&mut server, "selfsubjectaccessreviews", &spec);
    assert_eq!((code, &review["status"]), (201, &json!({"allowed": true})));
    assert_eq!(review["kind"], "SelfSubjectAccessReview");
    assert_eq!(review["spec"], spec);
    server.user = User::of_groups("bob", &["system:authenticated"]);
    let (code, review) = ask(&mut server, "selfsubjectaccessreviews", &spec);
    assert_eq!((code, &review["status"]), (201, &json!({"allowed": false})));
    server.user = User::of_groups("system:anonymous", &["system:unauthenticated"]);
    let (code, status) = ask(&mut server, "selfsubjectaccessreviews", &spec);
    assert_eq!((code, &status["reason"]), (403, &json!("Forbidden")));
}

#[test]
fn a_review_of_somebody_else_names_the_binding_that_allows() {
    let mut server = Server::new();
    let spec = json!({
        "user": "system:kube-scheduler",
        "resourceAttributes": {"verb": "get", "resource": "pods"},
    });
    let (_, review) = ask(&mut server, "subjectaccessreviews", &spec);
    let reason = "RBAC: allowed by ClusterRoleBinding \"system:kube-scheduler\" of ClusterRole \
                  \"system:kube-scheduler\" to User \"system:kube-scheduler\"";
    assert_eq!(review["status"], json!({"allowed": true, "reason": reason}));
    let spec = json!({
        "user": "x", "groups": ["system:unauthenticated"],
        "nonResourceAttributes": {"verb": "get", "path": "/healthz"},
    });
    let (_, review) = ask(&mut server, "subjectaccessreviews", &spec);
    assert_eq!(review["status"]["allowed"], true);
}

#[test]
fn selectors_that_are_not_understood_are_told_and_passed_over() {
    let mut server = Server::new();
    for (selectors, told) in [
        (
            json!({"fieldSelector": {"rawSelector": "a=b"}}),
            Value::Null,
        ),
        (
            json!({"fieldSelector": {"rawSelector": "a,b"}, "labelSelector": {"rawSelector": "!!a"}}),
            "spec.resourceAttributes.fieldSelector ignored due to parse error; \
             spec.resourceAttributes.labelSelector ignored due to parse error"
                .into(),
        ),
        (
            json!({"labelSelector": {"requirements": [
                {"key": "a", "operator": "In", "values": ["b"]},
                {"key": "a", "operator": "Odd", "values": ["b"]},
            ]}}),
            "spec.resourceAttributes.labelSelector partially ignored due to parse error".into(),
        ),
    ] {
        let mut attributes = selectors;
        attributes["verb"] = "list".into();
        let spec = json!({"user": "bob", "resourceAttributes": attributes});
        let (code, review) = ask(&mut server, "subjectaccessreviews", &spec);
        assert_eq!((code, &review["status"]["evaluationError"]), (201, &told));
    }
}

#[test]
fn a_review_that_makes_no_sense_is_refused_in_upstreams_words() {
    let mut server = Server::new();
    for (path, spec, message) in [
        (
            "selfsubjectaccessreviews",
            json!({}),
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or \
             resourceAttributes must be specified",
        ),
        (
            "subjectaccessreviews",
            json!({"resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}}),
            "[spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"\"}: cannot be specified in \
             combination with resourceAttributes, spec.user: Invalid value: \"\": at least one of user or group \
             must be specified]",
        ),
        (
            "namespaces/a/localsubjectaccessreviews",
            json!({"user": "bob", "resourceAttributes": {"namespace": "b"}}),
            "spec.resourceAttributes.namespace: Invalid value: \"b\": must match metadata.namespace",
        ),
        (
            "subjectaccessreviews",
            json!({"user": "bob", "resourceAttributes": {"labelSelector": {}}}),
            "spec.resourceAttributes.labelSelector.requirements: Required value: when \
             spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required",
        ),
    ] {
        let (code, status) = ask(&mut server, path, &spec);
        assert_eq!(code, 422, "{path}");
        let expected = format!(".authorization.k8s.io \"\" is invalid: {message}");
        assert_eq!(status["message"], expected);
    }
}

#[test]
fn reviews_can_only_be_created_and_only_where_they_belong() {
    let mut server = Server::new();
    let reviews = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    assert_eq!(server.get(&reviews).0, 405);
    assert_eq!(server.get(&format!("{reviews}/x")).0, 404);
    assert_eq!(server.post(&format!("{reviews}/x"), &json!({})).0, 404);
    let inside = format!("{AUTHORIZATION}/namespaces/default/selfsubjectaccessreviews");
    assert_eq!(server.post(&inside, &json!({})).0, 404);
    let outside = format!("{AUTHORIZATION}/localsubjectaccessreviews");
    assert_eq!(server.post(&outside, &json!({})).0, 404);
}

#[test]
fn rules_are_those_of_whoever_asks_in_the_namespace() {
    let mut server = Server::new();
    let (code, status) = ask(&mut server, "selfsubjectrulesreviews", &json!({}));
    assert_eq!(
        (code, &status["message"]),
        (400, &json!("no namespace on request"))
    );
    let (code, review) = ask(
        &mut server,
        "selfsubjectrulesreviews",
        &json!({"namespace": "default"}),
    );
    assert_eq!((code, &review["spec"]), (201, &json!({})));
    let all = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    assert!(
        review["status"]["resourceRules"]
            .as_array()
            .unwrap()
            .contains(&all)
    );
}

#[test]
fn whoever_asks_is_told_who_they_are() {
    let mut server = Server::new();
    let (code, review) = server.post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        &json!({}),
    );
    assert_eq!(code, 201);
    assert_eq!(
        review,
        json!({
            "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"},
            "status": {"userInfo": {"username": "admin", "groups": ["system:masters"]}},
        })
    );
}
