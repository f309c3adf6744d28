//! Who owns which fields of an object: server-side apply and `metadata.managedFields`.
//!
//! ```text
//! apply:   managedFields ─read→ ledger ─┐
//!          live + configuration ─merge→ prune ─compare→ settle ─→ object + ledger ─write→ managedFields
//! update:  live, object ──────────────────────compare→ settle ─→ ledger ─cap→ managedFields
//! ```
//!
//! A [`Ledger`] says which owner holds which [`FieldSet`]. An owner that applies says with every
//! configuration all it wants to own: what it owned before and does not mention now is pruned,
//! unless somebody else owns it too. An owner that updates gains what it changes. Whoever changes a
//! field that an other owns takes it away; an applier may do so only by force, and otherwise meets a
//! conflict. The rules are upstream's: structured-merge-diff v6 `merge/update.go` and apimachinery
//! `pkg/util/managedfields`.

mod apply;
mod cap;
mod conflict;
mod last_applied;
mod ledger;
mod prune;
mod settle;
#[cfg(test)]
mod tests;
mod update;
mod version;

use flyball_api::Timestamp;
use flyball_schema::Schema;
use serde_json::Value;

use crate::fields::FieldSet;

pub use apply::apply;
pub use update::update;

/// Gives an object in another version, with the type it has there; `None` if that version is not
/// served any more, in which case its owners are forgotten.
pub type Convert<'a> = dyn Fn(&Value, &str) -> Option<(Value, Schema<'a>)> + 'a;

/// A change to an object: who makes it, to what, and when.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    /// The name under which the client owns fields; an empty one is called `unknown`.
    pub owner: &'a str,
    /// The version in which the object is sent, such as `apps/v1`.
    pub api_version: &'a str,
    /// The kind of the object.
    pub kind: &'a str,
    /// The subresource through which it is changed; empty if it is the object itself.
    pub subresource: &'a str,
    /// The type of the object in that version.
    pub schema: Schema<'a>,
    /// An object of the kind in which nothing is set. A client does not own what is there already:
    /// upstream's structures hold others by value, so in a blank Deployment `spec` and
    /// `spec.template.spec` are there.
    pub blank: &'a Value,
    /// Fields that such a change never touches, such as `status`, with all that is within them.
    pub ignored: &'a FieldSet,
    /// The object in other versions, for owners that wrote in those.
    pub convert: &'a Convert<'a>,
    /// Whether a field that is emptied stays as null, as in custom objects, which are no structures.
    pub keeps_nulls: bool,
    /// When it is made.
    pub now: Timestamp,
}

/// For kinds that have one version.
pub fn no_other_version<'a>(_: &Value, _: &str) -> Option<(Value, Schema<'a>)> {
    None
}

impl Change<'_> {
    /// `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` in the core group.
    fn kind_in_messages(&self) -> String {
        kind_in_messages(self.api_version, self.kind)
    }
}

fn kind_in_messages(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// `namespace/name; version, Kind=kind`, as upstream names an object in messages.
fn object_in_messages(object: &Value, change: &Change<'_>) -> String {
    let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    format!(
        "{}/{}; {}",
        part("namespace"),
        part("name"),
        change.kind_in_messages()
    )
}
