//! Documents against those of a real kube-apiserver v1.36.4, which are in `golden`, for the resources
//! that both serve.

use std::collections::BTreeSet;
use std::path::Path;

use flyball_schema::{Resource, Subresource, builtin};
use serde_json::{Value, json};

use super::{aggregated, document, version};

fn golden(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/discovery/golden");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The custom resources that the real server had: `Ball` in two versions and `Bad`.
fn custom() -> Vec<Resource> {
    let verbs = [
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "create",
        "update",
        "watch",
    ];
    let verbs: Box<[_]> = verbs.map(Into::into).into();
    let change: Box<[_]> = ["get", "patch", "update"].map(Into::into).into();
    let part = |name: &str, [group, version, kind]: [&str; 3]| Subresource {
        name: name.into(),
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        verbs: change.clone(),
    };
    let bad = Resource {
        group: "fly.example.com".into(),
        version: "v1".into(),
        kind: "Bad".into(),
        list_kind: "BadList".into(),
        plural: "bads".into(),
        singular: "bad".into(),
        short_names: Box::default(),
        categories: Box::default(),
        namespaced: false,
        verbs,
        subresources: Box::default(),
        of: builtin().resources.first().unwrap().of,
    };
    let ball = Resource {
        kind: "Ball".into(),
        list_kind: "BallList".into(),
        plural: "balls".into(),
        singular: "ball".into(),
        short_names: ["bl".into()].into(),
        categories: ["all", "toys"].map(Into::into).into(),
        namespaced: true,
        ..bad.clone()
    };
    let older = Resource {
        version: "v1beta1".into(),
        ..ball.clone()
    };
    let parts = [
        part("status", ["fly.example.com", "v1", "Ball"]),
        part("scale", ["autoscaling", "v1", "Scale"]),
    ];
    let newer = Resource {
        subresources: parts.into(),
        ..ball
    };
    vec![older, bad, newer]
}

/// Built-in and custom resources together.
fn with_all<T>(then: impl FnOnce(&[&Resource]) -> T) -> T {
    let custom = custom();
    let all: Vec<&Resource> = builtin().resources.iter().chain(&custom).collect();
    then(&all)
}

/// The names of groups that are served.
fn served() -> BTreeSet<String> {
    with_all(|all| all.iter().map(|one| one.group.to_string()).collect())
}

/// The entries of a list that satisfy this.
fn only(list: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    list.as_array()
        .unwrap()
        .iter()
        .filter(|one| wanted(one))
        .cloned()
        .collect()
}

#[test]
fn the_core_group_lists_its_versions_and_where_to_find_it() {
    let upstream = golden("api");
    let address = upstream["serverAddressByClientCIDRs"][0]["serverAddress"]
        .as_str()
        .unwrap();
    let ours = with_all(|all| document("/api", all, &[("0.0.0.0/0", address)]));
    assert_eq!(ours, Some(upstream));
}

#[test]
fn groups_are_in_upstreams_order_with_upstreams_preferences() {
    let mut upstream = golden("apis");
    upstream["groups"] = only(&upstream["groups"], |group| {
        served().contains(group["name"].as_str().unwrap())
    });
    assert_eq!(with_all(|all| document("/apis/", all, &[])), Some(upstream));
}

#[test]
fn each_group_has_a_document() {
    for group in golden("groups").as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        let ours = with_all(|all| document(&format!("/apis/{name}"), all, &[]));
        let expected = served().contains(name).then(|| group.clone());
        assert_eq!(ours, expected, "{name}");
    }
}

#[test]
fn each_version_lists_its_resources() {
    for upstream in golden("resources").as_array().unwrap() {
        let version = upstream["groupVersion"].as_str().unwrap();
        let path = match version.split_once('/') {
            Some(_) => format!("/apis/{version}"),
            None => format!("/api/{version}"),
        };
        let Some(ours) = with_all(|all| document(&path, all, &[])) else {
            continue;
        };
        let names = |of: &Value| -> BTreeSet<String> {
            let entries = of["resources"].as_array().unwrap().iter();
            entries
                .map(|one| one["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert!(names(&ours).is_subset(&names(upstream)), "{version}");
        let mut expected = upstream.clone();
        expected["resources"] = only(&upstream["resources"], |one| {
            names(&ours).contains(one["name"].as_str().unwrap())
        });
        for entry in expected["resources"].as_array_mut().unwrap() {
            // A hint for clients that migrate storage, which we do not give.
            entry.as_object_mut().unwrap().remove("storageVersionHash");
        }
        if version.starts_with("fly.") {
            // Upstream lists custom resources in the order in which it heard of them.
            let list = expected["resources"].as_array_mut().unwrap();
            list.sort_by_key(|one| one["name"].as_str().unwrap().starts_with("balls"));
        }
        assert_eq!(ours, expected, "{version}");
    }
}

/// Leaves out of upstream's aggregated document what we do not serve.
fn narrowed(mut upstream: Value, ours: &Value) -> Value {
    upstream["items"] = only(&upstream["items"], |item| {
        found(ours, "items", item, "/metadata/name").is_some()
    });
    for item in upstream["items"].as_array_mut().unwrap() {
        let our_item = found(ours, "items", item, "/metadata/name").unwrap();
        for version in item["versions"].as_array_mut().unwrap() {
            let our_version = found(our_item, "versions", version, "/version").unwrap();
            version["resources"] = only(&version["resources"], |one| {
                found(our_version, "resources", one, "/resource").is_some()
            });
            for resource in version["resources"].as_array_mut().unwrap() {
                let ours = found(our_version, "resources", resource, "/resource").unwrap();
                if resource["subresources"].is_null() {
                    continue;
                }
                resource["subresources"] = only(&resource["subresources"], |one| {
                    found(ours, "subresources", one, "/subresource").is_some()
                });
                if resource["subresources"] == json!([]) {
                    resource.as_object_mut().unwrap().remove("subresources");
                }
            }
        }
    }
    upstream
}

/// The entry in one of our lists that has the same name as this one.
fn found<'a>(ours: &'a Value, list: &str, entry: &Value, name: &str) -> Option<&'a Value> {
    let list = ours.get(list).and_then(Value::as_array)?;
    list.iter()
        .find(|one| one.pointer(name) == entry.pointer(name))
}

#[test]
fn the_aggregated_documents_are_upstreams() {
    for (path, name) in [("/api", "aggregated_api"), ("/apis", "aggregated_apis")] {
        let ours = with_all(|all| aggregated(path, all)).unwrap();
        let expected = narrowed(golden(name), &ours);
        assert_eq!(ours, expected, "{path}");
        let resources = ours.to_string().matches("\"resource\":").count();
        assert!(resources > 10, "{path} has only {resources}");
    }
}

#[test]
fn other_paths_have_no_document() {
    for path in [
        "/",
        "/api/v2",
        "/apis/none",
        "/apis/apps/v9",
        "/apis/apps/v1/x",
        "/healthz",
    ] {
        assert_eq!(with_all(|all| document(path, all, &[])), None, "{path}");
    }
    for path in ["/api/v1", "/apis/apps", "/version"] {
        assert_eq!(with_all(|all| aggregated(path, all)), None, "{path}");
    }
}

#[test]
fn the_version_is_upstreams_with_our_mark() {
    let (ours, upstream) = (version(), golden("version"));
    let fields = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&ours), fields(&upstream));
    for field in ["major", "minor", "emulationMinor", "minCompatibilityMinor"] {
        assert_eq!(ours[field], upstream[field], "{field}");
    }
    let git = upstream["gitVersion"].as_str().unwrap();
    assert_eq!(ours["gitVersion"], format!("{git}+flyball"));
}
