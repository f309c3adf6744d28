//! Kubernetes protobuf as JSON: what kubectl and Go clients send, turned into what a server here reads.
//!
//! Clients send bodies of built-in kinds as `application/vnd.kubernetes.protobuf` and take JSON for an answer, so
//! servers here only decode; [`encode`] is for tests that send it. [`decode`] gives the value that the same client would have sent as JSON:
//! upstream's JSON names, inlined messages flattened, and a zero kept where upstream's types tell zero from absent
//! (`replicas: 0`) and dropped where they do not.
//!
//! Messages are data: `table.txt` has the names, numbers and types of their fields, and [`table`] reads it. Nothing
//! is generated and no message has code of its own but the few in [`forms`], which JSON writes as something else than
//! an object.
//!
//! This crate owns no arrow of the flow; the API server calls it before it decodes a body.

mod encode;
mod envelope;
mod error;
mod forms;
mod message;
mod settle;
mod table;
#[cfg(test)]
mod tests;
mod wire;

pub use encode::encode;
pub use envelope::{decode, is_protobuf};
pub use error::{ProtobufFault, ProtobufUnreadable};
pub use settle::{settle, store};
