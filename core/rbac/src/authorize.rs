//! Whether a request may go on, and why.

use std::ops::ControlFlow;

use crate::Attributes;
use crate::rule::allows;
use crate::source::{RoleSource, joined};

#[cfg(test)]
mod tests;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may go on.
    pub allowed: bool,
    /// Which binding allows it, or what was wrong with the user's bindings; may be empty. These
    /// are upstream's words, as a SubjectAccessReview shows them.
    pub reason: String,
}

/// Decides about a request: a member of `system:masters` may do anything, everybody else what some
/// rule of some role that is bound to them allows.
///
/// A binding whose role is missing grants nothing; it is named in the reason of a refusal.
pub fn authorize(request: &Attributes<'_>, roles: &impl RoleSource) -> Decision {
    if request.user.is_master() {
        return Decision {
            allowed: true,
            reason: String::new(),
        };
    }
    let mut unresolved = Vec::new();
    let mut allowed_by = None;
    roles.visit(request.user, request.namespace(), &mut |grant| {
        match &grant.rules {
            Ok(rules) if rules.iter().any(|rule| allows(rule, request)) => {
                allowed_by = Some(format!("RBAC: allowed by {grant}"));
                return ControlFlow::Break(());
            }
            Ok(_) => {}
            Err(missing) => unresolved.push(missing.clone()),
        }
        ControlFlow::Continue(())
    });
    let allowed = allowed_by.is_some();
    let reason = allowed_by.unwrap_or_else(|| match unresolved.as_slice() {
        [] => String::new(),
        _ => format!("RBAC: {}", joined(&unresolved)),
    });
    Decision { allowed, reason }
}
