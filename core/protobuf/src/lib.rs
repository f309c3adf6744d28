//! Kubernetes protobuf and JSON, turned into each other: what Go clients send and want to be told.
//!
//! Bodies of built-in kinds may be written as `application/vnd.kubernetes.protobuf`. [`decode`] gives the value that the
//! same client would have sent as JSON: upstream's JSON names, inlined messages flattened, and a zero kept where
//! upstream's types tell zero from absent (`replicas: 0`) and dropped where they do not. [`encode`] and its companions
//! write what upstream's server would have written in place of the JSON, byte for byte.
//!
//! Messages are data: `table.txt` has the names, numbers and types of their fields, and [`table`] reads it. Nothing
//! is generated and no message has code of its own but the few in [`forms`], which JSON writes as something else than
//! an object.
//!
//! This crate owns no arrow of the flow; the API server calls it before it decodes a body and
//! when it writes an answer.

mod encode;
mod envelope;
mod error;
mod forms;
mod message;
mod order;
mod settle;
mod table;
#[cfg(test)]
mod tests;
mod wire;
mod writer;

pub use encode::{encode, encode_event, encode_list};
pub use envelope::{Event, decode, decode_event, is_protobuf};
pub use error::{ProtobufFault, ProtobufUnreadable};
pub use order::declared_fields;
pub use settle::{settle, store};
