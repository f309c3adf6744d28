//! Conflicts between owners, as they are told to clients.

use flyball_api::StatusCause;

use super::ledger::{Operation, Owner};
use crate::error::PatchRefused;
use crate::fields::Path;

/// A field that another owner holds at another value.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    pub(super) owner: Owner,
    pub(super) path: Path,
}

impl Conflict {
    fn field(&self) -> String {
        self.path.iter().map(ToString::to_string).collect()
    }
}

/// The answer to an apply that meets conflicts, which come grouped by owner.
pub(super) fn refusal(conflicts: &[Conflict]) -> PatchRefused {
    let causes = conflicts.iter().map(|conflict| StatusCause {
        cause_type: "FieldManagerConflict".into(),
        message: format!("conflict with {}", shown(&conflict.owner)).into(),
        field: conflict.field().into(),
    });
    PatchRefused::conflict(message(conflicts), causes.collect())
}

fn message(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        let owner = shown(&only.owner);
        return format!(
            "Apply failed with 1 conflict: conflict with {owner}: {}",
            only.field()
        );
    }
    let mut lines = Vec::new();
    let groups = conflicts.chunk_by(|a, b| a.owner == b.owner);
    for group in groups {
        if let Some(first) = group.first() {
            lines.push(format!("conflicts with {}:", shown(&first.owner)));
        }
        lines.extend(
            group
                .iter()
                .map(|conflict| format!("- {}", conflict.field())),
        );
    }
    format!(
        "Apply failed with {} conflicts: {}",
        conflicts.len(),
        lines.join("\n")
    )
}

fn shown(owner: &Owner) -> String {
    let mut text = format!("{:?}", owner.name.as_str());
    if !owner.subresource.is_empty() {
        text.push_str(&format!(
            " with subresource {:?}",
            owner.subresource.as_str()
        ));
    }
    if owner.operation == Operation::Update {
        text.push_str(&format!(" using {}", owner.api_version));
    }
    text
}
