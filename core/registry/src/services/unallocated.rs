//! Services that a write of their status creates: nothing is allocated for them, and nothing of another is theirs.
//!
//! Upstream quirk: the storage of `services/status` creates a Service without its allocators.
//! `pkg/registry/core/service/storage/storage.go`. Kept because clients see it, but for addresses and ports that another
//! Service holds: deleting the one would free what the other has.

use std::collections::BTreeSet;

use serde_json::json;

use super::addresses::AddressRefused;
use super::node_ports::PortRefused;
use super::{PortsRefused, Spec, families};
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::registry::Registry;

impl Registry {
    /// Refuses a new Service that lacks what it needs or has what is taken.
    pub(super) fn check_unallocated(&self, spec: &Spec, name: &str) -> Result<(), Failure> {
        let invalid = |errors: Vec<FieldError>| Failure::invalid("", "Service", name, &errors);
        if spec.needs_cluster_ip() {
            families::check_unallocated(spec).map_err(invalid)?;
        }
        if let Some(ip) = spec.addresses().iter().find(|ip| self.has_address(ip)) {
            let why = format!("failed to allocate IP {ip}: {}", AddressRefused::Taken);
            let error = FieldError::invalid("spec.clusterIPs", json!(spec.cluster_ips), why);
            return Err(invalid(vec![error]));
        }
        let refused = |refusal: PortsRefused| Err(refusal.answer(name));
        let is_taken = |port: i64| self.node_ports().is_taken(port);
        let mut own = BTreeSet::new();
        for (at, port) in spec.ports.iter().enumerate() {
            let number = port.node_port;
            if number != 0 && own.insert(number) && is_taken(number) {
                return refused(PortsRefused::Asked(at, number, PortRefused::Taken));
            }
        }
        let health = spec.health_port;
        if spec.needs_health_port() && (is_taken(health) || own.contains(&health)) {
            return refused(PortsRefused::Health(health, PortRefused::Taken));
        }
        Ok(())
    }
}
