//! The words of Flyball: what objects look like to controllers.
//!
//! Objects are **views**: structs with only the fields some controller reads. What is merely
//! carried, above all pod templates, stays opaque JSON, so that a field this program has never
//! heard of passes through it unchanged. Everything here is plain data and pure functions.
//!
//! Start at [`Object`] for what an informer needs, at [`views`] for the kinds, at [`ApiError`]
//! for what a server may answer.
//!
//! This crate owns no arrow of the flow; every arrow carries its types.

mod condition;
mod decode;
pub mod digest;
pub mod discovery;
mod int_or_percent;
mod kind;
mod labels;
mod lossless;
mod meta;
mod object;
mod opaque;
mod owner;
pub mod patch;
mod pool;
mod quantity;
pub mod request;
pub mod selector;
pub mod semantic;
mod status;
mod text;
mod time;
mod uid;
pub mod views;

pub use condition::{Condition, ConditionStatus};
pub use decode::{DecodeError, decode, null_default};
pub use int_or_percent::*;
pub use kind::Kind;
pub use labels::Labels;
pub use lossless::Lossless;
pub use meta::{LeanMeta, Meta, Owners, Rest};
pub use object::{Index, Lineage, Object, ObjectName};
pub use opaque::{Opaque, Template};
pub use owner::OwnerReference;
pub use pool::Pool;
pub use quantity::*;
pub use selector::{LabelSelector, Selector};
pub use status::*;
pub use text::Text;
pub use time::{MicroTime, TimeUnreadable, Timestamp};
pub use uid::Uid;
