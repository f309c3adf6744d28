//! What to tell whoever writes a service although it is accepted.
//!
//! Upstream: `pkg/api/service/warnings.go`.

use serde_json::Value;

use super::super::ip;
use super::changes::is_headless;
use crate::object::{Meta, Object, at};

const OLD_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const HINTS: &str = "service.kubernetes.io/topology-mode";

pub(super) fn warnings(service: &Object) -> Vec<String> {
    let mut told = Vec::new();
    let kind = at(service, "spec.type").as_str().unwrap_or_default();
    let is_name = kind == "ExternalName";
    let is_bare = is_headless(service) && kind == "ClusterIP";
    let text = |field: &str| {
        let path = format!("spec.{field}");
        at(service, &path).as_str().unwrap_or_default().to_owned()
    };
    let list = |field: &str| -> Vec<String> {
        let path = format!("spec.{field}");
        let all = at(service, &path).as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let field = |name: &str, at: usize| format!("spec.{name}[{at}]");
    if service.meta()["annotations"].get(OLD_HINTS).is_some() {
        told.push(format!(
            "annotation {OLD_HINTS} is deprecated, please use {HINTS} instead"
        ));
    }
    let outer = list("externalIPs");
    if !is_headless(service) {
        for (at, address) in list("clusterIPs").iter().enumerate() {
            told.extend(ip::warning(&field("clusterIPs", at), address));
        }
    }
    if is_bare {
        let ignored = |field: &str| format!("spec.{field} is ignored for headless services");
        if !text("loadBalancerIP").is_empty() {
            told.push(ignored("loadBalancerIP"));
        }
        if !outer.is_empty() {
            told.push(ignored("externalIPs"));
        }
        if text("sessionAffinity") != "None" {
            told.push(ignored("SessionAffinity"));
        }
    }
    for (at, address) in outer.iter().enumerate() {
        told.extend(ip::warning(&field("externalIPs", at), address));
    }
    if !outer.is_empty() && !is_bare && !is_name {
        let why =
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
        told.push(why.to_owned());
    }
    let balancer = text("loadBalancerIP");
    if !balancer.is_empty() {
        told.extend(ip::warning("spec.loadBalancerIP", &balancer));
    }
    for (at, range) in list("loadBalancerSourceRanges").iter().enumerate() {
        let field = field("loadBalancerSourceRanges", at);
        told.extend(ip::range_warning(&field, range));
    }
    if is_name && !outer.is_empty() {
        told.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if !is_name && !text("externalName").is_empty() {
        told.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if text("trafficDistribution") == "PreferClose" {
        let why = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"";
        told.push(why.to_owned());
    }
    told
}
