//! Files of one volume that are in each other's way.
//!
//! Upstream: `warningsForOverlappingVirtualPaths` in `pkg/api/pod/warnings.go`.

use serde_json::Value;

/// A path, and where it comes from if there are several sources.
#[derive(PartialEq)]
struct Place {
    path: String,
    source: String,
}

impl Place {
    fn told(&self) -> String {
        match self.source.as_str() {
            "" => format!("{:?}", self.path),
            source => format!("{:?} ({source})", self.path),
        }
    }

    fn is_in_the_way_of(&self, other: &Place) -> bool {
        let (one, two) = (format!("{}/", self.path), format!("{}/", other.path));
        !self.path.is_empty()
            && !other.path.is_empty()
            && (one.starts_with(&two) || two.starts_with(&one))
    }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn items(source: &Value, told: &str) -> Vec<Place> {
    let all = source["items"].as_array().into_iter().flatten();
    all.map(|item| place(text(item, "path"), told)).collect()
}

fn place(path: &str, source: &str) -> Place {
    Place {
        path: path.trim_end_matches('/').to_owned(),
        source: source.to_owned(),
    }
}

/// What is told of volumes with files at the same place, or below each other.
pub(super) fn overlaps(volumes: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for volume in volumes.as_array().into_iter().flatten() {
        let name = text(volume, "name");
        let mut tell = |what: &str, places: Vec<Place>| {
            for (at, one) in places.iter().enumerate() {
                for other in places.iter().take(at) {
                    if other.is_in_the_way_of(one) {
                        let (one, other) = (one.told(), other.told());
                        told.push(format!(
                            "volume {name:?} ({what}): overlapping paths: {one} with {other}"
                        ));
                    }
                }
            }
        };
        let map = &volume["configMap"];
        tell(
            &format!("ConfigMap {:?}", text(map, "name")),
            items(map, ""),
        );
        let secret = &volume["secret"];
        tell(
            &format!("Secret {:?}", text(secret, "secretName")),
            items(secret, ""),
        );
        tell("DownwardAPI", items(&volume["downwardAPI"], ""));
        let sources = volume["projected"]["sources"].as_array();
        let sources = sources.into_iter().flatten();
        tell("Projected", sources.clone().flat_map(projected).collect());
        for source in sources {
            if source.as_object().is_none_or(serde_json::Map::is_empty) {
                told.push(format!(
                    "volume {name:?} (Projected) has no sources provided"
                ));
            }
        }
    }
    told
}

fn projected(source: &Value) -> Vec<Place> {
    let (map, secret) = (&source["configMap"], &source["secret"]);
    let token = &source["serviceAccountToken"];
    if map["items"].is_array() {
        items(map, &format!("ConfigMap {:?}", text(map, "name")))
    } else if secret["items"].is_array() {
        items(secret, &format!("Secret {:?}", text(secret, "name")))
    } else if source["downwardAPI"]["items"].is_array() {
        items(&source["downwardAPI"], "DownwardAPI")
    } else if token.is_object() {
        vec![place(text(token, "path"), "ServiceAccountToken")]
    } else {
        Vec::new()
    }
}
