//! Custom resources: kinds that a CustomResourceDefinition adds while the server runs.
//!
//! ```text
//! definition ─commit→ note ─→ names → established → served ─→ every verb, as for any other kind
//! ```
//!
//! A [`Custom`] is what one version of a definition makes of its objects: their types, defaults, columns
//! and rules. [`Definitions`] knows which definitions have to be looked at again; what upstream's
//! controllers do with them in the background happens here after the request that gave the occasion.
//!
//! Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`,
//! `apiextensions-apiserver/pkg/controller`.

mod api_services;
pub(crate) mod approval;
mod conditions;
mod decode;
mod deprecation;
mod embedded;
mod finalize;
mod kind;
mod lifecycle;
mod naming;
mod parts;
pub(crate) mod patterns;
mod rules;
mod scale;

pub(crate) use decode::{applied, check, kindless, object, told_kind, type_mistakes};
pub(crate) use finalize::mark;
pub(crate) use kind::Custom;
pub(crate) use lifecycle::Definitions;
pub(crate) use scale::Scale;
