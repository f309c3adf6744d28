//! Mistakes in the resources of a pod as a whole.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeMap;

use flyball_api::Quantity;

use crate::field_error::FieldError;
use crate::kinds::checks::quantity;
use crate::kinds::quantities;
use crate::kinds::spot::{Errors, Spot};

/// What a pod asks for must be at least what its containers ask for together.
pub(super) fn check(spec: &Spot, errors: &mut Errors) {
    let resources = spec.get("resources");
    if !resources.is_set() {
        return;
    }
    let os = spec.get("os");
    if os.get("name").text() == "windows" {
        errors.push(resources.forbidden("may not be set for a windows pod"));
        return;
    }
    let claims = resources.get("claims");
    if claims.is_set() {
        errors.push(claims.forbidden("claims may not be set for Resources at pod-level"));
    }
    quantities::check_requirements(&resources, quantities::Asker::Pod, errors);
    let requests = resources.get("requests");
    for (name, sum) in asked(spec, "requests") {
        let own = quantity(&requests.value()[name.as_str()]);
        if let Some(own) = own.filter(|own| sum > *own) {
            let why =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            let field = format!("{}[{name}]", requests.path());
            errors.push(FieldError::invalid(field, own.to_string(), why));
        }
    }
    let limits = resources.get("limits");
    for (name, sum) in asked(spec, "limits") {
        let own = quantity(&limits.value()[name.as_str()]);
        if let Some(own) = own.filter(|own| name.starts_with("hugepages-") && sum > *own) {
            let why =
                format!("must be greater than or equal to aggregate container limits of {sum}");
            let field = format!("{}[{name}]", limits.path());
            errors.push(FieldError::invalid(field, own.to_string(), why));
        }
    }
    let containers = spec.get("containers");
    for (at, container) in containers.items().enumerate() {
        let own = container.get("resources");
        let own = own.get("limits");
        for (name, value) in own.entries() {
            let pair = quantity(value).zip(quantity(&limits.value()[name.as_str()]));
            if let Some((limit, most)) = pair.filter(|(limit, most)| limit > most) {
                // Upstream puts the containers below the resources.
                let field = format!("{}.containers[{at}][{name}].limits", resources.path());
                let why = format!("must be less than or equal to pod limits of {most}");
                errors.push(FieldError::invalid(field, limit.to_string(), why));
            }
        }
    }
}

/// What the containers ask for together: all that run, or the greediest of those that run before.
fn asked(spec: &Spot, list: &'static str) -> BTreeMap<String, Quantity> {
    let amounts = |container: &Spot| -> BTreeMap<String, Quantity> {
        let resources = container.get("resources");
        let list = resources.get(list);
        let pairs = list
            .entries()
            .filter_map(|(name, value)| Some((name.clone(), quantity(value)?)));
        pairs.collect()
    };
    let add = |sum: &mut BTreeMap<String, Quantity>, more: &BTreeMap<String, Quantity>| {
        for (name, amount) in more {
            let before = sum.get(name).copied().unwrap_or(Quantity::ZERO);
            sum.insert(name.clone(), before.plus(amount));
        }
    };
    let mut sum = BTreeMap::new();
    let containers = spec.get("containers");
    containers
        .items()
        .for_each(|container| add(&mut sum, &amounts(&container)));
    let (mut sidecars, mut most) = (BTreeMap::new(), BTreeMap::<String, Quantity>::new());
    let containers = spec.get("initContainers");
    for container in containers.items() {
        let own = amounts(&container);
        let mut at_once = own.clone();
        if container.get("restartPolicy").text() == "Always" {
            add(&mut sum, &own);
            add(&mut sidecars, &own);
            at_once = sidecars.clone();
        } else {
            add(&mut at_once, &sidecars);
        }
        for (name, amount) in at_once {
            let before = most.get(&name).copied().unwrap_or(Quantity::ZERO);
            most.insert(name, before.max(amount));
        }
    }
    for (name, amount) in most {
        let before = sum.get(&name).copied().unwrap_or(Quantity::ZERO);
        sum.insert(name, before.max(amount));
    }
    sum
}
