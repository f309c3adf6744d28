//! Whether an object is of the kind that was asked for.

use flyball_api::{Kind, Text};
use serde::Deserialize;

/// Recognises objects of one kind, or takes any.
pub(super) struct TypeCheck(Option<Wanted>);

struct Wanted {
    kind: Kind,
    api_version: String,
    /// How the server begins every such object: spares a second look at all but strange ones.
    opening: String,
}

#[derive(Deserialize)]
struct Types {
    kind: Option<Text>,
    #[serde(rename = "apiVersion")]
    api_version: Option<Text>,
}

impl TypeCheck {
    pub(super) fn of(kind: Kind) -> Self {
        let api_version = kind.api_version();
        let opening = format!(r#"{{"kind":"{}","apiVersion":"{api_version}","#, kind.kind);
        Self(Some(Wanted {
            kind,
            api_version,
            opening,
        }))
    }

    pub(super) fn of_any() -> Self {
        Self(None)
    }

    /// Says what the object is if it is something else. What an object does not say, as those in
    /// lists do not, is not held against it.
    pub(super) fn check(&self, json: &[u8]) -> Result<(), String> {
        let Self(Some(wanted)) = self else {
            return Ok(());
        };
        if json.starts_with(wanted.opening.as_bytes()) {
            return Ok(());
        }
        let Ok(Types { kind, api_version }) = serde_json::from_slice(json) else {
            // Not an object at all; reading it will say so better.
            return Ok(());
        };
        let differs = |said: &Option<Text>, word: &str| said.as_ref().is_some_and(|s| s != word);
        if differs(&kind, wanted.kind.kind) || differs(&api_version, &wanted.api_version) {
            let kind = kind.unwrap_or_else(|| "?".into());
            let api_version = api_version.unwrap_or_else(|| "?".into());
            return Err(format!("{kind} of {api_version}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_its_kind_by_what_the_object_says() {
        let types = TypeCheck::of(Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets"));
        for good in [
            r#"{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{}}"#,
            r#"{"metadata":{},"apiVersion":"apps/v1","kind":"ReplicaSet"}"#,
            r#"{"metadata":{}}"#,
        ] {
            assert_eq!(types.check(good.as_bytes()), Ok(()));
        }
        let found = |json: &str| types.check(json.as_bytes()).unwrap_err();
        assert_eq!(found(r#"{"kind":"Pod","apiVersion":"v1"}"#), "Pod of v1");
        assert_eq!(
            found(r#"{"kind":"ReplicaSet","apiVersion":"x/v1"}"#),
            "ReplicaSet of x/v1"
        );
    }
}
