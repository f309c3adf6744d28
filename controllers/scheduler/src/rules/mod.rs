//! The questions that are asked of a pod and a node, one file each.
//!
//! A rule knows neither batches nor caches: it reads what a pod says and answers for one node, or
//! for one amount. What has to be counted over many pods is counted in `placing/`.

pub(crate) mod allocation;
pub(crate) mod fit;
pub(crate) mod node_affinity;
pub(crate) mod normalize;
pub(crate) mod pod_affinity;
pub(crate) mod ports;
pub(crate) mod spread;
pub(crate) mod taints;

use serde::Deserialize;

/// Reads one rule of a pod; what is absent is the default.
pub(crate) fn read<'a, T: Deserialize<'a> + Default>(
    part: &str,
    json: Option<&'a str>,
) -> Result<T, String> {
    match json {
        None => Ok(T::default()),
        Some(json) => serde_json::from_str::<Option<T>>(json)
            .map(Option::unwrap_or_default)
            .map_err(|error| format!("{part}: {error}")),
    }
}
