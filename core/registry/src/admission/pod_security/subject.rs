//! A pod, or the template of one, as checks look at it.

use serde_json::Value;

use crate::object::{Meta, Object};

/// What is checked.
pub(super) struct Subject<'a> {
    pub(super) annotations: &'a Value,
    pub(super) spec: &'a Value,
}

impl<'a> Subject<'a> {
    pub(super) fn of_pod(pod: &'a Object) -> Self {
        Self {
            annotations: &pod.meta()["annotations"],
            spec: pod.get("spec").unwrap_or(&Value::Null),
        }
    }

    pub(super) fn of_template(template: &'a Value) -> Self {
        Self {
            annotations: &template["metadata"]["annotations"],
            spec: &template["spec"],
        }
    }

    /// All containers, in the order in which mistakes are told.
    pub(super) fn containers(&self) -> impl Iterator<Item = &'a Value> {
        let spec = self.spec;
        let fields = ["initContainers", "containers", "ephemeralContainers"];
        fields
            .into_iter()
            .flat_map(move |field| spec[field].as_array().into_iter().flatten())
    }

    /// The names of the containers that something is true of.
    pub(super) fn those(&self, bad: impl Fn(&'a Value) -> bool) -> Vec<&'a str> {
        let bad = self.containers().filter(|container| bad(container));
        bad.map(|container| container["name"].as_str().unwrap_or_default())
            .collect()
    }

    /// What the pod says for all its containers.
    pub(super) fn context(&self) -> &'a Value {
        &self.spec["securityContext"]
    }

    pub(super) fn is_windows(&self) -> bool {
        self.spec["os"]["name"] == "windows"
    }

    /// Whether its users are not those of the host.
    pub(super) fn has_own_users(&self) -> bool {
        self.spec["hostUsers"] == Value::Bool(false)
    }

    /// Whether an update from another state changes nothing that counts: which images run.
    pub(super) fn has_images_of(&self, old: &Subject<'a>) -> bool {
        let images = |subject: &Subject<'_>, field: &str| {
            let all = subject.spec[field].as_array().into_iter().flatten();
            all.map(|one| one["image"].clone()).collect::<Vec<Value>>()
        };
        let same = |field: &str| images(self, field) == images(old, field);
        let ephemeral = |subject: &Subject<'a>| subject.spec["ephemeralContainers"].as_array();
        let before = ephemeral(old);
        let is_old = |one: &Value| {
            let mut before = before.into_iter().flatten();
            before.any(|old| old["name"] == one["name"] && old["image"] == one["image"])
        };
        same("containers")
            && same("initContainers")
            && ephemeral(self).into_iter().flatten().all(is_old)
    }
}
