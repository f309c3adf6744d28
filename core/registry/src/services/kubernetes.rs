//! The service by which pods reach the API server, and where its addresses come from.
//!
//! Upstream: `pkg/controlplane/controller/{kubernetesservice,defaultservicecidr}`,
//! `pkg/controlplane/reconcilers`.

use core::net::SocketAddr;

use flyball_api::Timestamp;
use serde_json::{Value, json};

use super::address_objects::GROUP;
use super::addresses::Range;
use crate::internal;
use crate::managed::Note;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::{Registry, key};
use crate::request::Chance;

/// Where services' addresses come from: the range that kubeadm chooses too.
const ADDRESSES: &str = "10.96.0.0/12";

/// The port of a server that listens nowhere.
const PORT: u16 = 6443;

const NAME: &str = "kubernetes";
const NAMESPACE: &str = "default";

/// Makes the range of addresses and the service of the API server, unless they are there.
pub(crate) fn ensure(registry: &mut Registry, now: Timestamp, chance: &mut Chance<'_>) {
    let range = json!({
        "metadata": {"name": NAME},
        "spec": {"cidrs": [ADDRESSES]},
    });
    registry.make((GROUP, "servicecidrs"), "", range, now, chance);
    registry.judge_range(now);
    let address = Range::parse(ADDRESSES, true).and_then(|range| range.first());
    let service = json!({
        "metadata": {
            "name": NAME,
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": address,
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": PORT}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    });
    registry.make(("", "services"), NAMESPACE, service, now, chance);
}

impl Registry {
    /// Tells where the API server can be reached: in the service, its Endpoints and its EndpointSlice.
    /// An address of this machine alone is told as any other, although nobody else may write one.
    pub fn advertise(&mut self, address: SocketAddr, now: Timestamp, chance: &mut Chance<'_>) {
        self.tell_address(address.to_string());
        let (ip, port) = (address.ip().to_string(), address.port());
        let family = if address.is_ipv6() { "IPv6" } else { "IPv4" };
        self.put_own(("", "services"), now, chance, |service| {
            if let Some(Value::Array(ports)) =
                service.get_mut("spec").map(|spec| &mut spec["ports"])
                && let Some(first) = ports.first_mut()
            {
                first["targetPort"] = port.into();
            }
        });
        let endpoints = json!([{
            "addresses": [{"ip": ip}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        }]);
        self.put_own(("", "endpoints"), now, chance, |object| {
            let labels = json!({"endpointslice.kubernetes.io/skip-mirror": "true"});
            object.meta_mut().insert("labels".to_owned(), labels);
            object.insert("subsets".to_owned(), endpoints.clone());
        });
        self.put_own(
            ("discovery.k8s.io", "endpointslices"),
            now,
            chance,
            |slice| {
                let labels = json!({"kubernetes.io/service-name": NAME});
                slice.meta_mut().insert("labels".to_owned(), labels);
                slice.insert("addressType".to_owned(), family.into());
                let endpoint = json!({"addresses": [ip], "conditions": {"ready": true}});
                slice.insert("endpoints".to_owned(), json!([endpoint]));
                let port = json!({"name": "https", "port": port, "protocol": "TCP"});
                slice.insert("ports".to_owned(), json!([port]));
            },
        );
    }

    /// Creates an object as the server itself, unless one of its name is there.
    fn make(
        &mut self,
        (group, plural): (&str, &str),
        namespace: &str,
        object: Value,
        now: Timestamp,
        chance: &mut Chance<'_>,
    ) {
        let kind = self.served().find(group, "v1", plural).cloned();
        let (Some(kind), Value::Object(mut object)) = (kind, object) else {
            return;
        };
        if self
            .store()
            .get(&key(&kind, namespace, object.name()))
            .is_some()
        {
            return;
        }
        object.insert("apiVersion".to_owned(), kind.api_version().into());
        object.insert("kind".to_owned(), kind.kind.as_str().into());
        let call = internal::call(kind, namespace, "", now);
        // Only a mistake in this program could make one of these invalid; a test looks for them.
        let _ = self.insert(&call, object, Note::Update, chance);
    }

    /// Says that the range is ready, unless somebody has said something of it.
    fn judge_range(&mut self, now: Timestamp) {
        let Some(kind) = self.served().find(GROUP, "v1", "servicecidrs").cloned() else {
            return;
        };
        let mut call = internal::call(kind, "", NAME, now);
        let Ok((seen, old)) = self.read(&call) else {
            return;
        };
        let is_judged = at(&old, "status.conditions")
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if is_judged || at(&old, "spec.cidrs") != &json!([ADDRESSES]) {
            return;
        }
        let mut new = old.clone();
        new.insert(
            "status".to_owned(),
            json!({"conditions": [{
                "type": "Ready",
                "status": "True",
                "reason": "",
                "message": "Kubernetes default Service CIDR is ready",
                "lastTransitionTime": stamp(now),
            }]}),
        );
        call.path.subresource = "status".into();
        call.query.field_manager = "kubernetes-service-cidr-controller".into();
        self.store_own(&call, Some((seen, &old)), new);
    }

    /// Changes the object of the API server's name, or makes it. It is not validated.
    fn put_own(
        &mut self,
        (group, plural): (&str, &str),
        now: Timestamp,
        chance: &mut Chance<'_>,
        change: impl FnOnce(&mut Object),
    ) {
        let Some(kind) = self.served().find(group, "v1", plural).cloned() else {
            return;
        };
        let call = internal::call(kind.clone(), NAMESPACE, NAME, now);
        let found = self.read(&call).ok();
        let mut object = match &found {
            Some((_, old)) => old.clone(),
            None => {
                let object = json!({
                    "apiVersion": kind.api_version(),
                    "kind": kind.kind,
                    "metadata": {
                        "name": NAME,
                        "namespace": NAMESPACE,
                        "uid": chance.uid(),
                        "creationTimestamp": stamp(now),
                    },
                });
                object.as_object().cloned().unwrap_or_default()
            }
        };
        if found.is_none() && kind.rules().has_generation() {
            object.meta_mut().insert("generation".to_owned(), 1.into());
        }
        change(&mut object);
        kind.rules().default(&mut object);
        let before = found.as_ref().map(|(seen, old)| (*seen, old));
        self.store_own(&call, before, object);
    }

    /// Stores what the server says of itself.
    fn store_own(
        &mut self,
        call: &crate::registry::Call<'_>,
        before: Option<(flyball_storage::Revision, &Object)>,
        mut object: Object,
    ) {
        if before.is_some_and(|(_, old)| *old == object) {
            return;
        }
        let rules = call.rules();
        if let Some((_, old)) = before
            && rules.has_generation()
            && call.path.subresource.is_empty()
            && rules.bumps_generation(&object, old)
        {
            let generation = old.generation() + 1;
            object
                .meta_mut()
                .insert("generation".to_owned(), generation.into());
        }
        crate::managed::note(call, before.map(|(_, old)| old), &mut object);
        let place = key(&call.resource, object.namespace(), object.name());
        let transaction = |stored| match before {
            Some((seen, _)) => flyball_storage::Transaction::update(place, seen, stored),
            None => flyball_storage::Transaction::create(place, stored),
        };
        // Nobody else writes between the read and this.
        let _ = self.write(call, &mut object, transaction);
    }
}
