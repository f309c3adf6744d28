//! Accounts and ConfigMaps as they are seen here: little more than that they exist.

use flyball_api::{DecodeError, Index, Kind, Meta, Object, Opaque, Uid};
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

fn read<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(DecodeError::new)
}

/// Implements [`Object`] for a view with a `metadata` field and a function that reads it.
macro_rules! object {
    ($view:ty, $kind:expr, $decode:expr) => {
        impl Object for $view {
            fn kind() -> Kind {
                $kind
            }
            fn namespace(&self) -> &str {
                &self.metadata.namespace
            }
            fn name(&self) -> &str {
                &self.metadata.name
            }
            fn uid(&self) -> &Uid {
                &self.metadata.uid
            }
            fn resource_version(&self) -> &str {
                &self.metadata.resource_version
            }
            fn is_deleting(&self) -> bool {
                self.metadata.is_deleting()
            }
            fn lineage(&self) -> flyball_api::Lineage<'_> {
                self.metadata.lineage()
            }
            fn decode(json: &[u8]) -> Result<Self, DecodeError> {
                $decode(json)
            }
            fn indexes() -> &'static [Index<Self>] {
                &[]
            }
        }

        impl $view {
            /// The kind of this view.
            pub const KIND: Kind = $kind;
        }
    };
}

object!(
    ServiceAccount,
    Kind::namespaced("", "v1", "ServiceAccount", "serviceaccounts"),
    read
);
object!(
    ConfigMap,
    Kind::namespaced("", "v1", "ConfigMap", "configmaps"),
    config_map
);

fn config_map(json: &[u8]) -> Result<ConfigMap, DecodeError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(deserialize_with = "lean")]
        metadata: Meta,
    }
    let Head { metadata } = read(json)?;
    let whole = match metadata.name == NAME {
        true => Some(read(json)?),
        false => None,
    };
    Ok(ConfigMap { metadata, whole })
}

#[cfg(test)]
mod tests {
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
