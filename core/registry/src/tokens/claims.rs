//! What a token says.

use serde::{Deserialize, Deserializer, Serialize};

/// The claims of a token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claims {
    /// For whom it is meant.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_more"
    )]
    pub(super) aud: Vec<String>,
    /// When it ends, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "moment")]
    pub(super) exp: Option<i64>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "moment")]
    pub(super) iat: Option<i64>,
    /// Who made it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) iss: String,
    /// Its own name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) jti: String,
    /// What Kubernetes says in it.
    #[serde(rename = "kubernetes.io")]
    pub(super) kubernetes: Private,
    /// When it begins.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "moment")]
    pub(super) nbf: Option<i64>,
    /// The user name of the account.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) sub: String,
}

/// What a token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Private {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) namespace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<Ref>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pod: Option<Ref>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<Ref>,
    pub(super) serviceaccount: Ref,
    /// From when on its use should be noticed: the pod should have fetched a newer one by then.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "moment")]
    pub(super) warnafter: Option<i64>,
}

/// An object by name and identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Ref {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) uid: String,
}

/// A list, of which a single one may stand alone.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Listed {
        One(String),
        More(Vec<String>),
    }
    Ok(match Listed::deserialize(deserializer)? {
        Listed::One(one) => vec![one],
        Listed::More(all) => all,
    })
}

/// A moment in seconds, which may have a fraction that does not count.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let read = Option::<f64>::deserialize(deserializer)?;
    // Seconds of any century fit; what does not is held at the end of time.
    Ok(read.map(|seconds| seconds as i64))
}
