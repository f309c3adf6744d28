//! Addresses as objects: IPAddresses, which are taken, and ServiceCIDRs, from which they are taken.
//!
//! Upstream: `pkg/apis/networking/validation/validation.go`,
//! `pkg/registry/networking/{ipaddress,servicecidr}/strategy.go`.

use serde_json::Value;

use super::NameRule;
use super::checks;
use super::fill::Fill::Empty;
use super::ip;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Object, at};

/// Each is named by the address that it stands for.
pub(super) static IP_ADDRESS: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    check: |address, errors| {
        let spec = Spot::of(address, "spec");
        let parent = spec.get("parentRef");
        if !parent.is_set() {
            errors.push(parent.required(""));
            return;
        }
        let group = parent.get("group");
        if !group.is_empty() {
            checks::name(&group, NameRule::Subdomain, errors);
        }
        for field in ["resource", "name"] {
            checks::required_name(&parent.get(field), NameRule::PathSegment, errors);
        }
        let namespace = parent.get("namespace");
        if !namespace.is_empty() {
            checks::name(&namespace, NameRule::PathSegment, errors);
        }
    },
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        checks::immutable(&spec.get("parentRef"), at(old, "spec.parentRef"), errors);
    },
    names: NameRule::Address,
    ..Sheet::PLAIN
};

pub(super) static SERVICE_CIDR: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    fresh_status: true,
    check_create: |range, errors| check_ranges(range, errors),
    check_update: check_ranges_are_kept,
    ..Sheet::PLAIN
};

fn check_ranges(object: &Object, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    let ranges = spec.get("cidrs");
    match ranges.items().count() {
        0 => {
            errors.push(ranges.required("at least one CIDR required"));
            return;
        }
        1 | 2 => {}
        _ => {
            let why = "may only hold up to 2 values";
            errors.push(FieldError::invalid(
                ranges.path(),
                spec.value().clone(),
                why,
            ));
            return;
        }
    }
    for range in ranges.items() {
        if let Some(why) = ip::canonical_range_mistake(range.text()) {
            errors.push(range.invalid(why));
        }
    }
    let mut families = ranges.items().map(|range| ip::range_family(range.text()));
    if let (Some(one), Some(other)) = (families.next().flatten(), families.next().flatten())
        && one == other
    {
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.push(ranges.invalid(why));
    }
}

/// Ranges stay; one of the other family may be added.
fn check_ranges_are_kept(new: &Object, old: &Object, errors: &mut Errors) {
    let spec = Spot::of(new, "spec");
    let ranges = spec.get("cidrs");
    let before = at(old, "spec.cidrs")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let immutable = "field is immutable";
    let keep = |until: usize, errors: &mut Errors| {
        let pairs = ranges.items().zip(before).take(until);
        for (range, _) in pairs.filter(|(range, before)| range.value() != *before) {
            errors.push(range.invalid(immutable));
        }
    };
    match (before.len(), ranges.items().count()) {
        (old, new) if old == new => keep(new, errors),
        (1, 2) => {
            keep(1, errors);
            check_ranges(new, errors);
        }
        _ => {
            let all: Value = ranges.value().clone();
            errors.push(FieldError::invalid(ranges.path(), all, immutable));
        }
    }
}
