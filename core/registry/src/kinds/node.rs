//! Nodes.
//!
//! Upstream: `pkg/registry/core/node/strategy.go`, `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, Int, OptionalText};
use super::fill::each;
use super::ip;
use super::labels;
use super::pod::{self, EFFECTS};
use super::quantities;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::{FieldError, Mistake};
use crate::object::{Object, at};

const FEATURE_MAX: usize = 253;

pub(super) static NODE: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("status", Empty),
        ("status.daemonEndpoints", Empty),
        ("status.daemonEndpoints.kubeletEndpoint", Empty),
        ("status.daemonEndpoints.kubeletEndpoint.Port", Int(0)),
        ("status.nodeInfo", Empty),
        ("status.nodeInfo.architecture", OptionalText("")),
        ("status.nodeInfo.bootID", OptionalText("")),
        ("status.nodeInfo.containerRuntimeVersion", OptionalText("")),
        ("status.nodeInfo.kernelVersion", OptionalText("")),
        ("status.nodeInfo.kubeProxyVersion", OptionalText("")),
        ("status.nodeInfo.kubeletVersion", OptionalText("")),
        ("status.nodeInfo.machineID", OptionalText("")),
        ("status.nodeInfo.operatingSystem", OptionalText("")),
        ("status.nodeInfo.osImage", OptionalText("")),
        ("status.nodeInfo.systemUUID", OptionalText("")),
    ],
    default: |node| {
        each(node, "spec", &mut mirror_range);
        each(node, "status", &mut |status| {
            pod::round_list(status, "capacity");
            pod::round_list(status, "allocatable");
            if status.get("allocatable").is_none_or(Value::is_null)
                && let Some(capacity) = status.get("capacity").cloned()
            {
                status.insert("allocatable".to_owned(), capacity);
            }
        });
    },
    check: check_node,
    check_whole_update: Some(|new, old, errors| {
        check_node(new, errors);
        check_update(new, old, errors);
    }),
    check_status: check_update,
    fields: &["spec.unschedulable"],
    ..Sheet::PLAIN
};

/// The range of a node stands in two fields, one of them for clients of old, which wins.
fn mirror_range(spec: &mut Object) {
    let own = spec
        .get("podCIDR")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let all = spec.get("podCIDRs").and_then(Value::as_array);
    let listed = all
        .and_then(|all| all.first())
        .and_then(Value::as_str)
        .map(str::to_owned);
    if !own.is_empty() && listed.as_deref() != Some(own.as_str()) {
        spec.insert("podCIDRs".to_owned(), json!([own]));
    } else if let Some(listed) = listed.filter(|listed| *listed != own) {
        spec.insert("podCIDR".to_owned(), listed.into());
    }
}

fn check_node(node: &Object, errors: &mut Errors) {
    let spec = Spot::of(node, "spec");
    check_taints(node, errors);
    check_amounts(node, errors);
    let status = Spot::of(node, "status");
    let info = status.get("nodeInfo");
    let swap = info.get("swap");
    let capacity = swap.get("capacity");
    if capacity.int().is_some_and(|capacity| capacity <= 0) {
        // Upstream looks for it in the metadata when it tells of it.
        let why = "must be greater than zero";
        let place = "metadata.nodeSwapStatus.capacity";
        errors.push(FieldError::invalid(place, capacity.value().clone(), why));
    }
    check_features(&status.get("declaredFeatures"), errors);
    let ranges = spec.get("podCIDRs");
    ranges
        .items()
        .for_each(|range| checks::range(&range, &[], errors));
    let is_readable = ranges
        .items()
        .all(|range| ip::range_family(range.text()).is_some());
    let families: BTreeSet<_> = ranges
        .items()
        .filter_map(|range| ip::range_family(range.text()))
        .collect();
    let count = ranges.items().count();
    if count > 1 && !is_readable {
        errors.push(unreadable(&ranges));
    }
    if count > 1 && (families.len() < 2 || count > 2 || !is_readable) {
        let why = "may specify no more than one CIDR for each IP family";
        errors.push(ranges.invalid(why));
    }
}

/// What Go says of the first range that it cannot read.
fn unreadable(ranges: &Spot) -> FieldError {
    let is_odd = |range: &Spot| ip::range_family(range.text()).is_none();
    let first = ranges.items().enumerate().find(|(_, range)| is_odd(range));
    let (at, text) = first.map_or((0, ""), |(at, range)| (at, range.text()));
    FieldError {
        field: ranges.path(),
        mistake: Mistake::Told {
            reason: "InternalError",
            message: "Internal error".to_owned(),
        },
        detail: format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: <nil> (invalid CIDR \
             address: {text})"
        ),
    }
}

fn check_taints(node: &Object, errors: &mut Errors) {
    let spec = Spot::of(node, "spec");
    // Upstream looks for taints in the metadata when it tells of them.
    let meta = Spot::of(node, "metadata");
    let taints = meta.told_as("taints", spec.get("taints").value());
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.get("key"), taint.get("value"), taint.get("effect"));
        labels::check_qualified_name(&key, errors);
        let wrong = labels::value_mistakes(value.text());
        if !wrong.is_empty() {
            errors.push(value.invalid_text(wrong.join(";")));
        }
        checks::one_of(&effect, EFFECTS, errors);
        if !seen.insert((key.text(), effect.text())) {
            errors.push(FieldError {
                field: taint.path(),
                mistake: Mistake::Duplicate(taint.value().clone()),
                detail: "taints must be unique by key and effect pair".to_owned(),
            });
        }
    }
}

fn check_amounts(node: &Object, errors: &mut Errors) {
    let status = Spot::of(node, "status");
    for list in [status.get("capacity"), status.get("allocatable")] {
        for (name, _) in list.entries() {
            quantities::check_amount(&list.field_named(name), name, errors);
        }
    }
}

/// What a node says it can do: words in the order of the alphabet.
fn check_features(features: &Spot, errors: &mut Errors) {
    let all: Vec<Spot> = features.items().collect();
    for (at, feature) in all.iter().enumerate() {
        let name = feature.text();
        if name.len() > FEATURE_MAX {
            let why = format!("invalid feature name {name:?}: must be no more than 253 characters");
            errors.push(feature.invalid(why));
        } else if !is_feature(name) {
            errors.push(feature.invalid(format!(
                "invalid feature name {name:?}: must start with an UpperCamelCase segment, with subsequent segments \
                 separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric \
                 characters and slashes"
            )));
        }
        let Some(next) = all.get(at + 1) else {
            continue;
        };
        if next.text() == name {
            errors.push(next.duplicate());
        } else if next.text() < name {
            errors.push(next.invalid("list must be sorted alphabetically"));
        }
    }
}

fn is_feature(name: &str) -> bool {
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_word)
}

fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    check_amounts(new, errors);
    let status = Spot::of(new, "status");
    check_features(&status.get("declaredFeatures"), errors);
    let addresses = status.get("addresses");
    let mut seen = BTreeSet::new();
    for address in addresses.items() {
        if !seen.insert((address.get("type").text(), address.get("address").text())) {
            errors.push(address.duplicate());
        }
    }
    let (spec, before) = (Spot::of(new, "spec"), at(old, "spec"));
    let ranges = spec.get("podCIDRs");
    let had = before["podCIDRs"]
        .as_array()
        .is_some_and(|all| !all.is_empty());
    if had && ranges.value() != &before["podCIDRs"] {
        errors.push(
            ranges.forbidden("node updates may not change podCIDR except from \"\" to valid"),
        );
    }
    let provider = spec.get("providerID");
    let had = before["providerID"]
        .as_str()
        .is_some_and(|id| !id.is_empty());
    if had && provider.value() != &before["providerID"] {
        errors.push(
            provider.forbidden("node updates may not change providerID except from \"\" to valid"),
        );
    }
    check_config(&spec.get("configSource"), true, errors);
    let config = status.get("config");
    for field in ["assigned", "active", "lastKnownGood"] {
        check_config(&config.get(field), false, errors);
    }
    check_taints(new, errors);
    let id = spec.get("externalID");
    if id.text() != before["externalID"].as_str().unwrap_or_default() {
        errors.push(id.forbidden("may not be updated"));
    }
}

/// Where a kubelet once took its configuration from.
fn check_config(source: &Spot, is_wanted: bool, errors: &mut Errors) {
    if !source.is_set() {
        return;
    }
    let map = source.get("configMap");
    if !map.is_set() {
        errors.push(source.invalid("exactly one reference subfield must be non-nil"));
        return;
    }
    for field in ["uid", "resourceVersion"] {
        let value = map.get(field);
        if is_wanted && !value.is_empty() {
            errors.push(value.forbidden(format!("{field} must not be set in spec")));
        } else if !is_wanted {
            checks::required(&value, errors);
        }
    }
    checks::required_name(&map.get("namespace"), NameRule::Label, errors);
    checks::required_name(&map.get("name"), NameRule::Subdomain, errors);
    let key = map.get("kubeletConfigKey");
    if checks::required(&key, errors) {
        checks::config_key(&key, key.text(), errors);
    }
}
