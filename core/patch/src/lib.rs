//! Changing objects by patch: JSON patch, merge patch, strategic merge patch and server-side apply.
//!
//! All of it is functions over JSON values, with kube-apiserver's semantics and words. The first
//! three give a changed object ([`json_patch`], [`merge_patch`], [`strategic_merge`]). The fourth is
//! about owners: [`apply`] merges what one client wants into an object and asks the others, who are
//! found in `metadata.managedFields`; [`update`] writes down there who made any other change.
//!
//! This crate owns no arrow of the flow; the registry calls it between decoding and admission.

mod error;
mod fields;
mod json_patch;
mod merge_patch;
mod owners;
mod strategic;
#[cfg(test)]
mod testing;
mod typed;
mod wording;

pub use error::{Class, PatchRefused};
pub use fields::{FieldSet, FieldsUnreadable, Path, Step};
pub use json_patch::{json_patch, unknown_members};
pub use merge_patch::merge_patch;
pub use owners::{Change, Convert, apply, no_other_version, update};
pub use strategic::{strategic_left, strategic_merge};
pub use wording::{json_name as go_name, plain as go_plain};
