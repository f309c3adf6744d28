//! Where upstream keeps an object in etcd, which some of its messages tell.
//!
//! Upstream: `apiserver/pkg/registry/generic/options.go`, `pkg/kubeapiserver/default_storage_factory_builder.go`.

use flyball_schema::{Resource, builtin};

/// The key of an object.
pub(crate) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    let place = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "nodes") => "minions",
        ("", "services") => "services/specs",
        ("", "endpoints") => "services/endpoints",
        ("", "replicationcontrollers") => "controllers",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("apiextensions.k8s.io" | "apiregistration.k8s.io", plural) => {
            return format!("/registry/{}/{plural}/{name}", resource.group);
        }
        (_, plural) => plural,
    };
    // Custom resources stand under their group.
    let is_known = builtin().resource(&resource.group, &resource.version, &resource.plural);
    let place = match is_known {
        Some(_) => place.to_owned(),
        None => format!("{}/{place}", resource.group),
    };
    match namespace {
        "" => format!("/registry/{place}/{name}"),
        namespace => format!("/registry/{place}/{namespace}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_kinds_are_kept_under_other_names() {
        for (group, version, plural, namespace, want) in [
            ("", "v1", "pods", "a", "/registry/pods/a/x"),
            ("", "v1", "nodes", "", "/registry/minions/x"),
            ("", "v1", "services", "a", "/registry/services/specs/a/x"),
            (
                "apps",
                "v1",
                "deployments",
                "a",
                "/registry/deployments/a/x",
            ),
        ] {
            let resource = builtin().resource(group, version, plural).unwrap();
            assert_eq!(key(resource, namespace, "x"), want);
        }
        let mut custom = builtin().resource("", "v1", "pods").unwrap().clone();
        (custom.group, custom.plural) = ("example.com".into(), "things".into());
        assert_eq!(key(&custom, "a", "x"), "/registry/example.com/things/a/x");
    }
}
