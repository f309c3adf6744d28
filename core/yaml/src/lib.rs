//! YAML as kube-apiserver reads and writes it: the rules of YAML 1.1 as Go's library applies them.
//!
//! It owns the arrows `body → value` and `value → body` of the embedded plane for clients that speak
//! YAML. A value is JSON: `yes` is true, `0o14` is not twelve, a time is a text, and a key is a text
//! whatever it looks like.
//!
//! [`read`] is bounded by the size of its input: nesting, aliases and what they multiply to.
//! [`write`] gives the text that upstream would write, to the line break.
//!
//! Upstream: `sigs.k8s.io/yaml`, and the yaml.v2 within it.

mod order;
mod read;
mod scalar;
mod style;
mod write;

pub use read::{Read, ReadFailed, read};
pub use write::write;

#[cfg(test)]
mod tests;
