//! Which families of addresses a service has, on a cluster that has one: IPv4.
//!
//! Upstream: `pkg/registry/core/service/storage/alloc.go`,
//! `pkg/apis/core/validation/validation.go`.

use core::net::IpAddr;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::spec::{NONE, Spec};
use crate::field_error::{FieldError, Mistake};
use crate::kinds::ip as text;

const FAMILY: &str = "IPv4";
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const SINGLE: &str = "SingleStack";
const PREFER_DUAL: &str = "PreferDualStack";
const REQUIRE_DUAL: &str = "RequireDualStack";

const IPS: &str = "spec.clusterIPs";
const POLICY: &str = "spec.ipFamilyPolicy";

/// Fills in the families and their policy, or says why they make no sense.
pub(super) fn fill(new: &mut Spec, old: Option<&Spec>) -> Result<(), Vec<FieldError>> {
    if !new.needs_cluster_ip() || old.is_some_and(|old| stays_as_it_prefers(new, old)) {
        return Ok(());
    }
    let is_bare = new.cluster_ip == NONE && !new.has_selector;
    if new.policy.is_none() {
        let before = old.and_then(|old| old.policy.clone());
        let by_default = if is_bare { REQUIRE_DUAL } else { SINGLE };
        new.policy = before.or_else(|| Some(by_default.to_owned()));
    }
    given(check(new, old))?;
    given(settle(new, old))?;
    if is_bare {
        // Whoever makes the endpoints by hand knows of which families they are.
        if new.families.is_empty() {
            new.families.push(FAMILY.to_owned());
        }
        if let [one] = new.families.as_slice()
            && new.policy.as_deref() != Some(SINGLE)
        {
            new.families.push(other(one).to_owned());
        }
        return Ok(());
    }
    let mut errors = Vec::new();
    if new.policy.as_deref() == Some(REQUIRE_DUAL) {
        let why = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(POLICY, REQUIRE_DUAL, why));
    }
    for (at, family) in new.families.iter().enumerate() {
        if family != FAMILY {
            let field = format!("spec.ipFamilies[{at}]");
            let why = "not configured on this cluster";
            errors.push(FieldError::invalid(field, family.as_str(), why));
        }
    }
    given(errors)?;
    if new.families.is_empty() {
        new.families.push(FAMILY.to_owned());
    }
    Ok(())
}

/// Says what is wrong with a service to which nothing is given.
pub(super) fn check_unallocated(new: &Spec) -> Result<(), Vec<FieldError>> {
    given(check(new, None))
}

fn given(errors: Vec<FieldError>) -> Result<(), Vec<FieldError>> {
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// A service that prefers two families is left with what it has until it asks for something else.
pub(super) fn stays_as_it_prefers(new: &Spec, old: &Spec) -> bool {
    let prefers = |spec: &Spec| spec.policy.as_deref() == Some(PREFER_DUAL);
    prefers(new)
        && old.policy.as_deref().is_none_or(|one| one == PREFER_DUAL)
        && new.kind == old.kind
        && matches!(new.kind.as_str(), "ClusterIP" | "NodePort" | "LoadBalancer")
        && new.cluster_ips == old.cluster_ips
        && new.families == old.families
}

/// What can be said of addresses, families and policy without knowing the cluster.
fn check(new: &Spec, old: Option<&Spec>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let ips = || json!(new.cluster_ips);
    match (new.cluster_ip.as_str(), new.cluster_ips.first()) {
        ("", Some(_)) => {
            let why = "must be empty when `clusterIP` is not specified";
            errors.push(FieldError::invalid(IPS, ips(), why));
        }
        ("", None) => {}
        (_, None) => errors.push(FieldError::required(IPS, "")),
        (ip, Some(first)) if ip != first => {
            let why = "first value must match `clusterIP`";
            errors.push(FieldError::invalid(IPS, ips(), why));
        }
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for (at, family) in new.families.iter().enumerate() {
        let field = format!("spec.ipFamilies[{at}]");
        if !FAMILIES.contains(&family.as_str()) {
            let known = FieldError::not_supported(field.clone(), family.as_str(), &FAMILIES);
            errors.push(known);
        }
        if !seen.insert(family) {
            errors.push(FieldError {
                field,
                mistake: Mistake::Duplicate(json!(family)),
                detail: String::new(),
            });
        }
    }
    let policies = [PREFER_DUAL, REQUIRE_DUAL, SINGLE];
    if let Some(policy) = &new.policy
        && !policies.contains(&policy.as_str())
    {
        errors.push(FieldError::not_supported(
            POLICY,
            policy.as_str(),
            &policies,
        ));
    }
    let mut unreadable = false;
    for (at, ip) in new.cluster_ips.iter().enumerate() {
        if at == 0 && ip == NONE {
            if new.cluster_ips.len() > 1 {
                unreadable = true;
                let why = "'None' must be the first and only value";
                errors.push(FieldError::invalid(IPS, ips(), why));
            }
            continue;
        }
        if old.is_some_and(|old| old.cluster_ips.contains(ip)) {
            continue;
        }
        if let Some(why) = text::mistake(ip) {
            unreadable = true;
            let field = format!("{IPS}[{at}]");
            errors.push(FieldError::invalid(field, ip.as_str(), why));
        }
    }
    if new.cluster_ips.len() > 2 {
        let why = "may only hold up to 2 values";
        errors.push(FieldError::invalid(IPS, ips(), why));
    }
    if unreadable {
        return errors;
    }
    let kinds: BTreeSet<&str> = new.cluster_ips.iter().map(|ip| family_of(ip)).collect();
    if new.cluster_ips.len() > 1 && kinds.len() < 2 {
        let why = "may specify no more than one IP for each IP family";
        errors.push(FieldError::invalid(IPS, ips(), why));
    }
    if !new.is_headless() {
        for (at, (ip, family)) in new.cluster_ips.iter().zip(&new.families).enumerate() {
            if FAMILIES.contains(&family.as_str()) && family_of(ip) != family {
                let why = format!("expected an {family} value as indicated by `ipFamilies[{at}]`");
                let field = format!("{IPS}[{at}]");
                errors.push(FieldError::invalid(field, ip.as_str(), why));
            }
        }
    }
    errors
}

/// Brings addresses, families and policy together.
fn settle(new: &mut Spec, old: Option<&Spec>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let is_single = new.policy.as_deref() == Some(SINGLE);
    let policy = json!(new.policy);
    let mut wrong = |why: &str| errors.push(FieldError::invalid(POLICY, policy.clone(), why));
    if let Some(old) = old {
        if is_single {
            if new.cluster_ips == old.cluster_ips {
                new.cluster_ips.truncate(1);
            }
            if new.families == old.families {
                new.families.truncate(1);
            }
        } else {
            let fewer = |new: usize, old: usize| new > 0 && new < old;
            if fewer(new.cluster_ips.len(), old.cluster_ips.len()) {
                wrong("must be 'SingleStack' to release the secondary cluster IP");
            }
            if fewer(new.families.len(), old.families.len()) {
                wrong("must be 'SingleStack' to release the secondary IP family");
            }
        }
    }
    if is_single {
        let why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified";
        if new.cluster_ips.len() == 2 {
            wrong(why);
        }
        if new.families.len() == 2 {
            wrong(&why.replace("cluster IPs", "IP families"));
        }
    }
    let has_none = |ip: &&String| ip.as_str() == NONE;
    let until_none = new.cluster_ips.iter().take_while(|ip| !has_none(ip));
    let found: Vec<&str> = until_none.map(|ip| family_of(ip)).collect();
    for (at, family) in found.into_iter().enumerate() {
        if at < new.families.len() {
            continue;
        }
        if family == FAMILY {
            new.families.push(family.to_owned());
        } else {
            let why = format!("{family} is not configured on this cluster");
            let ips: Value = json!(new.cluster_ips);
            errors.push(FieldError::invalid(format!("{IPS}[{at}]"), ips, why));
        }
    }
    errors
}

fn family_of(ip: &str) -> &'static str {
    match ip.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none() => "IPv6",
        _ => "IPv4",
    }
}

fn other(family: &str) -> &'static str {
    if family == "IPv4" { "IPv6" } else { "IPv4" }
}
