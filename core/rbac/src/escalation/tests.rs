use super::*;
use crate::testing::{cluster_role, index, role, role_ref, rule};
use crate::{GROUP, RoleIndex, User};
use serde_json::json;

fn cluster() -> RoleIndex {
    let writer = [
        "create,update,get,delete rbac.authorization.k8s.io: *",
        "get core: pods",
    ];
    let escalate = "escalate rbac.authorization.k8s.io: clusterroles named known";
    index(
        &[
            cluster_role("writer", &writer),
            cluster_role("escalator", &[escalate]),
            cluster_role(
                "binder",
                &["bind rbac.authorization.k8s.io: clusterroles named dns"],
            ),
            cluster_role("dns", &["list,watch core: endpoints services"]),
            cluster_role("admin", &["* *: *", "* url: *"]),
        ],
        &[role("default/pods", &["get core: pods"])],
        &[
            "writer user=eve",
            "escalator user=eve",
            "admin user=root",
            "default/ClusterRole:binder user=eve",
        ],
    )
}

/// The cause of the refusal, without what it is about.
fn cause(result: Result<(), Box<Status>>) -> Option<String> {
    let message = result.err()?.message;
    Some(message.split_once(" is forbidden: ").unwrap().1.to_owned())
}

fn request<'a>(user: &'a User, resource: &'a str, namespace: &'a str) -> Attributes<'a> {
    let target = Target::Resource(Resource {
        group: GROUP,
        resource,
        namespace,
        ..Resource::default()
    });
    let verb = "create";
    Attributes { user, verb, target }
}

/// The answer of kube-apiserver v1.36.4 to the same request.
#[test]
fn a_role_beyond_what_the_writer_holds_is_refused_in_upstreams_words() {
    let eve = User::of_groups("eve", &["g1", "system:authenticated"]);
    let rules = [
        "get,list core,apps: pods secrets",
        "get url: /metrics /healthz*",
        "get,update core: configmaps named a b",
    ];
    let request = request(&eve, "clusterroles", "");
    let refusal = check_role_write(&request, "x1", &rules.map(rule), false, &cluster());
    let refusal = refusal.unwrap_err();
    assert_eq!(
        &*refusal.message,
        r#"clusterroles.rbac.authorization.k8s.io "x1" is forbidden: user "eve" (groups=["g1" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get" "update"]}
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get" "update"]}
{APIGroups:[""], Resources:["pods"], Verbs:["list"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}
{NonResourceURLs:["/healthz*"], Verbs:["get"]}
{NonResourceURLs:["/metrics"], Verbs:["get"]}"#
    );
    let details = refusal.details.unwrap();
    assert_eq!((&*details.kind, &*details.name), ("clusterroles", "x1"));
    assert_eq!(refusal.code, 403);
}

#[test]
fn what_the_writer_holds_may_be_granted() {
    let eve = User::of_groups("eve", &[]);
    for (resource, namespace) in [("clusterroles", ""), ("roles", "default")] {
        let request = request(&eve, resource, namespace);
        let rules = [rule("get core: pods named x")];
        assert_eq!(
            check_role_write(&request, "x", &rules, false, &cluster()),
            Ok(())
        );
    }
}

#[test]
fn with_escalate_on_a_role_anything_may_be_granted_by_it() {
    let eve = User::of_groups("eve", &[]);
    let create = request(&eve, "clusterroles", "");
    let Target::Resource(collection) = create.target else {
        unreachable!()
    };
    let name = "known";
    let target = Target::Resource(Resource { name, ..collection });
    let update = Attributes { target, ..create };
    let rules = [rule("* *: *")];
    assert_eq!(
        check_role_write(&update, name, &rules, true, &cluster()),
        Ok(())
    );
    // A request to create names no object, so a rule with names does not match it.
    assert!(check_role_write(&create, name, &rules, true, &cluster()).is_err());
}

#[test]
fn collecting_rules_takes_an_administrator() {
    let (eve, root) = (User::of_groups("eve", &[]), User::of_groups("root", &[]));
    let master = User::of_groups("boss", &[crate::MASTERS]);
    let check = |user| {
        check_role_write(
            &request(user, "clusterroles", ""),
            "x2",
            &[],
            true,
            &cluster(),
        )
    };
    assert_eq!(
        cause(check(&eve)).unwrap(),
        "must have cluster-admin privileges to use the aggregationRule"
    );
    assert_eq!(check(&root), Ok(()));
    assert_eq!(check(&master), Ok(()));
}

#[test]
fn a_binding_grants_what_its_writer_holds_or_may_bind() {
    let eve = User::of_groups("eve", &[]);
    let check = |resource, namespace, kind, name| {
        let request = request(&eve, resource, namespace);
        check_binding_write(&request, "x", &role_ref(kind, name), &cluster())
    };
    assert_eq!(check("rolebindings", "default", "Role", "pods"), Ok(()));
    // `bind` counts where the binding is.
    assert_eq!(
        check("rolebindings", "default", "ClusterRole", "dns"),
        Ok(())
    );
    assert_eq!(
        cause(check("clusterrolebindings", "", "ClusterRole", "dns")).unwrap(),
        r#"user "eve" (groups=[]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["endpoints"], Verbs:["list" "watch"]}
{APIGroups:[""], Resources:["services"], Verbs:["list" "watch"]}"#
    );
}

/// Messages as kube-apiserver v1.36.4 gave them when asked.
#[test]
fn a_binding_to_nothing_is_refused_unless_the_writer_may_bind_it() {
    let (eve, master) = (
        User::of_groups("eve", &[]),
        User::of_groups("boss", &[crate::MASTERS]),
    );
    for (resource, namespace, kind, name, code, message) in [
        (
            "clusterrolebindings",
            "",
            "ClusterRole",
            "nope",
            404,
            r#"clusterrolebindings.rbac.authorization.k8s.io "nope" not found"#,
        ),
        (
            "rolebindings",
            "default",
            "Role",
            "nope",
            404,
            r#"rolebindings.rbac.authorization.k8s.io "nope" not found"#,
        ),
        (
            "rolebindings",
            "default",
            "Group",
            "nope",
            500,
            r#"unsupported role reference kind: "Group""#,
        ),
    ] {
        let role = role_ref(kind, name);
        let write = |user| {
            let request = request(user, resource, namespace);
            check_binding_write(&request, "x", &role, &cluster())
        };
        let refusal = write(&eve).unwrap_err();
        assert_eq!((refusal.code, &*refusal.message), (code, message));
        assert_eq!(write(&master), Ok(()));
    }
}

#[test]
fn bindings_to_missing_roles_are_named_with_what_is_missing() {
    let index = index(&[], &[], &["gone user=eve", "lost user=eve"]);
    let eve = User::of_groups("eve", &[]);
    let request = request(&eve, "clusterroles", "");
    let result = check_role_write(&request, "x", &[rule("get core: pods")], false, &index);
    assert_eq!(
        cause(result).unwrap(),
        r#"user "eve" (groups=[]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["get"]}; resolution errors: [[clusterroles.rbac.authorization.k8s.io "gone" not found, clusterroles.rbac.authorization.k8s.io "lost" not found]]"#
    );
}

#[test]
fn a_role_too_broad_to_be_checked_is_refused_but_not_to_who_holds_everything() {
    let words: Vec<_> = (0..1000).map(|n| n.to_string().into()).collect();
    let huge = PolicyRule {
        verbs: words.clone(),
        api_groups: words.clone(),
        resources: words.clone(),
        resource_names: words,
        ..PolicyRule::default()
    };
    let (eve, root) = (User::of_groups("eve", &[]), User::of_groups("root", &[]));
    let write = |user| {
        let request = request(user, "clusterroles", "");
        check_role_write(
            &request,
            "x",
            std::slice::from_ref(&huge),
            false,
            &cluster(),
        )
    };
    assert_eq!(
        cause(write(&eve)).unwrap(),
        "the rules spell out more than 16384 permissions to check: use several roles"
    );
    assert_eq!(write(&root), Ok(()));
}

/// A role of as many rules as its writer holds is compared by the words of both, up to a bound.
#[test]
fn many_rules_against_many_held_ones_are_checked_within_a_bound() {
    let rows = |prefix: &str| -> Vec<String> {
        (0..16_000)
            .map(|at| format!("get core: secrets named {prefix}{at}"))
            .collect()
    };
    let (held, other) = (rows("a"), rows("b"));
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    let index = index(&[cluster_role("many", &held)], &[], &["many user=eve"]);
    let eve = User::of_groups("eve", &[]);
    let write = |rows: &[&str]| {
        let rules: Vec<PolicyRule> = rows.iter().map(|row| rule(row)).collect();
        check_role_write(
            &request(&eve, "clusterroles", ""),
            "x",
            &rules,
            false,
            &index,
        )
    };
    assert_eq!(write(&held), Ok(()));
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    assert_eq!(
        cause(write(&other)).unwrap(),
        "the rules and those that are held have too many words to compare: use several roles"
    );
    assert!(
        cause(write(&other[..10]))
            .unwrap()
            .contains("not currently held")
    );
}

#[test]
fn owners_and_finalizers_are_not_worth_a_check_and_all_else_is() {
    let old =
        json!({"metadata": {"name": "a", "finalizers": ["x"]}, "rules": [{"verbs": ["get"]}]});
    for (new, expected) in [
        (
            json!({"metadata": {"name": "a"}, "rules": [{"verbs": ["get"]}]}),
            true,
        ),
        (
            json!({
                "metadata": {"name": "a", "ownerReferences": [{"uid": "1"}], "managedFields": [{}]},
                "rules": [{"verbs": ["get"]}],
            }),
            true,
        ),
        (
            json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "rules": [{"verbs": ["get"]}]}),
            false,
        ),
        (
            json!({"metadata": {"name": "a"}, "rules": [{"verbs": ["*"]}]}),
            false,
        ),
        (json!({"metadata": {"name": "a"}}), false),
    ] {
        assert_eq!(changes_only_ownership(&old, &new), expected, "{new}");
    }
}
