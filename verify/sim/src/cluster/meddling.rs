//! Hands that meddle: with what is stored at that moment, which nobody planned for.

use flyball_api::request::Method;
use flyball_api::{LeanMeta, Uid};
use serde_json::{Value, json};

use super::Cluster;
use super::flights::{Flight, Purpose};
use crate::faults::Meddling;
use crate::parts::NODES;

const PODS: &str = "pods";
const SETS: &str = "replicasets.apps";

impl Cluster {
    pub(super) fn meddle(&mut self, kind: &'static str, meddling: Meddling, pick: u64) {
        match meddling {
            Meddling::DeletePod => {
                if let Some(meta) = self.pick(PODS, pick, |meta| !meta.is_deleting()) {
                    self.hit_watchers_of(kind, PODS);
                    self.by_hand(Method::Delete, &pod_path(&meta), None);
                }
            }
            Meddling::TakePod => {
                if let Some(meta) = self.pick(PODS, pick, |meta| meta.controller().is_some()) {
                    self.hit_watchers_of(kind, PODS);
                    self.by_hand(Method::Delete, &pod_path(&meta), Some(&at_once()));
                }
            }
            Meddling::RelabelPod => {
                if let Some(meta) = self.pick_owned(PODS, pick) {
                    self.hit_watchers_of(kind, PODS);
                    let patch = json!({"metadata": {"labels": {"app": "stray"}}});
                    self.by_hand(Method::MergePatch, &pod_path(&meta), Some(&patch));
                }
            }
            Meddling::DeleteSet => {
                if let Some(meta) = self.pick_owned(SETS, pick) {
                    self.hit_watchers_of(kind, "replicasets");
                    self.by_hand(Method::Delete, &set_path(&meta), None);
                }
            }
            Meddling::ScaleSet => {
                if let Some(meta) = self.pick(SETS, pick, |meta| meta.controller().is_some()) {
                    self.hit_watchers_of(kind, "replicasets");
                    let patch = json!({"spec": {"replicas": pick % 5}});
                    self.by_hand(Method::MergePatch, &set_path(&meta), Some(&patch));
                }
            }
            Meddling::EditStatus => {
                if let Some(meta) = self.pick(SETS, pick, |_| true) {
                    self.hit_watchers_of(kind, "replicasets");
                    let path = format!("{}/status", set_path(&meta));
                    let foreign = json!({"type": "example.com/Reviewed", "status": "True"});
                    let nonsense = json!({
                        "replicas": 9, "readyReplicas": 0, "availableReplicas": 0,
                        "conditions": [foreign],
                    });
                    let patch = json!({"status": nonsense});
                    self.by_hand(Method::StrategicPatch, &path, Some(&patch));
                }
            }
            Meddling::DeleteAccount => {
                self.hit_watchers_of(kind, "serviceaccounts");
                let path = "/api/v1/namespaces/blue/serviceaccounts/default";
                self.by_hand(Method::Delete, path, None);
            }
            Meddling::EditCertificate => {
                self.hit_watchers_of(kind, "configmaps");
                let path = "/api/v1/namespaces/green/configmaps/kube-root-ca.crt";
                let patch = json!({"data": {"ca.crt": "mine"}});
                self.by_hand(Method::MergePatch, path, Some(&patch));
            }
            Meddling::EditRole => {
                self.hit_watchers_of(kind, "clusterroles");
                let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/sum";
                self.by_hand(Method::MergePatch, path, Some(&json!({"rules": []})));
            }
            Meddling::DeleteNode => {
                let node = pick % u64::try_from(NODES).unwrap_or(1);
                self.remove(kind, "nodes", &format!("/api/v1/nodes/node-{node}"));
            }
            Meddling::DeleteJob => {
                if let Some(meta) = self.pick("jobs.batch", pick, |_| true) {
                    let LeanMeta {
                        namespace, name, ..
                    } = &meta;
                    let path = format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
                    self.remove(kind, "jobs", &path);
                }
            }
            Meddling::DeleteRole => {
                let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/part-0";
                self.remove(kind, "clusterroles", path);
            }
            Meddling::DeleteCertificate => {
                let path = "/api/v1/namespaces/blue/configmaps/kube-root-ca.crt";
                self.remove(kind, "configmaps", path);
            }
            Meddling::DeleteSpace => self.remove(kind, "namespaces", "/api/v1/namespaces/red"),
            Meddling::Label => self.label(kind, pick),
            // It waits for a write, and is done where that is handled.
            Meddling::Replace => {}
        }
    }

    fn remove(&mut self, kind: &'static str, plural: &str, path: &str) {
        self.hit_watchers_of(kind, plural);
        self.by_hand(Method::Delete, path, None);
    }

    /// Puts a label on an object of one of many sorts.
    fn label(&mut self, kind: &'static str, pick: u64) {
        const SORTS: [(&str, &str, &str); 7] = [
            ("namespaces", "/api/v1", "namespaces"),
            ("nodes", "/api/v1", "nodes"),
            ("jobs.batch", "/apis/batch/v1", "jobs"),
            (
                "replicationcontrollers",
                "/api/v1",
                "replicationcontrollers",
            ),
            ("serviceaccounts", "/api/v1", "serviceaccounts"),
            ("deployments.apps", "/apis/apps/v1", "deployments"),
            (
                "widgets.sim.example.com",
                "/apis/sim.example.com/v1",
                "widgets",
            ),
        ];
        let at = usize::try_from(pick % 7).unwrap_or_default();
        let (resource, root, plural) = SORTS[at];
        let Some(meta) = self.pick(resource, pick / 7, |_| true) else {
            return;
        };
        self.hit_watchers_of(kind, plural);
        let path = match meta.namespace.as_str() {
            "" => format!("{root}/{plural}/{}", meta.name),
            space => format!("{root}/namespaces/{space}/{plural}/{}", meta.name),
        };
        let labels = json!({"touched": (pick % 1000).to_string()});
        let patch = json!({"metadata": {"labels": labels}});
        self.by_hand(Method::MergePatch, &path, Some(&patch));
    }

    /// One of the objects that somebody manages. Pods that do not do well are left to their owners:
    /// without one they would never settle.
    fn pick_owned(&mut self, resource: &str, pick: u64) -> Option<LeanMeta> {
        let ill = self.truth.pods("").filter(|pod| self.truth.misbehaves(pod));
        let ill = ill.flat_map(|pod| {
            let owner = pod.metadata.controller().map(|owner| owner.uid.clone());
            owner.into_iter().chain([pod.metadata.uid.clone()])
        });
        let ill: Vec<Uid> = ill.collect();
        let would_do = |meta: &LeanMeta| meta.controller().is_some() && !ill.contains(&meta.uid);
        self.pick(resource, pick, would_do)
    }

    /// One of the objects that would do.
    fn pick(
        &mut self,
        resource: &str,
        pick: u64,
        would_do: impl Fn(&LeanMeta) -> bool,
    ) -> Option<LeanMeta> {
        let all = self.truth.all(resource, "").map(|thing| thing.meta());
        let would: Vec<&LeanMeta> = all.filter(|meta| would_do(meta)).collect();
        let at = pick.checked_rem(u64::try_from(would.len()).ok()?)?;
        would
            .get(usize::try_from(at).ok()?)
            .map(|meta| (*meta).clone())
    }

    /// Right before a controller writes to a pod or a ReplicaSet, puts another in its place.
    pub(super) fn replace_before(&mut self, flight: &Flight, controller: &'static str) {
        let is_for = |resource: &str| flight.asked.path.contains(&format!("/{resource}/"));
        let of_object = matches!(flight.purpose, Purpose::Action { .. })
            && !matches!(flight.asked.method, Method::Get | Method::Post)
            && !flight.asked.path.ends_with("/status");
        if self.effects.replacements == 0 || !of_object {
            return;
        }
        let path = flight.asked.path.clone();
        let mut parts = path.rsplit('/');
        let (name, plural, space) = (parts.next(), parts.next(), parts.next());
        let (Some(name), Some(_), Some(space)) = (name, plural, space) else {
            return;
        };
        let (collection, body) = if is_for(PODS) {
            let body = json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "labels": {"app": "stranger"}},
                "spec": {"containers": [{"name": "main", "image": "stranger"}]},
            });
            (format!("/api/v1/namespaces/{space}/pods"), body)
        } else if is_for("replicasets") {
            let labels = json!({"app": "stranger"});
            let body = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {"name": name, "labels": labels},
                "spec": {
                    "replicas": 0,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "main", "image": "stranger"}]},
                    },
                },
            });
            (
                format!("/apis/apps/v1/namespaces/{space}/replicasets"),
                body,
            )
        } else {
            return;
        };
        self.effects.replacements -= 1;
        self.tally.hit("replaced by hand", controller);
        self.by_hand(Method::Delete, &path, Some(&at_once()));
        self.by_hand(Method::Post, &collection, Some(&body));
    }
}

/// Options of a delete that does not wait.
fn at_once() -> Value {
    json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
}

fn pod_path(meta: &LeanMeta) -> String {
    format!("/api/v1/namespaces/{}/pods/{}", meta.namespace, meta.name)
}

fn set_path(meta: &LeanMeta) -> String {
    let LeanMeta {
        namespace, name, ..
    } = meta;
    format!("/apis/apps/v1/namespaces/{namespace}/replicasets/{name}")
}
