use super::*;
use crate::testing::{cluster_role, metadata, role, role_ref};
use crate::{Attributes, Decision, Resource, Subject, Target, authorize};
use proptest::prelude::*;

/// The same questions answered by reading everything, as upstream does.
#[derive(Clone, Debug, Default)]
struct Scan {
    cluster_roles: BTreeMap<Text, ClusterRole>,
    roles: BTreeMap<(Text, Text), Role>,
    /// ClusterRoleBindings are in the empty namespace, and so come first.
    bindings: BTreeMap<(Text, Text), Binding>,
}

impl Scan {
    fn is_subject(binding: &Binding, subject: &Subject, user: &User) -> bool {
        match subject.kind.as_str() {
            "User" => user.name == subject.name,
            "Group" => user.groups.contains(&subject.name),
            "ServiceAccount" => {
                let namespace = match subject.namespace.as_str() {
                    "" => &binding.namespace,
                    _ => &subject.namespace,
                };
                let name = format!("system:serviceaccount:{namespace}:{}", subject.name);
                !namespace.is_empty() && user.name == name
            }
            _ => false,
        }
    }
}

impl RoleSource for Scan {
    fn visit<'a>(
        &'a self,
        user: &User,
        namespace: &str,
        visit: &mut dyn FnMut(Grant<'a>) -> ControlFlow<()>,
    ) {
        let in_scope =
            |binding: &&Binding| binding.namespace.is_empty() || binding.namespace == namespace;
        for binding in self.bindings.values().filter(in_scope) {
            let is_user = |subject: &&Subject| Self::is_subject(binding, subject, user);
            let Some(subject) = binding.subjects.iter().find(is_user) else {
                continue;
            };
            let rules = self.rules(&binding.role, &binding.namespace);
            let grant = Grant {
                binding,
                subject,
                rules,
            };
            if visit(grant).is_break() {
                return;
            }
        }
    }

    fn rules(&self, role: &RoleRef, namespace: &str) -> Result<&[PolicyRule], RoleUnresolved> {
        let name = role.name.clone();
        match role.kind.as_str() {
            "Role" => match self.roles.get(&(namespace.into(), name.clone())) {
                Some(role) => Ok(&role.rules),
                None => Err(RoleUnresolved::NoRole(name)),
            },
            "ClusterRole" => match self.cluster_roles.get(&name) {
                Some(role) => Ok(&role.rules),
                None => Err(RoleUnresolved::NoClusterRole(name)),
            },
            kind => Err(RoleUnresolved::UnsupportedKind(kind.into())),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    PutRole(&'static str, &'static str, Vec<&'static str>),
    RemoveRole(&'static str, &'static str),
    PutBinding(&'static str, &'static str, RoleRef, Vec<Subject>),
    RemoveBinding(&'static str, &'static str),
    Ask(User, &'static str, Target<'static>),
}

const NAMESPACES: &[&str] = &["", "one", "two"];
const NAMES: &[&str] = &["a", "b", "c"];
const PEOPLE: &[&str] = &["eve", "bob", "system:serviceaccount:one:eve", ""];
const RULES: &[&str] = &[
    "get core: pods",
    "* core: pods/log",
    "list *: *",
    "get core: pods named x",
    "get url: /a*",
];

fn pick(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(words)
}

fn any_subject() -> impl Strategy<Value = Subject> {
    let kind = pick(&["User", "Group", "ServiceAccount", "Robot"]);
    (kind, pick(PEOPLE), pick(NAMESPACES)).prop_map(|(kind, name, namespace)| Subject {
        kind: kind.into(),
        name: name.into(),
        namespace: namespace.into(),
        ..Subject::default()
    })
}

fn any_role_ref() -> impl Strategy<Value = RoleRef> {
    let kind = pick(&["Role", "ClusterRole", "ClusterRole", "Rule"]);
    (kind, pick(NAMES)).prop_map(|(kind, name)| role_ref(kind, name))
}

fn any_target() -> impl Strategy<Value = Target<'static>> {
    let resource = (
        pick(&["pods", "jobs"]),
        pick(&["", "log"]),
        pick(NAMESPACES),
        pick(&["", "x"]),
    )
        .prop_map(|(resource, subresource, namespace, name)| {
            let group = "";
            Target::Resource(Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
            })
        });
    prop_oneof![3 => resource, 1 => pick(&["/a", "/b"]).prop_map(Target::Path)]
}

fn any_step() -> impl Strategy<Value = Step> {
    let place = || (pick(NAMESPACES), pick(NAMES));
    let rules = proptest::collection::vec(pick(RULES), 0..3);
    let subjects = proptest::collection::vec(any_subject(), 0..4);
    let user = (pick(PEOPLE), proptest::collection::vec(pick(PEOPLE), 0..3))
        .prop_map(|(name, groups)| User::of_groups(name, &groups));
    prop_oneof![
        2 => (place(), rules).prop_map(|((space, name), rules)| Step::PutRole(space, name, rules)),
        1 => place().prop_map(|(space, name)| Step::RemoveRole(space, name)),
        3 => (place(), any_role_ref(), subjects).prop_map(|((space, name), role, subjects)| {
            Step::PutBinding(space, name, role, subjects)
        }),
        1 => place().prop_map(|(space, name)| Step::RemoveBinding(space, name)),
        4 => (user, pick(&["get", "list"]), any_target())
            .prop_map(|(user, verb, target)| Step::Ask(user, verb, target)),
    ]
}

/// What a source says about a request, and every grant that it found on the way.
type Said = (Decision, Vec<String>);

fn ask(request: &Attributes<'_>, source: &impl RoleSource) -> Said {
    let mut grants = Vec::new();
    source.visit(request.user, request.namespace(), &mut |grant| {
        grants.push(format!("{grant}: {:?}", grant.rules));
        ControlFlow::Continue(())
    });
    (authorize(request, source), grants)
}

fn run(step: &Step, index: &mut RoleIndex, scan: &mut Scan) -> Option<(Said, Said)> {
    match step {
        Step::PutRole("", name, rules) => {
            let role = cluster_role(name, rules);
            index.put_cluster_role(&role);
            scan.cluster_roles.insert((*name).into(), role);
        }
        Step::PutRole(namespace, name, rules) => {
            let role = role(&format!("{namespace}/{name}"), rules);
            index.put_role(&role);
            scan.roles
                .insert(((*namespace).into(), (*name).into()), role);
        }
        Step::RemoveRole("", name) => {
            index.remove_cluster_role(name);
            scan.cluster_roles.remove(*name);
        }
        Step::RemoveRole(namespace, name) => {
            index.remove_role(namespace, name);
            scan.roles.remove(&((*namespace).into(), (*name).into()));
        }
        Step::PutBinding(namespace, name, role_ref, subjects) => {
            let binding = RoleBinding {
                metadata: metadata(&format!("{namespace}/{name}")),
                subjects: subjects.clone(),
                role_ref: role_ref.clone(),
            };
            if namespace.is_empty() {
                index.put_cluster_role_binding(&ClusterRoleBinding {
                    metadata: binding.metadata.clone(),
                    subjects: subjects.clone(),
                    role_ref: role_ref.clone(),
                });
            } else {
                index.put_role_binding(&binding);
            }
            let place = ((*namespace).into(), (*name).into());
            scan.bindings.insert(place, (&binding).into());
        }
        Step::RemoveBinding(namespace, name) => {
            if namespace.is_empty() {
                index.remove_cluster_role_binding(name);
            } else {
                index.remove_role_binding(namespace, name);
            }
            scan.bindings.remove(&((*namespace).into(), (*name).into()));
        }
        Step::Ask(user, verb, target) => {
            let target = *target;
            let request = Attributes { user, verb, target };
            return Some((ask(&request, index), ask(&request, scan)));
        }
    }
    None
}

proptest! {
    /// Decision, reason and every grant: whatever is put in and taken out, in whatever order.
    #[test]
    fn the_index_decides_as_a_scan_of_everything_does(
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let (mut index, mut scan) = (RoleIndex::default(), Scan::default());
        for step in &steps {
            if let Some((indexed, scanned)) = run(step, &mut index, &mut scan) {
                prop_assert_eq!(indexed, scanned);
            }
        }
        for (namespace, name) in scan.bindings.keys() {
            index.remove_cluster_role_binding(name);
            index.remove_role_binding(namespace, name);
        }
        for (namespace, name) in scan.roles.keys() {
            index.remove_role(namespace, name);
        }
        // What is gone leaves no trace.
        let bindings = &index.cluster.bindings;
        prop_assert!(bindings.by_name.is_empty());
        prop_assert!(bindings.by_user.is_empty() && bindings.by_group.is_empty());
        prop_assert!(index.namespaces.is_empty());
    }
}

#[test]
fn an_object_that_belongs_in_a_namespace_but_names_none_grants_nothing() {
    let mut index = RoleIndex::default();
    index.put_role(&role("a", &["* *: *"]));
    let mut binding = crate::testing::role_binding("one/Role:a user=eve");
    binding.metadata.namespace = Text::default();
    index.put_role_binding(&binding);
    let (rules, unresolved) = index.rules_for(&User::of_groups("eve", &[]), "");
    assert!(rules.is_empty() && unresolved.is_empty());
}

#[test]
fn whoever_is_in_a_binding_twice_gets_its_role_once_by_the_first_subject() {
    let mut index = RoleIndex::default();
    index.put_cluster_role(&cluster_role("a", &["get core: pods"]));
    let subjects = "group=g account=one/eve user=system:serviceaccount:one:eve group=h";
    let binding = crate::testing::cluster_role_binding(&format!("a {subjects}"));
    index.put_cluster_role_binding(&binding);
    let mut eve = User::service_account("one", "eve", "");
    let mut check = |group: &str, expected: &str| {
        eve.groups.push(group.into());
        let mut found = Vec::new();
        index.visit(&eve, "one", &mut |grant| {
            found.push(format!("{} {}", grant.subject.kind, grant.subject.name));
            ControlFlow::Continue(())
        });
        assert_eq!(found, [expected]);
    };
    check("h", "ServiceAccount eve");
    check("g", "Group g");
}
