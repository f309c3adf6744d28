//! Addresses as objects: an IPAddress says that an address is taken and by which service, a
//! ServiceCIDR says which addresses there are.
//!
//! Upstream: `pkg/registry/core/service/ipallocator/{ipallocator,cidrallocator}.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_storage::{Expect, Query, Transaction};
use serde_json::{Value, json};

use super::addresses::Range;
use super::{Spec, is_services};
use crate::internal;
use crate::managed;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry, key, prefix};
use crate::request::Chance;
use crate::served::Kind;
use crate::stored::Stored;

pub(super) const GROUP: &str = "networking.k8s.io";

/// What is written in the transaction of a service beside the service.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    puts: Vec<(String, Arc<Stored>)>,
    deletes: Vec<String>,
}

impl Beside {
    /// The transaction with these writes.
    pub(crate) fn join(
        self,
        mut transaction: Transaction<Arc<Stored>>,
    ) -> Transaction<Arc<Stored>> {
        for (place, stored) in self.puts {
            let is_free = transaction.given(place.clone(), Expect::Absent);
            transaction = is_free.put(place, stored);
        }
        for place in self.deletes {
            transaction = transaction.delete(place);
        }
        transaction
    }
}

impl Registry {
    /// The kind of IPAddresses.
    pub(super) fn address_resource(&self) -> Option<Arc<Kind>> {
        self.served().find(GROUP, "v1", "ipaddresses").cloned()
    }

    /// The ranges that ServiceCIDRs name, in order of their names.
    pub(super) fn address_ranges(&self) -> Vec<Range> {
        let Some(resource) = self.served().find(GROUP, "v1", "servicecidrs") else {
            return Vec::new();
        };
        let place = prefix(resource, "");
        let found = self.store().range(&Query::prefix(&place));
        let all = found.map(|page| page.items).unwrap_or_default();
        let objects = all.iter().map(|item| item.value.bare_object());
        objects.flat_map(|object| ranges_of(&object)).collect()
    }

    /// What has to be written beside a service that changes from one state to another: addresses that
    /// it gained and lost, and with its end its Endpoints, so that the next service of its name does
    /// not start with them.
    pub(crate) fn beside(
        &self,
        call: &Call<'_>,
        before: Option<&Object>,
        after: Option<(&Object, &mut Chance<'_>)>,
    ) -> Beside {
        let mut beside = Beside::default();
        if !is_services(&call.resource) {
            return beside;
        }
        let Some(addresses) = self.address_resource() else {
            return beside;
        };
        let held = |service: &Object| -> BTreeSet<String> {
            Spec::read(service).addresses().iter().cloned().collect()
        };
        let lost = before.map(held).unwrap_or_default();
        // An address that another service holds stays with it.
        let is_own = |place: &String| {
            let Some(found) = self.store().get(place) else {
                return false;
            };
            let found = found.value.bare_object();
            let parent = at(&found, "spec.parentRef");
            before.is_some_and(|service| {
                parent["resource"] == "services"
                    && parent["namespace"] == service.namespace()
                    && parent["name"] == service.name()
            })
        };
        match after {
            None => {
                let services = before.map(|service| (service.namespace(), service.name()));
                let endpoints = self.served().find("", "v1", "endpoints");
                if let (Some((namespace, name)), Some(endpoints)) = (services, endpoints) {
                    beside.deletes.push(key(endpoints, namespace, name));
                }
                let places = lost.iter().map(|address| key(&addresses, "", address));
                beside.deletes.extend(places.filter(is_own));
            }
            Some((service, chance)) => {
                let gained = held(service);
                for address in gained.difference(&lost) {
                    let object = self.address_object(&addresses, address, service, call, chance);
                    let place = key(&addresses, "", address);
                    beside.puts.push((place, Stored::new(&object)));
                }
                let lost = lost.difference(&gained);
                let places = lost.map(|address| key(&addresses, "", address));
                beside.deletes.extend(places.filter(is_own));
            }
        }
        beside
    }

    fn address_object(
        &self,
        kind: &Arc<Kind>,
        address: &str,
        service: &Object,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Object {
        let now: Timestamp = call.request.now;
        let object = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "metadata": {
                "name": address,
                "uid": chance.uid(),
                "creationTimestamp": stamp(now),
                "labels": {
                    "ipaddress.kubernetes.io/ip-family": "IPv4",
                    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
                },
            },
            "spec": {"parentRef": {
                "name": service.name(),
                "namespace": service.namespace(),
                "resource": "services",
            }},
        });
        let Value::Object(mut object) = object else {
            return Object::new();
        };
        let own = internal::call(kind.clone(), "", address, now);
        managed::note(&own, None, &mut object);
        let version = self.revision().next().0.to_string();
        object
            .meta_mut()
            .insert("resourceVersion".to_owned(), version.into());
        object
    }
}

/// The ranges of one ServiceCIDR. One that nobody has judged counts as ready.
fn ranges_of(object: &Object) -> Vec<Range> {
    let conditions = at(object, "status.conditions").as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .find(|one| one["type"] == "Ready");
    let is_ready = ready.is_none_or(|one| one["status"] == "True") && !object.is_deleting();
    let all = at(object, "spec.cidrs").as_array().into_iter().flatten();
    all.filter_map(|text| Range::parse(text.as_str()?, is_ready))
        .collect()
}
