//! One APIService for each group and version that is served, built in or custom.
//!
//! Upstream: `pkg/controlplane/apiserver/aggregator.go` (priorities),
//! `kube-aggregator/pkg/controllers/autoregister`,
//! `pkg/controlplane/controller/crdregistration`.

use std::collections::BTreeMap;

use flyball_api::Timestamp;
use flyball_storage::{Query as Range, Transaction};
use serde_json::{Value, json};

use crate::managed::Note;
use crate::object::{Meta, Object};
use crate::registry::{Registry, key, prefix};
use crate::request::Chance;

const GROUP: &str = "apiregistration.k8s.io";
const PLURAL: &str = "apiservices";

/// The label by which the server knows those that it made: made at its start, or coming and going with
/// a definition.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";

/// How much groups and versions that are built in are preferred to others.
const PRIORITIES: &[(&str, &str, u32, u32)] = &[
    ("", "v1", 18000, 1),
    ("admissionregistration.k8s.io", "v1", 16700, 15),
    ("apiextensions.k8s.io", "v1", 16700, 15),
    ("apps", "v1", 17800, 15),
    ("authentication.k8s.io", "v1", 17700, 15),
    ("authorization.k8s.io", "v1", 17600, 15),
    ("autoscaling", "v1", 17500, 15),
    ("autoscaling", "v2", 17500, 30),
    ("batch", "v1", 17400, 15),
    ("certificates.k8s.io", "v1", 17300, 15),
    ("coordination.k8s.io", "v1", 16500, 15),
    ("discovery.k8s.io", "v1", 16200, 15),
    ("events.k8s.io", "v1", 17750, 15),
    ("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
    ("networking.k8s.io", "v1", 17200, 15),
    ("node.k8s.io", "v1", 16300, 15),
    ("policy", "v1", 17100, 15),
    ("rbac.authorization.k8s.io", "v1", 17000, 15),
    ("resource.k8s.io", "v1", 16200, 21),
    ("scheduling.k8s.io", "v1", 16600, 15),
    ("storage.k8s.io", "v1", 16800, 15),
];

/// The priorities of groups and versions of definitions.
const CUSTOM: (u32, u32) = (1000, 100);

impl Registry {
    /// Makes the APIServices that are missing, and removes those of versions that went with their
    /// definition.
    pub(crate) fn settle_api_services(&mut self, now: Timestamp, chance: &mut Chance<'_>) {
        let wanted = self.wanted_api_services();
        let Some(call) = self.own_call(GROUP, "v1", PLURAL, now) else {
            return;
        };
        let place = prefix(&call.resource, "");
        let found = self.store().range(&Range::prefix(&place));
        let found: Vec<(_, Object)> = match found {
            Ok(page) => {
                let items = page.items.iter();
                items
                    .map(|item| (item.modified, item.value.object(&call.resource)))
                    .collect()
            }
            Err(_) => return,
        };
        for (seen, service) in &found {
            let comes_and_goes = service.meta()["labels"][MANAGED] == "true";
            if comes_and_goes && !wanted.contains_key(service.name()) {
                let place = key(&call.resource, "", service.name());
                // Nobody else writes meanwhile.
                let _ = self.commit(Transaction::remove(place, *seen));
            }
        }
        for (name, service) in wanted {
            if !found.iter().any(|(_, one)| one.name() == name) {
                // Only a mistake in this program could make one of these invalid; a test reads them all.
                let _ = self.insert(&call, service, Note::Update, chance);
            }
        }
    }

    fn wanted_api_services(&self) -> BTreeMap<String, Object> {
        let mut wanted = BTreeMap::new();
        for kind in self.served().kinds() {
            let (group, version) = (kind.group.as_str(), kind.version.as_str());
            let known = PRIORITIES
                .iter()
                .find(|(of, one, ..)| *of == group && *one == version);
            let (label, (of_group, of_version)) = match known {
                Some((_, _, of_group, of_version)) => ("onstart", (*of_group, *of_version)),
                None if kind.of_definition().is_some() => ("true", CUSTOM),
                // The group of APIServices themselves has none.
                None => continue,
            };
            let name = format!("{version}.{group}");
            let mut spec = json!({
                "version": version,
                "groupPriorityMinimum": of_group,
                "versionPriority": of_version,
            });
            if !group.is_empty() {
                spec["group"] = group.into();
            }
            let service = json!({
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": name, "labels": {MANAGED: label}},
                "spec": spec,
            });
            if let Value::Object(service) = service {
                wanted.insert(name, service);
            }
        }
        wanted
    }
}
