//! ConfigMaps: the cluster's certificate bundle whole, of all others the metadata.

use serde::Deserialize;

use super::object;
use crate::{DecodeError, Kind, LeanMeta, Opaque, decode};

/// The ConfigMap that every namespace has with the certificate of the API server.
pub const ROOT_CA: &str = "kube-root-ca.crt";

/// A ConfigMap; its data is kept only if its name is [`ROOT_CA`].
#[derive(Clone, Debug, Default)]
pub struct ConfigMap {
    /// Metadata, without annotations.
    pub metadata: LeanMeta,
    /// All of it, so that an update loses nothing.
    pub whole: Option<Opaque>,
}

object!(
    ConfigMap,
    Kind::namespaced("", "v1", "ConfigMap", "configmaps"),
    decode = config_map
);

fn config_map(json: &[u8]) -> Result<ConfigMap, DecodeError> {
    #[derive(Deserialize)]
    struct Head {
        metadata: LeanMeta,
    }
    let Head { metadata } = decode(json)?;
    let whole = match metadata.name == ROOT_CA {
        true => Some(decode(json)?),
        false => None,
    };
    Ok(ConfigMap { metadata, whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn only_the_certificate_of_the_cluster_is_kept_whole() {
        let of = |name: &str| {
            let json = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"big":"…"}}}}"#);
            ConfigMap::decode(json.as_bytes()).unwrap()
        };
        assert!(of("other").whole.is_none());
        assert!(of(ROOT_CA).whole.unwrap().json().contains("big"));
        assert!(ConfigMap::decode(b"{}").is_err());
    }
}
