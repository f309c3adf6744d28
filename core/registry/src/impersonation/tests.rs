use flyball_rbac::{AUTHENTICATED, MASTERS, UNAUTHENTICATED, User};
use serde_json::json;

use crate::tests::Server;
use crate::{Failure, Method, Request};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// A cluster in which `helper` has these rights: verbs, group, resources, names.
fn server(rights: &[(&str, &str, &str, &[&str])]) -> Server {
    let mut server = Server::new();
    let rules: Vec<_> = rights
        .iter()
        .map(|(verb, group, resource, names)| {
            json!({"verbs": [verb], "apiGroups": [group], "resources": [resource], "resourceNames": names})
        })
        .collect();
    let role = json!({"metadata": {"name": "helper"}, "rules": rules});
    assert_eq!(server.post(ROLES, &role).0, 201);
    let binding = json!({
        "metadata": {"name": "helper"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "helper"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "helper"}],
    });
    assert_eq!(server.post(BINDINGS, &binding).0, 201);
    server.user = User::of_groups("helper", &[AUTHENTICATED]);
    server
}

/// Asks to list pods as somebody else.
fn ask(server: &Server, wanted: &User) -> Result<User, Failure> {
    let request = Request {
        method: Method::Get,
        path: "/api/v1/pods",
        query: &[],
        body: &[],
        content_type: "",
        accept: "",
        user: &server.user,
        agent: "",
        now: server.now,
    };
    server.registry.impersonate(&request, wanted)
}

fn refused(server: &Server, wanted: &User) -> String {
    ask(server, wanted).unwrap_err().0.message.to_string()
}

#[test]
fn whoever_may_impersonate_a_user_becomes_that_user() {
    let server = server(&[
        ("impersonate", "", "users", &["bob", "system:anonymous"]),
        ("impersonate", "", "groups", &[]),
        ("impersonate", "", "serviceaccounts", &["web"]),
    ]);
    for (name, groups, expected) in [
        ("bob", &[][..], &[AUTHENTICATED][..]),
        ("bob", &["a"], &["a", AUTHENTICATED]),
        ("bob", &[UNAUTHENTICATED], &[UNAUTHENTICATED]),
        ("bob", &[MASTERS], &[MASTERS, AUTHENTICATED]),
        ("system:anonymous", &[], &[UNAUTHENTICATED]),
        (
            "system:serviceaccount:default:web",
            &[],
            &[
                "system:serviceaccounts",
                "system:serviceaccounts:default",
                AUTHENTICATED,
            ],
        ),
    ] {
        let user = ask(&server, &User::of_groups(name, groups)).unwrap();
        assert_eq!(user, User::of_groups(name, expected));
    }
}

#[test]
fn each_thing_that_one_wants_to_be_needs_a_right() {
    let server = server(&[
        ("impersonate", "", "users", &["bob"]),
        (
            "impersonate",
            "authentication.k8s.io",
            "userextras/scope",
            &["view"],
        ),
    ]);
    let bob = User::of_groups("bob", &[]);
    assert!(ask(&server, &bob).is_ok());
    let with = |values: &[&str]| User {
        extra: [(
            "scope".into(),
            values.iter().copied().map(Into::into).collect(),
        )]
        .into(),
        ..bob.clone()
    };
    assert!(ask(&server, &with(&["view"])).is_ok());
    for wanted in [
        User::of_groups("eve", &[]),
        User::of_groups("bob", &["a"]),
        User {
            uid: "7".into(),
            ..bob.clone()
        },
        with(&["view", "edit"]),
    ] {
        assert_eq!(
            refused(&server, &wanted),
            "pods is forbidden: User \"helper\" cannot impersonate-on:user-info:list resource \"pods\" in API group \
             \"\" at the cluster scope"
        );
    }
}

#[test]
fn a_refusal_names_the_first_right_that_is_missing() {
    let server = server(&[]);
    let account = User::of_groups("system:serviceaccount:default:web", &["g"]);
    assert_eq!(
        refused(&server, &account),
        "serviceaccounts \"web\" is forbidden: User \"helper\" cannot impersonate resource \"serviceaccounts\" in \
         API group \"\" in the namespace \"default\""
    );
    let node = User::of_groups("system:node:n", &[]);
    assert_eq!(
        refused(&server, &node),
        "pods is forbidden: User \"helper\" cannot impersonate-on:arbitrary-node:list resource \"pods\" in API \
         group \"\" at the cluster scope"
    );
}

#[test]
fn a_constrained_right_holds_for_what_it_names() {
    let mut server = server(&[
        ("impersonate-on:user-info:list", "", "pods", &[]),
        (
            "impersonate:user-info",
            "authentication.k8s.io",
            "users",
            &["bob"],
        ),
        (
            "impersonate:user-info",
            "authentication.k8s.io",
            "groups",
            &[],
        ),
        ("impersonate-on:associated-node:list", "", "pods", &[]),
        (
            "impersonate:associated-node",
            "authentication.k8s.io",
            "nodes",
            &[],
        ),
    ]);
    assert!(ask(&server, &User::of_groups("bob", &["a"])).is_ok());
    assert!(ask(&server, &User::of_groups("eve", &[])).is_err());
    assert!(ask(&server, &User::of_groups("bob", &[MASTERS])).is_err());
    let node = User::of_groups("system:node:n", &[]);
    assert!(ask(&server, &node).is_err());
    // A service account whose token was issued to a pod on that node.
    let on = [(
        "authentication.kubernetes.io/node-name".into(),
        vec!["n".into()],
    )];
    server.user.extra = on.into();
    assert!(ask(&server, &node).is_err());
    let agent = User {
        extra: server.user.extra.clone(),
        ..User::service_account("default", "agent", "")
    };
    server.user = User::of_groups("admin", &[MASTERS]);
    let binding = json!({
        "metadata": {"name": "agent"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "helper"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "agent"}],
    });
    assert_eq!(server.post(BINDINGS, &binding).0, 201);
    server.user = agent;
    let user = ask(&server, &node).unwrap();
    assert_eq!(
        user,
        User::of_groups("system:node:n", &["system:nodes", AUTHENTICATED])
    );
}
