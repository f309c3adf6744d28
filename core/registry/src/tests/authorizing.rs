//! Verbs and names that a role allows, where a request does not name them itself.

use flyball_rbac::User;
use serde_json::{Value, json};

use super::{DEFINITIONS, MAPS, Server, map, things};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

/// A server whose user is bound to a Role with these rules.
fn server_with(rules: Value) -> Server {
    let mut server = Server::new();
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object"}}});
    server.post(DEFINITIONS, &things(json!([version])));
    let role = json!({"metadata": {"name": "r"}, "rules": rules});
    assert_eq!(server.post(ROLES, &role).0, 201);
    let binding = json!({
        "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
    });
    assert_eq!(server.post(BINDINGS, &binding).0, 201);
    server
}

fn as_jane(server: &mut Server) {
    server.user = User::of_groups("jane", &["system:authenticated"]);
}

/// Objects that a PUT or a server-side apply creates if they do not exist.
fn created_by_writes() -> Vec<(&'static str, &'static str, Value)> {
    let port = json!([{"port": 80}]);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let things = "/apis/example.com/v1/namespaces/default/things";
    let service = "/api/v1/namespaces/default/services";
    let endpoints = "/api/v1/namespaces/default/endpoints";
    vec![
        (MAPS, "", map("new")),
        (
            service,
            "",
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new"}, "spec": {"ports": port}}),
        ),
        (
            endpoints,
            "",
            json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "new"}}),
        ),
        (
            lease,
            "coordination.k8s.io",
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new"}}),
        ),
        (
            ROLES,
            "rbac.authorization.k8s.io",
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "new"}, "rules": []}),
        ),
        (
            things,
            "example.com",
            json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "new"}}),
        ),
    ]
}

#[test]
fn a_put_or_an_apply_that_creates_needs_the_verb_create() {
    for (collection, group, object) in created_by_writes() {
        let plural = collection.rsplit('/').next().unwrap();
        for (verbs, may_create) in [
            (json!(["get", "patch", "update"]), false),
            (json!(["get", "patch", "update", "create"]), true),
        ] {
            let rules = json!([{"apiGroups": [group], "resources": [plural], "verbs": verbs}]);
            let at = format!("{collection}/new");
            let mut codes = Vec::new();
            for applies in [false, true] {
                let mut server = server_with(rules.clone());
                as_jane(&mut server);
                let (code, answer) = match applies {
                    true => server.patch(&format!("{at}?fieldManager=m"), "apply", &object),
                    false => server.put(&at, &object),
                };
                if code == 403 {
                    let told = answer["message"].as_str().unwrap();
                    let who = format!(
                        "User \"jane\" cannot create resource \"{plural}\" in API group \"{group}\" in the namespace \"default\""
                    );
                    assert!(told.contains(&who), "{told}");
                    assert!(told.contains("\"new\" is forbidden"), "{told}");
                }
                codes.push(code);
            }
            // A PUT does not create these at all.
            let creates_on_put = !matches!(plural, "configmaps" | "things");
            let expected = |creates: bool| match (creates, may_create) {
                (false, _) => 404,
                (true, true) => 201,
                (true, false) => 403,
            };
            assert_eq!(
                codes,
                [expected(creates_on_put), expected(true)],
                "{plural} {verbs}"
            );
        }
    }
}

#[test]
fn what_exists_is_updated_without_the_verb_create() {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch", "update"]}]);
    let mut server = server_with(rules);
    server.post(MAPS, &map("old"));
    as_jane(&mut server);
    assert_eq!(server.put(&format!("{MAPS}/old"), &map("old")).0, 200);
    let target = format!("{MAPS}/old?fieldManager=m&force=true");
    assert_eq!(server.patch(&target, "apply", &map("old")).0, 200);
}

#[test]
fn a_field_selector_names_the_object_of_a_list_and_a_watch() {
    let verbs = json!(["get", "list", "watch", "deletecollection"]);
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs, "resourceNames": ["other"]}]);
    let mut server = server_with(rules);
    server.post(MAPS, &map("other"));
    server.post(MAPS, &map("secret"));
    as_jane(&mut server);
    let code = |server: &mut Server, query: &str| {
        let target = format!("{MAPS}?{query}");
        match server.reply(crate::Method::Get, &target, "", &[]) {
            crate::Reply::Answer(answer) => answer.code,
            crate::Reply::List(list) => list.render().code,
            crate::Reply::Watch(_) => 200,
            crate::Reply::Page => 404,
        }
    };
    for (query, expected) in [
        ("fieldSelector=metadata.name=other", 200),
        ("fieldSelector=metadata.name==other", 200),
        (
            "fieldSelector=metadata.name=other,metadata.namespace=default",
            200,
        ),
        ("fieldSelector=metadata.name=other&watch=1", 200),
        ("fieldSelector=metadata.name=other&watch=", 200),
        ("", 403),
        ("watch=1", 403),
        ("fieldSelector=metadata.name!=other", 403),
        ("fieldSelector=metadata.name=secret", 403),
        ("fieldSelector=metadata.name=other&limit=x", 403),
        ("fieldSelector=metadata.name=other&labelSelector=a b", 403),
        ("labelSelector=metadata.name=other", 403),
    ] {
        assert_eq!(code(&mut server, query), expected, "{query}");
    }
    let (_, refused) = server.get(&format!("{MAPS}?fieldSelector=metadata.name=secret"));
    let told = refused["message"].as_str().unwrap();
    assert!(
        told.starts_with("configmaps \"secret\" is forbidden: User \"jane\" cannot list"),
        "{told}"
    );
    // Upstream does not read the selector of these.
    let target = format!("{MAPS}?fieldSelector=metadata.name=other");
    assert_eq!(server.delete(&target, &Value::Null).0, 403);
}
