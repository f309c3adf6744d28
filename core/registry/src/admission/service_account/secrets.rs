//! Which secrets a pod refers to, and which its account lets it refer to.

use serde_json::Value;

use crate::object::{Meta, Object, at};

const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// Whether a pod refers to any secret.
pub(super) fn has_any(pod: &Object) -> bool {
    let list = |path: &str| {
        at(pod, path)
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let pulls = !list("spec.imagePullSecrets").is_empty();
    let kinds = [
        "spec.initContainers",
        "spec.containers",
        "spec.ephemeralContainers",
    ];
    let mut containers = kinds.iter().flat_map(|kind| list(kind));
    pulls
        || containers.any(|container| of_container(container).next().is_some())
        || list("spec.volumes").iter().any(in_volume)
}

/// Whether a volume refers to a secret: each kind of volume has its own word for it.
fn in_volume(volume: &Value) -> bool {
    match volume {
        Value::Object(fields) => fields.iter().any(|(field, value)| {
            let names = matches!(
                field.as_str(),
                "secretName" | "secretRef" | "nodePublishSecretRef" | "secret"
            );
            (names && !value.is_null()) || in_volume(value)
        }),
        Value::Array(all) => all.iter().any(in_volume),
        _ => false,
    }
}

/// The secrets that the environment of a container comes from: by which variable, and which.
fn of_container(container: &Value) -> impl Iterator<Item = (Option<&str>, &str)> {
    let one = container["env"].as_array().into_iter().flatten();
    let one = one.filter_map(|variable| {
        let from = variable["valueFrom"]["secretKeyRef"].as_object()?;
        let secret = from.get("name").and_then(Value::as_str).unwrap_or_default();
        Some((variable["name"].as_str(), secret))
    });
    let all = container["envFrom"].as_array().into_iter().flatten();
    let all = all.filter_map(|source| {
        let from = source["secretRef"].as_object()?;
        Some((
            None,
            from.get("name").and_then(Value::as_str).unwrap_or_default(),
        ))
    });
    one.chain(all)
}

/// What to tell whoever lets an account mind, which is going out of use.
pub(super) fn warning(account: &Object, old: Option<&Object>) -> Option<String> {
    let minds = |account: &Object| account.meta()["annotations"].get(ENFORCE).is_some();
    let is_newly_set = minds(account) && !old.is_some_and(minds);
    is_newly_set.then(|| {
        format!(
            "metadata.annotations[{ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to \
             mounted secrets"
        )
    })
}

/// Why a pod refers to a secret that its account does not, if the account minds. Once a pod exists,
/// only containers that come later are looked at.
pub(super) fn foreign(account: &Object, pod: &Object, is_creation: bool) -> Option<String> {
    let enforce = account.meta()["annotations"][ENFORCE].as_str();
    if !matches!(enforce, Some("1" | "t" | "T" | "TRUE" | "true" | "True")) {
        return None;
    }
    let owner = account.name();
    let has = |list: &str, name: &str| {
        let all = account
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        all.into_iter().any(|one| one["name"] == name)
    };
    let list = |path: &str| {
        at(pod, path)
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let in_containers = |kind: &str, path: &str| {
        list(path).iter().find_map(|container| {
            let name = container["name"].as_str().unwrap_or_default();
            let mut all = of_container(container);
            let (variable, secret) = all.find(|(_, secret)| !has("secrets", secret))?;
            let by = match variable {
                Some(variable) => format!("envVar {variable}"),
                None => "envFrom".to_owned(),
            };
            Some(format!(
                "{kind} {name} with {by} referencing secret.secretName=\"{secret}\" is not allowed because service \
                 account {owner} does not reference that secret"
            ))
        })
    };
    if !is_creation {
        return in_containers("ephemeral container", "spec.ephemeralContainers");
    }
    let in_volumes = || {
        let mut named = list("spec.volumes")
            .iter()
            .filter_map(|volume| volume["secret"]["secretName"].as_str());
        let secret = named.find(|secret| !has("secrets", secret))?;
        Some(format!(
            "volume with secret.secretName=\"{secret}\" is not allowed because service account {owner} does not \
             reference that secret"
        ))
    };
    let in_pulls = || {
        let mut named = list("spec.imagePullSecrets").iter().enumerate();
        let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        let (at, one) = named.find(|(_, one)| !has("imagePullSecrets", &name(one)))?;
        Some(format!(
            "imagePullSecrets[{at}].name=\"{}\" is not allowed because service account {owner} does not reference \
             that imagePullSecret",
            name(one)
        ))
    };
    in_volumes()
        .or_else(|| in_containers("init container", "spec.initContainers"))
        .or_else(|| in_containers("container", "spec.containers"))
        .or_else(in_pulls)
}
