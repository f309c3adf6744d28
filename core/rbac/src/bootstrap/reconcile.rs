//! What a server writes at its start when some of the policy is stored already.
//!
//! Reconciliation adds what is missing and takes nothing away, so that an upgrade brings new
//! permissions and an administrator's additions stay. An object with the annotation
//! [`AUTOUPDATE`](super::AUTOUPDATE)` = false` is left alone.
//!
//! Rules: component-helpers `auth/rbac/reconciliation`, as kube-apiserver uses it.

use flyball_api::{Labels, Meta};

use crate::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef,
    Subject, uncovered,
};

#[cfg(test)]
mod tests;

/// What to do about one object.
#[derive(Clone, Debug)]
pub enum Reconciliation<T> {
    /// Nothing is missing.
    Nothing,
    /// Something is missing, but the object wants to be left alone.
    Protected,
    /// The object is missing.
    Create(T),
    /// Something in the object is missing: write this over it.
    Update(T),
    /// The object grants another role, which cannot be changed: delete it, then create this.
    Recreate(T),
}

impl<T> Reconciliation<T> {
    fn of(update: Option<T>, existing: &Meta) -> Self {
        match update {
            None => Self::Nothing,
            Some(_) if is_protected(existing) => Self::Protected,
            Some(update) => Self::Update(update),
        }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Reconciliation<U> {
        match self {
            Self::Nothing => Reconciliation::Nothing,
            Self::Protected => Reconciliation::Protected,
            Self::Create(object) => Reconciliation::Create(change(object)),
            Self::Update(object) => Reconciliation::Update(change(object)),
            Self::Recreate(object) => Reconciliation::Recreate(change(object)),
        }
    }
}

/// What to do about a ClusterRole.
pub fn reconcile_cluster_role(
    existing: Option<&ClusterRole>,
    expected: &ClusterRole,
) -> Reconciliation<ClusterRole> {
    let Some(existing) = existing else {
        return Reconciliation::Create(expected.clone());
    };
    let metadata = merged_metadata(&existing.metadata, &expected.metadata);
    let rules = merged_rules(&existing.rules, &expected.rules);
    let aggregation = merged_aggregation(
        existing.aggregation_rule.as_ref(),
        expected.aggregation_rule.as_ref(),
    );
    let changes = metadata.is_some() || rules.is_some() || aggregation.is_some();
    let update = changes.then(|| ClusterRole {
        metadata: metadata.unwrap_or_else(|| existing.metadata.clone()),
        rules: rules.unwrap_or_else(|| existing.rules.clone()),
        aggregation_rule: aggregation.unwrap_or_else(|| existing.aggregation_rule.clone()),
    });
    Reconciliation::of(update, &existing.metadata)
}

/// What to do about a Role.
pub fn reconcile_role(existing: Option<&Role>, expected: &Role) -> Reconciliation<Role> {
    let Some(existing) = existing else {
        return Reconciliation::Create(expected.clone());
    };
    let metadata = merged_metadata(&existing.metadata, &expected.metadata);
    let rules = merged_rules(&existing.rules, &expected.rules);
    let changes = metadata.is_some() || rules.is_some();
    let update = changes.then(|| Role {
        metadata: metadata.unwrap_or_else(|| existing.metadata.clone()),
        rules: rules.unwrap_or_else(|| existing.rules.clone()),
    });
    Reconciliation::of(update, &existing.metadata)
}

/// What to do about a ClusterRoleBinding.
pub fn reconcile_cluster_role_binding(
    existing: Option<&ClusterRoleBinding>,
    expected: &ClusterRoleBinding,
) -> Reconciliation<ClusterRoleBinding> {
    let parts = |binding: &ClusterRoleBinding| Parts {
        metadata: binding.metadata.clone(),
        subjects: binding.subjects.clone(),
        role_ref: binding.role_ref.clone(),
    };
    let whole = |parts: Parts| ClusterRoleBinding {
        metadata: parts.metadata,
        subjects: parts.subjects,
        role_ref: parts.role_ref,
    };
    reconcile_parts(existing.map(parts), parts(expected)).map(whole)
}

/// What to do about a RoleBinding.
pub fn reconcile_role_binding(
    existing: Option<&RoleBinding>,
    expected: &RoleBinding,
) -> Reconciliation<RoleBinding> {
    let parts = |binding: &RoleBinding| Parts {
        metadata: binding.metadata.clone(),
        subjects: binding.subjects.clone(),
        role_ref: binding.role_ref.clone(),
    };
    let whole = |parts: Parts| RoleBinding {
        metadata: parts.metadata,
        subjects: parts.subjects,
        role_ref: parts.role_ref,
    };
    reconcile_parts(existing.map(parts), parts(expected)).map(whole)
}

/// What the two kinds of bindings have in common, which is all.
struct Parts {
    metadata: Meta,
    subjects: Vec<Subject>,
    role_ref: RoleRef,
}

fn reconcile_parts(existing: Option<Parts>, expected: Parts) -> Reconciliation<Parts> {
    let Some(existing) = existing else {
        return Reconciliation::Create(expected);
    };
    if existing.role_ref != expected.role_ref {
        return match is_protected(&existing.metadata) {
            true => Reconciliation::Protected,
            false => Reconciliation::Recreate(expected),
        };
    }
    let metadata = merged_metadata(&existing.metadata, &expected.metadata);
    let subjects = merged_subjects(&existing.subjects, &expected.subjects);
    let changes = metadata.is_some() || subjects.is_some();
    let update = changes.then(|| Parts {
        metadata: metadata.unwrap_or_else(|| existing.metadata.clone()),
        subjects: subjects.unwrap_or(existing.subjects),
        role_ref: existing.role_ref,
    });
    Reconciliation::of(update, &existing.metadata)
}

fn is_protected(existing: &Meta) -> bool {
    existing.annotations.get(super::AUTOUPDATE) == Some("false")
}

/// The metadata with missing labels and annotations added, if there are any. A value that is
/// already there stays.
fn merged_metadata(existing: &Meta, expected: &Meta) -> Option<Meta> {
    let labels = merged_labels(&existing.labels, &expected.labels);
    let annotations = merged_labels(&existing.annotations, &expected.annotations);
    let changes = labels != existing.labels || annotations != existing.annotations;
    changes.then(|| {
        let mut merged = existing.clone();
        merged.labels = labels;
        merged.annotations = annotations;
        merged
    })
}

fn merged_labels(existing: &Labels, expected: &Labels) -> Labels {
    // The last of two equal keys wins.
    expected.iter().chain(existing.iter()).collect()
}

fn merged_rules(existing: &[PolicyRule], expected: &[PolicyRule]) -> Option<Vec<PolicyRule>> {
    let missing = uncovered(existing, expected);
    (!missing.is_empty()).then(|| [existing, &missing].concat())
}

/// The new `aggregationRule`, if it changes: missing selectors are added, and one that is not
/// expected at all goes away.
fn merged_aggregation(
    existing: Option<&AggregationRule>,
    expected: Option<&AggregationRule>,
) -> Option<Option<AggregationRule>> {
    let Some(expected) = expected else {
        return existing.is_some().then_some(None);
    };
    let mut merged = existing.cloned().unwrap_or_default();
    let selectors = &mut merged.cluster_role_selectors;
    let before = selectors.len();
    for selector in &expected.cluster_role_selectors {
        if !selectors.contains(selector) {
            selectors.push(selector.clone());
        }
    }
    (selectors.len() > before).then_some(Some(merged))
}

fn merged_subjects(existing: &[Subject], expected: &[Subject]) -> Option<Vec<Subject>> {
    let mut merged = existing.to_vec();
    for subject in expected {
        if !merged.contains(subject) {
            merged.push(subject.clone());
        }
    }
    (merged.len() > existing.len()).then_some(merged)
}
