//! What is told whoever creates an object that is accepted although it will surprise.
//!
//! Upstream: `WarningsOnCreate` and `WarningsOnUpdate` in `pkg/registry/*/*/strategy.go`.

use flyball_schema::Resource;
use serde_json::Value;

use super::NameRule;
use crate::names;
use crate::object::{Meta, Object, at};

/// What is told whoever creates such an object, beside what its rules say.
pub(crate) fn on_create(resource: &Resource, object: &Object) -> Vec<String> {
    let mut told = Vec::new();
    let names_pods = matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("", "replicationcontrollers")
            | ("apps", "deployments" | "replicasets")
            | ("batch", "jobs" | "cronjobs")
    );
    let wrong = names::mistakes(NameRule::Label, object.name(), false);
    if names_pods && !wrong.is_empty() {
        told.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS \
             label is recommended: [{}]",
            wrong.join(" ")
        ));
    }
    told.extend(always(resource, object));
    told
}

/// What is told whoever creates or updates such an object, beside what its rules say.
pub(crate) fn always(resource: &Resource, object: &Object) -> Vec<String> {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "persistentvolumes") => {
            let recycles = at(object, "spec.persistentVolumeReclaimPolicy") == "Recycle";
            let told = "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the \
                        recommended approach is to use dynamic provisioning.";
            recycles.then(|| told.to_owned()).into_iter().collect()
        }
        ("", "secrets")
            if object
                .get("type")
                .is_some_and(|kind| kind == "kubernetes.io/tls") =>
        {
            pair(object).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What is wrong with the certificate and key of a secret, as far as it can be seen without reading them.
fn pair(secret: &Object) -> Option<String> {
    // What begins a block of PEM, in base64.
    let is_pem = |field: &str| {
        let text = secret.get("data").map_or(&Value::Null, |data| &data[field]);
        text.as_str()
            .is_some_and(|text| text.contains("LS0tLS1CRUdJTi"))
    };
    let missing = [("tls.crt", "certificate"), ("tls.key", "key")]
        .into_iter()
        .find(|(field, _)| !is_pem(field))?;
    Some(format!(
        "tls: failed to find any PEM data in {} input",
        missing.1
    ))
}

#[cfg(test)]
mod tests {
    use flyball_schema::builtin;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_pods_cannot_have_as_hosts_are_told() {
        let deployments = builtin().resource("apps", "v1", "deployments").unwrap();
        let object = |name: &str| {
            json!({"metadata": {"name": name}})
                .as_object()
                .unwrap()
                .clone()
        };
        assert!(on_create(deployments, &object("web")).is_empty());
        let told = on_create(deployments, &object("web.example"));
        assert!(
            told[0].ends_with("a DNS label is recommended: [must not contain dots]"),
            "{told:?}"
        );
    }

    #[test]
    fn secrets_without_pem_are_told() {
        let secrets = builtin().resource("", "v1", "secrets").unwrap();
        let secret = json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}});
        let told = on_create(secrets, secret.as_object().unwrap());
        assert_eq!(
            told,
            ["tls: failed to find any PEM data in certificate input"]
        );
    }
}
