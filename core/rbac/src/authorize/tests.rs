use super::*;
use crate::testing::{cluster_role, index, role};
use crate::{Resource, bootstrap};
use crate::{RoleIndex, Target, User};

/// `user[,group...]`.
fn user(text: &str) -> User {
    let mut words = text.split(',');
    let name = words.next().unwrap();
    User::of_groups(name, &words.collect::<Vec<_>>())
}

/// `verb [namespace:]resource[/subresource]`, or `verb /path`.
fn ask(index: &RoleIndex, who: &str, what: &str) -> Decision {
    let user = user(who);
    let (verb, object) = what.split_once(' ').unwrap();
    let target = if object.starts_with('/') {
        Target::Path(object)
    } else {
        let (namespace, object) = object.split_once(':').unwrap_or(("", object));
        let (resource, subresource) = object.split_once('/').unwrap_or((object, ""));
        Target::Resource(Resource {
            resource,
            subresource,
            namespace,
            ..Resource::default()
        })
    };
    let user = &user;
    authorize(&Attributes { user, verb, target }, index)
}

#[track_caller]
fn check(index: &RoleIndex, who: &str, what: &str, reason: &str) {
    let allowed = reason.starts_with("RBAC: allowed by");
    let expected = Decision {
        allowed,
        reason: reason.to_owned(),
    };
    assert_eq!(ask(index, who, what), expected, "{who}: {what}");
}

// The cases of upstream's TestAuthorizer, with the reasons added.

#[test]
fn a_cluster_role_in_a_role_binding_holds_in_its_namespace_only() {
    let index = index(
        &[cluster_role("admin", &["* *: *", "* url: *"])],
        &[],
        &["ns1/ClusterRole:admin user=admin group=admins"],
    );
    let by = r#"RBAC: allowed by RoleBinding "admin/ns1" of ClusterRole "admin" to"#;
    let (user, group) = (
        &format!(r#"{by} User "admin""#),
        &format!(r#"{by} Group "admins""#),
    );
    check(&index, "admin", "get ns1:pods", user);
    check(&index, "admin,group1", "watch ns1:foobar", user);
    check(&index, "joe,admins", "watch ns1:foobar", group);
    check(&index, "joe,group1,admins", "watch ns1:foobar", group);
    check(&index, "admin,admins", "watch ns1:foobar", user);
    check(&index, "admin", "get ns2:pods", "");
    check(&index, "admin", "get nodes", "");
    check(&index, "admin,admins", "get ns2:pods", "");
    check(&index, "admin", "get /version", "");
}

#[test]
fn paths_are_granted_by_cluster_role_bindings() {
    let index = index(
        &[
            cluster_role("getter", &["get url: /apis"]),
            cluster_role("all", &["* url: /apis"]),
            cluster_role("prefix", &["get url: /apis/*"]),
        ],
        &[],
        &[
            "getter user=foo group=bar",
            "all user=admin group=admin",
            "prefix user=prefixed",
        ],
    );
    for (who, what, expected) in [
        ("foo", "get /apis", true),
        (",bar", "get /apis", true),
        ("admin", "watch /apis", true),
        ("prefixed", "get /apis/v1/foobar", true),
        ("foo", "watch /apis", false),
        ("foo", "get /api/v1", false),
        ("prefixed", "get /api/v1", false),
    ] {
        assert_eq!(ask(&index, who, what).allowed, expected, "{who}: {what}");
    }
}

#[test]
fn subresources_are_granted_by_name_or_by_star() {
    let index = index(
        &[
            cluster_role("pods", &["* *: pods"]),
            cluster_role("logs", &["* *: pods/status */scale"]),
        ],
        &[],
        &[
            "ns1/ClusterRole:pods user=admin",
            "ns1/ClusterRole:logs user=part",
        ],
    );
    for (who, what, expected) in [
        ("admin", "get ns1:pods", true),
        ("admin", "get ns1:pods/status", false),
        ("part", "get ns1:pods/status", true),
        ("part", "get ns1:foo/scale", true),
        ("part", "get ns1:pods", false),
        ("part", "get ns1:foo/log", false),
    ] {
        assert_eq!(ask(&index, who, what).allowed, expected, "{who}: {what}");
    }
}

#[test]
fn a_service_account_is_a_user_with_a_long_name() {
    let index = index(
        &[cluster_role("view", &["read core: pods"])],
        &[role("default/own", &["read core: secrets"])],
        &[
            "default/ClusterRole:view account=default/sa",
            "default/Role:own account=sa",
            "view account=nowhere",
        ],
    );
    let sa = "system:serviceaccount:default:sa";
    check(
        &index,
        sa,
        "get default:pods",
        r#"RBAC: allowed by RoleBinding "view/default" of ClusterRole "view" to ServiceAccount "sa/default""#,
    );
    // Without a namespace, it is an account of the binding's namespace.
    check(
        &index,
        sa,
        "get default:secrets",
        r#"RBAC: allowed by RoleBinding "own/default" of Role "own" to ServiceAccount "sa/default""#,
    );
    check(&index, "sa", "get default:pods", "");
    check(
        &index,
        "system:serviceaccount:other:sa",
        "get default:pods",
        "",
    );
    // A ClusterRoleBinding has none to give.
    check(&index, "system:serviceaccount::nowhere", "get pods", "");
}

#[test]
fn cluster_role_bindings_come_first_and_then_the_order_of_names() {
    let index = index(
        &[
            cluster_role("b", &["get core: pods"]),
            cluster_role("c", &["* core: *"]),
        ],
        &[role("ns/a", &["* core: *"])],
        &[
            "ns/Role:a user=eve",
            "c user=eve",
            "b user=bob group=g user=eve",
        ],
    );
    let by = |binding| format!(r#"RBAC: allowed by {binding}"#);
    let b = by(r#"ClusterRoleBinding "b" of ClusterRole "b" to Group "g""#);
    check(&index, "eve,g", "get ns:pods", &b);
    let c = by(r#"ClusterRoleBinding "c" of ClusterRole "c" to User "eve""#);
    check(&index, "eve", "list ns:pods", &c);
}

#[test]
fn masters_may_do_anything_for_no_reason() {
    let decision = ask(&RoleIndex::default(), "x,system:masters", "eat /the/planet");
    let allowed = true;
    let reason = String::new();
    assert_eq!(decision, Decision { allowed, reason });
}

#[test]
fn a_refusal_names_the_roles_that_are_missing_each_once() {
    let mut index = index(
        &[],
        &[],
        &["nope user=bob", "default/Role:nope user=bob group=g"],
    );
    check(
        &index,
        "bob",
        "list default:pods",
        r#"RBAC: [clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "nope" not found]"#,
    );
    let one = r#"RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found"#;
    check(&index, "bob", "list pods", one);
    let mut second = crate::testing::cluster_role_binding("nope user=bob");
    second.metadata.name = "again".into();
    index.put_cluster_role_binding(&second);
    check(&index, "bob", "list pods", one);
    second.role_ref.kind = "Cluster".into();
    index.put_cluster_role_binding(&second);
    check(
        &index,
        "bob",
        "list pods",
        r#"RBAC: [unsupported role reference kind: "Cluster", clusterrole.rbac.authorization.k8s.io "nope" not found]"#,
    );
}

#[test]
fn a_fresh_cluster_lets_everybody_discover_and_only_its_parts_do_more() {
    let policy = bootstrap::policy();
    let mut index = index(&policy.cluster_roles, &policy.roles, &[]);
    for binding in &policy.cluster_role_bindings {
        index.put_cluster_role_binding(binding);
    }
    for binding in &policy.role_bindings {
        index.put_role_binding(binding);
    }
    let anybody = "eve,system:authenticated";
    check(
        &index,
        anybody,
        "get /version",
        r#"RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated""#,
    );
    check(
        &index,
        "system:anonymous,system:unauthenticated",
        "get /healthz",
        r#"RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated""#,
    );
    check(&index, anybody, "get /metrics", "");
    check(&index, anybody, "list default:pods", "");
    let deployments = "system:serviceaccount:kube-system:replicaset-controller";
    assert!(ask(&index, deployments, "create default:pods").allowed);
    assert!(!ask(&index, deployments, "create default:services").allowed);
}
