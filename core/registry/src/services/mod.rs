//! Services' addresses and ports: taken when a service is written, free when it is gone.
//!
//! Who holds an address is stored: each has an IPAddress object, which is written and deleted in the
//! transaction of its service, so the two cannot disagree. Which node ports are held is read from the
//! services themselves whenever one changes. Nothing else is remembered, so nothing can leak.
//!
//! Upstream: `pkg/registry/core/service/storage/{storage,alloc}.go`.

mod address_objects;
mod addresses;
mod families;
mod kept;
mod kubernetes;
mod node_ports;
mod spec;
#[cfg(test)]
mod tests;
mod unallocated;

use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flyball_schema::Resource;
use flyball_storage::{Event, Query as Range};
use serde_json::json;

use self::addresses::AddressRefused;
pub(crate) use self::kubernetes::ensure as ensure_kubernetes;
pub(crate) use self::node_ports::NodePorts;
use self::node_ports::{Draft, PortRefused};
use self::spec::Port;
pub(crate) use self::spec::Spec;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::stored::Stored;

/// Where services are stored.
const PLACE: &str = "/registry/services/";

/// What an update of a service leaves out although it is allocated.
#[cfg(test)]
pub(crate) fn keep_allocated(new: &mut Object, old: &Object) {
    let (mut spec, old) = (Spec::read(new), Spec::read(old));
    kept::keep(&mut spec, &old);
    kept::normalize(&mut spec, Some(&old));
    if spec.needs_cluster_ip() && spec.families.is_empty() {
        (spec.families, spec.policy) = (old.families, old.policy);
    }
    spec.write(new);
}

/// Whether a resource is that of services.
fn is_services(resource: &Resource) -> bool {
    resource.plural == "services" && resource.group.is_empty()
}

impl Registry {
    /// Gives a service the addresses and ports that it needs. Of any other object nothing is changed.
    pub(crate) fn allocate(
        &self,
        call: &Call<'_>,
        new: &mut Object,
        old: Option<&Object>,
        chance: &mut Chance<'_>,
    ) -> Result<(), Failure> {
        if !is_services(&call.resource) {
            return Ok(());
        }
        let mut spec = Spec::read(new);
        let old = old.map(Spec::read);
        if !call.path.subresource.is_empty() {
            // What is made by writing its status is given nothing, and must have all that it needs.
            return match old {
                None => self.check_unallocated(&spec, new.name()),
                Some(_) => Ok(()),
            };
        }
        if let Some(old) = &old {
            kept::keep(&mut spec, old);
        }
        kept::normalize(&mut spec, old.as_ref());
        let invalid =
            |errors: Vec<FieldError>| Failure::invalid("", "Service", new.name(), &errors);
        families::fill(&mut spec, old.as_ref()).map_err(invalid)?;
        let gains_address = match &old {
            None => true,
            Some(old) => !old.needs_cluster_ip(),
        };
        if gains_address {
            self.take_address(call, new.name(), &mut spec, chance)?;
        }
        let mut draft = Draft::new(self.node_ports(), call.query.dry_run);
        let refused = match &old {
            None => take_ports(&mut spec, &mut draft, chance),
            Some(old) => change_ports(&mut spec, old, &mut draft, chance),
        };
        refused.map_err(|refusal| refusal.answer(new.name()))?;
        spec.write(new);
        Ok(())
    }

    fn take_address(
        &self,
        call: &Call<'_>,
        name: &str,
        spec: &mut Spec,
        chance: &mut Chance<'_>,
    ) -> Result<(), Failure> {
        if !spec.needs_cluster_ip() || spec.is_headless() {
            return Ok(());
        }
        let ranges = self.address_ranges();
        let is_taken = |address: Ipv4Addr| self.has_address(&address.to_string());
        let ips = json!(spec.cluster_ips);
        let invalid = |why: String| {
            let error = FieldError::invalid("spec.clusterIPs", ips, why);
            Failure::invalid("", "Service", name, &[error])
        };
        let wanted = spec.cluster_ips.first().cloned().unwrap_or_default();
        let ip = match wanted.as_str() {
            "" => {
                let free = match (call.query.dry_run, ranges.first()) {
                    (true, Some(range)) => Ok(range.network()),
                    _ => addresses::next(&ranges, is_taken, chance),
                };
                let free = free.map_err(|refusal| {
                    Failure::internal(&format!(
                        "failed to allocate a serviceIP for Service {name:?}: {refusal}"
                    ))
                })?;
                // The address is an object of its own, which names its service.
                let wrong = match name {
                    "" => vec!["Required value".to_owned()],
                    name => {
                        let wrong = names::mistakes(NameRule::PathSegment, name, false);
                        let told = |why| format!("Invalid value: {name:?}: {why}");
                        wrong.into_iter().map(told).collect()
                    }
                };
                if let Some(why) = wrong.first().filter(|_| !call.query.dry_run) {
                    let ips = json!([""]);
                    let error = FieldError::invalid(
                        "spec.clusterIPs",
                        ips,
                        format!(
                            "failed to allocate IP: IPAddress.networking.k8s.io \"{free}\" is invalid: \
                             spec.parentRef.name: {why}"
                        ),
                    );
                    return Err(Failure::invalid("", "Service", name, &[error]));
                }
                free.to_string()
            }
            wanted => {
                let refused = |refusal: AddressRefused| {
                    invalid(format!("failed to allocate IP {wanted}: {refusal}"))
                };
                let found = match wanted.parse() {
                    // It was checked before that it is an address of the one family.
                    Err(_) => Err(AddressRefused::NoRange),
                    Ok(address) if call.query.dry_run => addresses::check_range(&ranges, address),
                    Ok(address) => addresses::check(&ranges, is_taken, address),
                };
                found.map_err(refused)?;
                wanted.to_owned()
            }
        };
        spec.cluster_ip.clone_from(&ip);
        match spec.cluster_ips.first_mut() {
            Some(first) => *first = ip,
            None => spec.cluster_ips.push(ip),
        }
        Ok(())
    }

    /// Takes note of a change of a service.
    pub(crate) fn note_service(&mut self, event: &Event<Arc<Stored>>) {
        if !event.key().starts_with(PLACE) {
            return;
        }
        let spec = |stored: &Arc<Stored>| Spec::read(&stored.bare_object());
        let before = event.previous.as_ref().map(|item| spec(&item.value));
        let after = event.item.as_ref().map(|item| spec(&item.value));
        self.node_ports_mut().note(before.as_ref(), after.as_ref());
    }

    /// Reads the node ports that stored services hold.
    pub(crate) fn read_node_ports(&mut self) {
        let found = self.store().range(&Range::prefix(PLACE));
        let all = found.map(|page| page.items).unwrap_or_default();
        let held: Vec<Spec> = all
            .iter()
            .map(|item| Spec::read(&item.value.bare_object()))
            .collect();
        for spec in &held {
            self.node_ports_mut().note(None, Some(spec));
        }
    }

    fn has_address(&self, name: &str) -> bool {
        let Some(resource) = self.address_resource() else {
            return false;
        };
        self.store().get(&key(&resource, "", name)).is_some()
    }
}

/// A port that is not given, and where it was asked for.
enum PortsRefused {
    Asked(usize, i64, PortRefused),
    Any(PortRefused),
    Health(i64, PortRefused),
    AnyHealth(PortRefused),
    Twice(Port),
}

impl PortsRefused {
    fn answer(&self, name: &str) -> Failure {
        match self {
            Self::Asked(at, port, why) => {
                let field = format!("spec.ports[{at}].nodePort");
                let error = FieldError::invalid(field, *port, why.to_string());
                Failure::invalid("", "Service", name, &[error])
            }
            Self::Any(why) => Failure::internal(&format!("failed to allocate a nodePort: {why}")),
            Self::Health(port, why) => Failure::internal(&format!(
                "failed to allocate requested HealthCheck NodePort {port}: {why}"
            )),
            Self::AnyHealth(why) => Failure::internal(&format!(
                "failed to allocate a HealthCheck NodePort 0: {why}"
            )),
            Self::Twice(port) => Failure::new(
                500,
                "",
                format!(
                    "duplicate nodePort: {{{} {}}}",
                    port.protocol, port.node_port
                ),
            ),
        }
    }
}

/// The ports that a new service takes. Ports of the same number share a node port, so that a service
/// that speaks two protocols at one port does so on nodes too.
fn take_ports(
    spec: &mut Spec,
    draft: &mut Draft<'_>,
    chance: &mut Chance<'_>,
) -> Result<(), PortsRefused> {
    if spec.is_on_nodes() {
        let draws = spec.needs_node_port();
        let mut given: BTreeMap<i64, i64> = BTreeMap::new();
        // Of ports with one number the first that asks for a node port counts.
        let mut asked: BTreeMap<i64, i64> = BTreeMap::new();
        for port in spec.ports.iter().filter(|port| port.node_port != 0) {
            asked.entry(port.port).or_insert(port.node_port);
        }
        for at in 0..spec.ports.len() {
            let Port {
                port, node_port, ..
            } = spec.ports[at];
            if node_port == 0 && !draws {
                continue;
            }
            spec.ports[at].node_port = match given.get(&port) {
                Some(number) if node_port == 0 => *number,
                Some(number) => {
                    if node_port != *number {
                        let taken = draft.take(node_port);
                        taken.map_err(|why| PortsRefused::Asked(at, node_port, why))?;
                    }
                    node_port
                }
                None => {
                    let number = match asked.get(&port).copied() {
                        Some(number) => {
                            let taken = draft.take(number);
                            taken.map_err(|why| PortsRefused::Asked(at, number, why))?;
                            number
                        }
                        None => draft.next(chance).map_err(PortsRefused::Any)?,
                    };
                    given.insert(port, number);
                    number
                }
            };
        }
    }
    if spec.needs_health_port() {
        take_health_port(spec, draft, chance)?;
    }
    Ok(())
}

/// The ports that a service takes in addition to those that it has.
fn change_ports(
    spec: &mut Spec,
    old: &Spec,
    draft: &mut Draft<'_>,
    chance: &mut Chance<'_>,
) -> Result<(), PortsRefused> {
    if spec.is_on_nodes() {
        let draws = spec.needs_node_port();
        let before: BTreeSet<i64> = old.node_ports().collect();
        let mut asked: BTreeSet<i64> = BTreeSet::new();
        let mut pairs: BTreeSet<(String, i64)> = BTreeSet::new();
        for (at, port) in spec.ports.iter_mut().enumerate() {
            match port.node_port {
                0 if !draws => continue,
                0 => port.node_port = draft.next(chance).map_err(PortsRefused::Any)?,
                number if before.contains(&number) || asked.contains(&number) => {}
                number => {
                    let taken = draft.take(number);
                    taken.map_err(|why| PortsRefused::Asked(at, number, why))?;
                    asked.insert(number);
                }
            }
            if !pairs.insert((port.protocol.clone(), port.node_port)) {
                return Err(PortsRefused::Twice(port.clone()));
            }
        }
    }
    if spec.needs_health_port() && !old.needs_health_port() {
        take_health_port(spec, draft, chance)?;
    }
    Ok(())
}

fn take_health_port(
    spec: &mut Spec,
    draft: &mut Draft<'_>,
    chance: &mut Chance<'_>,
) -> Result<(), PortsRefused> {
    match spec.health_port {
        0 => spec.health_port = draft.next(chance).map_err(PortsRefused::AnyHealth)?,
        asked => {
            let taken = draft.take(asked);
            taken.map_err(|why| PortsRefused::Health(asked, why))?;
        }
    }
    Ok(())
}
