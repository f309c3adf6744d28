//! Who may do what: role-based access control, and the roles that every cluster starts with.
//!
//! A request is described by its [`Attributes`]; [`authorize`] says whether some role that is bound
//! to its user allows it, and [`forbidden`] puts a refusal into kube-apiserver's words. Rules only
//! ever add: there is no rule that takes away.
//!
//! Roles and bindings live in a [`RoleIndex`], which finds the bindings of a user without looking
//! at those of others: the controllers of this very process ask thousands of times a second.
//!
//! Whoever writes roles could give itself any right, so [`check_role_write`] and
//! [`check_binding_write`] ask that the writer holds what it grants, or may `escalate` or `bind`.
//! [`aggregate`] unites ClusterRoles by label, [`rules_review`] answers "what may I do here",
//! [`bootstrap`] has the roles of a fresh cluster and how they meet what is already stored.
//!
//! ```
//! use flyball_rbac::{Attributes, Resource, RoleIndex, Target, User, authorize, bootstrap, forbidden};
//!
//! let mut index = RoleIndex::default();
//! let policy = bootstrap::policy();
//! policy.cluster_roles.iter().for_each(|role| index.put_cluster_role(role));
//! policy.cluster_role_bindings.iter().for_each(|binding| index.put_cluster_role_binding(binding));
//!
//! let user = User::service_account("kube-system", "job-controller", "");
//! let pods = Resource { resource: "pods", namespace: "default", ..Resource::default() };
//! let create = Attributes { user: &user, verb: "create", target: Target::Resource(pods) };
//! assert!(authorize(&create, &index).allowed);
//!
//! let update = Attributes { verb: "update", ..create };
//! let decision = authorize(&update, &index);
//! assert!(!decision.allowed);
//! assert_eq!(
//!     &*forbidden(&update, &decision.reason).message,
//!     "pods is forbidden: User \"system:serviceaccount:kube-system:job-controller\" cannot \
//!      update resource \"pods\" in API group \"\" in the namespace \"default\""
//! );
//! ```
//!
//! This crate owns no arrow of the flow; the registry asks it before anything else.
//!
//! Rules: `pkg/registry/rbac/validation`, `plugin/pkg/auth/authorizer/rbac` and component-helpers
//! `auth/rbac` of Kubernetes v1.36.4.

mod aggregation;
mod attributes;
mod authorize;
pub mod bootstrap;
mod coverage;
mod escalation;
mod index;
mod quote;
mod refusal;
mod review;
mod rule;
mod source;
#[cfg(test)]
mod testing;
mod user;

pub use aggregation::aggregate;
pub use attributes::{Attributes, Resource, Target};
pub use authorize::{Decision, authorize};
pub use coverage::{breadth, compact, uncovered};
pub use escalation::{BREADTH_MAX, changes_only_ownership, check_binding_write, check_role_write};
pub use index::RoleIndex;
pub use refusal::forbidden;
pub use review::{NonResourceRule, ResourceRule, RulesReview, rules_review};
pub use source::{Binding, Grant, RoleSource, RoleUnresolved};
pub use user::{AUTHENTICATED, MASTERS, SERVICE_ACCOUNTS, UNAUTHENTICATED, User};
// The views of roles are shared with the controllers.
pub use flyball_api::views::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, RBAC_GROUP as GROUP, Role,
    RoleBinding, RoleRef, Subject,
};
