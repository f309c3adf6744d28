//! What users of a deprecated version are told.
//!
//! Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`,
//! `defaultDeprecationWarning`.

use serde_json::Value;

use crate::discovery::precedence;

/// The warning for a version of a definition, if it is deprecated.
pub(super) fn warning(spec: &Value, version: &Value) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    if let Some(own) = version["deprecationWarning"].as_str() {
        return Some(own.to_owned());
    }
    let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
    let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
    let name = text(&version["name"]);
    let told = format!("{group}/{name} {kind} is deprecated");
    let others = spec["versions"].as_array().into_iter().flatten();
    let better = others
        .filter(|other| other["served"] == true && other["deprecated"] != true)
        .filter_map(|other| other["name"].as_str())
        .filter(|other| precedence(other) < precedence(&name))
        .min_by_key(|other| precedence(other));
    Some(match better {
        Some(better) => format!("{told}; use {group}/{better} {kind}"),
        None => told,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deprecated_version_names_the_newest_that_is_not() {
        let spec = json!({
            "group": "example.com", "names": {"kind": "Thing"},
            "versions": [
                {"name": "v1beta1", "served": true, "deprecated": true},
                {"name": "v1", "served": true},
                {"name": "v2", "served": true},
                {"name": "v3", "served": false},
                {"name": "v4", "served": true, "deprecated": true, "deprecationWarning": "own words"},
                {"name": "v9", "served": true, "deprecated": true},
            ],
        });
        let told = |at: usize| warning(&spec, &spec["versions"][at]);
        let first = "example.com/v1beta1 Thing is deprecated; use example.com/v2 Thing";
        assert_eq!(told(0).as_deref(), Some(first));
        assert_eq!(told(1), None);
        assert_eq!(told(4).as_deref(), Some("own words"));
        assert_eq!(
            told(5).as_deref(),
            Some("example.com/v9 Thing is deprecated")
        );
    }
}
