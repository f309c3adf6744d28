//! Accounts and ConfigMaps as they are seen here: little more than that they exist.

use flyball_api::{DecodeError, Kind, Meta, Opaque, decode, object};
use serde::{Deserialize, Deserializer};

use crate::root_ca::NAME;

/// A ServiceAccount, of which only the existence matters.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ServiceAccount {
    /// Metadata, without annotations.
    #[serde(deserialize_with = "lean")]
    pub metadata: Meta,
}

/// A ConfigMap; whole if it is the one that is kept here, else only its metadata.
#[derive(Clone, Debug, Default)]
pub struct ConfigMap {
    /// Metadata, without annotations.
    pub metadata: Meta,
    /// All of it, so that an update loses nothing.
    pub whole: Option<Opaque>,
}

fn lean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meta, D::Error> {
    Meta::lean(deserializer, |_| false)
}

object!(
    ServiceAccount,
    Kind::namespaced("", "v1", "ServiceAccount", "serviceaccounts")
);
object!(
    ConfigMap,
    Kind::namespaced("", "v1", "ConfigMap", "configmaps"),
    decode = config_map
);

fn config_map(json: &[u8]) -> Result<ConfigMap, DecodeError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(deserialize_with = "lean")]
        metadata: Meta,
    }
    let Head { metadata } = decode(json)?;
    let whole = match metadata.name == NAME {
        true => Some(decode(json)?),
        false => None,
    };
    Ok(ConfigMap { metadata, whole })
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    #[test]
    fn only_the_certificate_of_the_cluster_is_kept_whole() {
        let of = |name: &str| {
            let json = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"big":"…"}}}}"#);
            ConfigMap::decode(json.as_bytes()).unwrap()
        };
        assert!(of("other").whole.is_none());
        assert!(of(NAME).whole.unwrap().json().contains("big"));
        assert!(ConfigMap::decode(b"{}").is_err());
    }
}
