//! Where grants come from, and how they are called in reasons.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use flyball_api::Text;

use crate::quote::Quoted;
use crate::user::service_account_name;
use crate::{ClusterRoleBinding, PolicyRule, RoleBinding, RoleRef, Subject, User};

/// Somewhere that roles and bindings are kept.
pub trait RoleSource {
    /// Shows every grant that the user has in the namespace, until `visit` breaks off: first those
    /// of ClusterRoleBindings, then, unless the namespace is empty, those of its RoleBindings, each
    /// in the order of the bindings' names. (Upstream's order is that of its caches: any.)
    fn visit<'a>(
        &'a self,
        user: &User,
        namespace: &str,
        visit: &mut dyn FnMut(Grant<'a>) -> ControlFlow<()>,
    );

    /// The rules of a role that a binding in the namespace refers to; a ClusterRoleBinding is in
    /// the empty namespace.
    fn rules(&self, role: &RoleRef, namespace: &str) -> Result<&[PolicyRule], RoleUnresolved>;

    /// All rules that the user has in the namespace, and what could not be resolved.
    fn rules_for<'a>(
        &'a self,
        user: &User,
        namespace: &str,
    ) -> (Vec<&'a PolicyRule>, Vec<RoleUnresolved>) {
        let (mut rules, mut unresolved) = (Vec::new(), Vec::new());
        self.visit(user, namespace, &mut |grant| {
            match grant.rules {
                Ok(granted) => rules.extend(granted),
                Err(missing) => unresolved.push(missing),
            }
            ControlFlow::Continue(())
        });
        (rules, unresolved)
    }
}

/// A role granted to a user, shown as reasons call it.
#[derive(Clone, Debug)]
pub struct Grant<'a> {
    /// The binding that grants it.
    pub binding: &'a Binding,
    /// The first subject of the binding that is the user.
    pub subject: &'a Subject,
    /// What the role allows, if the role exists.
    pub rules: Result<&'a [PolicyRule], RoleUnresolved>,
}

/// A binding of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The namespace; empty for a ClusterRoleBinding.
    pub namespace: Text,
    /// The name.
    pub name: Text,
    /// The role it grants.
    pub role: RoleRef,
    /// Who gets it.
    pub subjects: Vec<Subject>,
}

impl From<&RoleBinding> for Binding {
    fn from(binding: &RoleBinding) -> Self {
        Self {
            namespace: binding.metadata.namespace.clone(),
            name: binding.metadata.name.clone(),
            role: binding.role_ref.clone(),
            subjects: binding.subjects.clone(),
        }
    }
}

impl From<&ClusterRoleBinding> for Binding {
    fn from(binding: &ClusterRoleBinding) -> Self {
        Self {
            namespace: Text::default(),
            name: binding.metadata.name.clone(),
            role: binding.role_ref.clone(),
            subjects: binding.subjects.clone(),
        }
    }
}

/// Whom a subject stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    User(Text),
    Group(Text),
    Nobody,
}

impl Binding {
    /// Whom one of the subjects stands for. A service account is the user with its long name.
    pub(crate) fn who(&self, subject: &Subject) -> Who {
        match subject.kind.as_str() {
            "User" => Who::User(subject.name.clone()),
            "Group" => Who::Group(subject.name.clone()),
            "ServiceAccount" => match self.namespace_of(subject) {
                "" => Who::Nobody,
                namespace => Who::User(service_account_name(namespace, &subject.name)),
            },
            _ => Who::Nobody,
        }
    }

    fn namespace_of<'a>(&'a self, subject: &'a Subject) -> &'a str {
        if subject.namespace.is_empty() {
            &self.namespace
        } else {
            &subject.namespace
        }
    }
}

impl fmt::Display for Grant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (binding, subject) = (self.binding, self.subject);
        // Upstream puts the namespace behind the name.
        if binding.namespace.is_empty() {
            write!(f, "ClusterRoleBinding {}", Quoted(&binding.name))?;
        } else {
            let place = format!("{}/{}", binding.name, binding.namespace);
            write!(f, "RoleBinding {}", Quoted(&place))?;
        }
        write!(
            f,
            " of {} {}",
            binding.role.kind,
            Quoted(&binding.role.name)
        )?;
        if subject.kind == "ServiceAccount" {
            let place = format!("{}/{}", subject.name, binding.namespace_of(subject));
            write!(f, " to {} {}", subject.kind, Quoted(&place))
        } else {
            write!(f, " to {} {}", subject.kind, Quoted(&subject.name))
        }
    }
}

/// Why a binding grants nothing, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleUnresolved {
    /// There is no such Role in the binding's namespace.
    NoRole(Text),
    /// There is no such ClusterRole.
    NoClusterRole(Text),
    /// The binding refers to neither a Role nor a ClusterRole.
    UnsupportedKind(Text),
}

impl RoleUnresolved {
    /// The name of the role that is missing, if that is what is wrong.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::NoRole(name) | Self::NoClusterRole(name) => Some(name),
            Self::UnsupportedKind(_) => None,
        }
    }
}

impl fmt::Display for RoleUnresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = crate::GROUP;
        match self {
            Self::NoRole(name) => write!(f, "role.{group} {} not found", Quoted(name)),
            Self::NoClusterRole(name) => {
                write!(f, "clusterrole.{group} {} not found", Quoted(name))
            }
            Self::UnsupportedKind(kind) => {
                write!(f, "unsupported role reference kind: {}", Quoted(kind))
            }
        }
    }
}

impl std::error::Error for RoleUnresolved {}

/// Several reasons as one text: each once, in brackets if there is more than one.
pub(crate) fn joined(reasons: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    for reason in reasons {
        let text = reason.to_string();
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [only] => only.clone(),
        _ => format!("[{}]", texts.join(", ")),
    }
}
