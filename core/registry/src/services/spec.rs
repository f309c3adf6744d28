//! What allocation reads and writes of a Service.

use serde_json::{Value, json};

use crate::object::{Object, at};

/// The address that says that a service wants none.
pub(super) const NONE: &str = "None";

/// The fields of a service that allocation is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(super) kind: String,
    pub(super) cluster_ip: String,
    pub(super) cluster_ips: Vec<String>,
    pub(super) families: Vec<String>,
    pub(super) policy: Option<String>,
    pub(super) has_selector: bool,
    pub(super) ports: Vec<Port>,
    /// `allocateLoadBalancerNodePorts`, as far as it is given.
    pub(super) allocates_ports: Option<bool>,
    pub(super) outer_policy: String,
    pub(super) health_port: i64,
}

/// A port of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) protocol: String,
    pub(super) port: i64,
    /// Zero for none.
    pub(super) node_port: i64,
}

impl Spec {
    /// The fields of this service.
    pub(crate) fn read(service: &Object) -> Self {
        let spec = at(service, "spec");
        let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
        let texts = |field: &str| {
            let all = spec[field].as_array().into_iter().flatten();
            all.map(|one| one.as_str().unwrap_or_default().to_owned())
                .collect()
        };
        let ports = spec["ports"].as_array().into_iter().flatten();
        Self {
            kind: text("type"),
            cluster_ip: text("clusterIP"),
            cluster_ips: texts("clusterIPs"),
            families: texts("ipFamilies"),
            policy: spec["ipFamilyPolicy"].as_str().map(str::to_owned),
            has_selector: spec["selector"]
                .as_object()
                .is_some_and(|all| !all.is_empty()),
            ports: ports.map(Port::read).collect(),
            allocates_ports: spec["allocateLoadBalancerNodePorts"].as_bool(),
            outer_policy: text("externalTrafficPolicy"),
            health_port: spec["healthCheckNodePort"].as_i64().unwrap_or_default(),
        }
    }

    /// Puts what may have been allocated into the service.
    pub(super) fn write(&self, service: &mut Object) {
        let Some(Value::Object(spec)) = service.get_mut("spec") else {
            return;
        };
        let mut set = |field: &str, value: Value, is_given: bool| match is_given {
            true => drop(spec.insert(field.to_owned(), value)),
            false => drop(spec.remove(field)),
        };
        let has_ip = !self.cluster_ip.is_empty();
        set("clusterIP", json!(self.cluster_ip), has_ip);
        let has_ips = !self.cluster_ips.is_empty();
        set("clusterIPs", json!(self.cluster_ips), has_ips);
        let has_families = !self.families.is_empty();
        set("ipFamilies", json!(self.families), has_families);
        set("ipFamilyPolicy", json!(self.policy), self.policy.is_some());
        let has_health_port = self.health_port != 0;
        let health_port = json!(self.health_port);
        set("healthCheckNodePort", health_port, has_health_port);
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        for (port, as_allocated) in ports.into_iter().flatten().zip(&self.ports) {
            let Some(port) = port.as_object_mut() else {
                continue;
            };
            match as_allocated.node_port {
                0 => drop(port.remove("nodePort")),
                number => drop(port.insert("nodePort".to_owned(), number.into())),
            }
        }
    }

    /// Whether it is more than a name for something outside.
    pub(super) fn needs_cluster_ip(&self) -> bool {
        self.kind != "ExternalName"
    }

    pub(super) fn needs_node_port(&self) -> bool {
        match self.kind.as_str() {
            "NodePort" => true,
            "LoadBalancer" => self.allocates_ports.unwrap_or(true),
            _ => false,
        }
    }

    /// Whether load balancers need a port at which nodes say whether they have a pod of it.
    pub(super) fn needs_health_port(&self) -> bool {
        self.kind == "LoadBalancer" && self.outer_policy == "Local"
    }

    /// Whether its ports may be open on nodes.
    pub(super) fn is_on_nodes(&self) -> bool {
        matches!(self.kind.as_str(), "NodePort" | "LoadBalancer")
    }

    /// Whether it was asked to have no address.
    pub(super) fn is_headless(&self) -> bool {
        self.cluster_ips.first().is_some_and(|ip| ip == NONE)
    }

    /// The addresses that are its own.
    pub(crate) fn addresses(&self) -> &[String] {
        match self.needs_cluster_ip() && !self.is_headless() {
            true => &self.cluster_ips,
            false => &[],
        }
    }

    /// The ports on nodes that are its own, some maybe twice.
    pub(super) fn node_ports(&self) -> impl Iterator<Item = i64> {
        let ports = self.ports.iter().map(|port| port.node_port);
        ports.filter(|number| *number != 0)
    }
}

impl Port {
    fn read(port: &Value) -> Self {
        let text = |field: &str| port[field].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            protocol: text("protocol"),
            port: port["port"].as_i64().unwrap_or_default(),
            node_port: port["nodePort"].as_i64().unwrap_or_default(),
        }
    }
}
