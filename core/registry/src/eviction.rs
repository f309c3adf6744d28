//! Evicting pods: deleting them unless a disruption budget forbids it.
//!
//! Upstream: `pkg/registry/core/pod/storage/eviction.go`.

use flyball_api::selector::LabelSelector;
use flyball_storage::{Query, Revision};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::managed::Note;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry, prefix};
use crate::request::Chance;
use crate::update::Part;
use crate::{decode, internal, meta};

/// More pods than these are not left to the disruption controller to confirm.
const UNCONFIRMED_MAX: usize = 2000;

/// After so many seconds a budget that lags behind is worth another try.
const RETRY_SECONDS: u32 = 10;

impl Registry {
    /// Deletes a pod, if its budget allows that.
    pub(crate) fn evict(
        &mut self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (eviction, warnings) = decode::object(call)?;
        let answer = self.evict_by(call, eviction, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    fn evict_by(
        &mut self,
        call: &Call<'_>,
        mut eviction: Object,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        meta::place(call, &mut eviction)?;
        let name = call.path.name.as_str();
        if eviction.name() != name {
            let why = "name in URL does not match name in Eviction object";
            return Err(Failure::bad_request(why));
        }
        let mut options = at(&eviction, "deleteOptions").clone();
        let dry_run = dry_run(call, &options)?;
        if options.is_null() {
            options = Value::Object(Map::new());
        }
        if options["ignoreStoreReadErrorWithClusterBreakingPotential"] == true {
            let why = "can not be set for pod eviction, try after removing the option";
            let field = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential";
            let error = crate::FieldError::invalid(field, true, why);
            return Err(Failure::invalid("policy", "Eviction", name, &[error]));
        }
        self.admit_part(call, eviction)?;
        let (_, pod) = self.read(call)?;
        if !is_beyond_budgets(&pod) {
            let budgets = self.budgets_of(call, &pod);
            match budgets.as_slice() {
                [] => {}
                [(seen, budget)] => {
                    if !may_go_unhealthy(&pod, budget) {
                        self.charge(call, *seen, budget, dry_run, chance)?;
                    }
                }
                _ => {
                    let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource \
                               does not support.";
                    return Err(Failure::new(500, "", why));
                }
            }
        }
        // What the eviction itself asks for is judged as that of any delete.
        if call.query.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        if !dry_run {
            self.mark_disrupted(call, &mut options, chance)?;
        }
        self.delete_with(call, &options)?;
        Ok(created())
    }

    /// The budgets that a pod counts towards.
    fn budgets_of(&self, call: &Call<'_>, pod: &Object) -> Vec<(Revision, Object)> {
        let kind = self.served().find("policy", "v1", "poddisruptionbudgets");
        let Some(kind) = kind else {
            return Vec::new();
        };
        let place = prefix(kind, &call.path.namespace);
        let found = self.store().range(&Query::prefix(&place));
        let all = found.map(|page| page.items).unwrap_or_default();
        let labels = pod.labels();
        let covers = |budget: &Object| {
            let selector: Option<LabelSelector> =
                serde_json::from_value(at(budget, "spec.selector").clone()).unwrap_or_default();
            let selector = LabelSelector::compile_optional(selector.as_ref());
            selector.is_ok_and(|selector| selector.matches_with(|key| labels.get(key)))
        };
        all.iter()
            .map(|item| (item.modified, item.value.object(kind)))
            .filter(|(_, budget)| covers(budget))
            .collect()
    }

    /// Takes one disruption from a budget, or says why it has none left.
    fn charge(
        &mut self,
        call: &Call<'_>,
        seen: Revision,
        budget: &Object,
        dry_run: bool,
        chance: &mut Chance<'_>,
    ) -> Result<(), Failure> {
        refusal(budget)?;
        let Some(kind) = self.served().find("policy", "v1", "poddisruptionbudgets") else {
            return Ok(());
        };
        if dry_run {
            return Ok(());
        }
        let mut new = budget.clone();
        let left = at(budget, "status.disruptionsAllowed")
            .as_i64()
            .unwrap_or(0)
            - 1;
        let now = stamp(call.request.now);
        if let Some(Value::Object(status)) = new.get_mut("status") {
            status.insert("disruptionsAllowed".to_owned(), left.into());
            if left == 0 {
                set_exhausted(status, &now);
            }
            let pods = status.entry("disruptedPods").or_insert_with(|| json!({}));
            pods[call.path.name.as_str()] = now;
        }
        let name = budget.name().to_owned();
        let mut own = internal::call(kind.clone(), &call.path.namespace, &name, call.request.now);
        own.path.subresource = "status".into();
        self.replace(
            &own,
            (Part::Status, Note::Update),
            seen,
            budget,
            new,
            chance,
        )?;
        Ok(())
    }

    /// Says in the pod why it goes, and keeps a version that was asked for pointing to the pod.
    fn mark_disrupted(
        &mut self,
        call: &Call<'_>,
        options: &mut Value,
        chance: &mut Chance<'_>,
    ) -> Result<(), Failure> {
        let (seen, old) = self.read(call)?;
        let wanted = |field: &str| {
            let wanted = options["preconditions"][field].as_str().unwrap_or_default();
            (!wanted.is_empty()).then(|| wanted.to_owned())
        };
        let pairs = [
            ("uid", "UID", old.uid(), "deleted and then recreated"),
            (
                "resourceVersion",
                "ResourceVersion",
                old.resource_version(),
                "modified",
            ),
        ];
        for (field, word, is, fate) in pairs {
            if let Some(wanted) = wanted(field)
                && wanted != is
            {
                let why = format!(
                    "Operation cannot be fulfilled on Pod {:?}: the {word} in the precondition ({wanted}) does not \
                     match the {word} in record ({is}). The object might have been {fate}",
                    old.name()
                );
                let refused = Failure::new(409, "Conflict", why);
                return Err(refused.about_named("", "Pod", old.name()));
            }
        }
        let mut new = old.clone();
        set_disrupted(&mut new, stamp(call.request.now));
        self.replace(call, (Part::Status, Note::Applied), seen, &old, new, chance)?;
        if wanted("resourceVersion").is_some() {
            let (_, now) = self.read(call)?;
            options["preconditions"]["resourceVersion"] = now.resource_version().into();
        }
        Ok(())
    }
}

/// Whether the eviction is to change nothing: the query and the options may both say so.
fn dry_run(call: &Call<'_>, options: &Value) -> Result<bool, Failure> {
    let own: Vec<&str> = options["dryRun"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if call.query.dry_run && !own.is_empty() && own != ["All"] {
        let why = format!(
            "Non-matching dry-run options in request and content: [All] and [{}]",
            own.join(" ")
        );
        return Err(Failure::new(500, "", why));
    }
    Ok(call.query.dry_run || !own.is_empty())
}

/// Whether a pod is no longer, or not yet, what a budget protects.
fn is_beyond_budgets(pod: &Object) -> bool {
    let phase = at(pod, "status.phase").as_str().unwrap_or_default();
    matches!(phase, "Succeeded" | "Failed" | "Pending") || pod.is_deleting()
}

/// Whether a pod that is not ready may go although its budget is spent.
fn may_go_unhealthy(pod: &Object, budget: &Object) -> bool {
    let conditions = at(pod, "status.conditions").as_array();
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|one| one["type"] == "Ready" && one["status"] == "True");
    let count = |field: &str| at(budget, field).as_i64().unwrap_or(0);
    let desired = count("status.desiredHealthy");
    let is_enough = count("status.currentHealthy") >= desired && desired > 0;
    let always = at(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow";
    !is_ready && (always || is_enough)
}

/// Why a budget allows no disruption now, if it allows none.
fn refusal(budget: &Object) -> Result<(), Failure> {
    let name = budget.name();
    let count = |field: &str| at(budget, field).as_i64().unwrap_or(0);
    let too_many = |message: &str| {
        let why = "Cannot evict pod as it would violate the pod's disruption budget.";
        let refused = Failure::new(429, "TooManyRequests", why);
        refused.with_cause("DisruptionBudget", message, "")
    };
    if count("status.observedGeneration") < budget.generation() {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(too_many(&why).retry_after(RETRY_SECONDS));
    }
    let forbidden = |why: &str| {
        let message = format!("poddisruptionbudget.policy {name:?} is forbidden: {why}");
        let refused = Failure::new(403, "Forbidden", message);
        Err(refused.about_named("policy", "poddisruptionbudget", name))
    };
    let allowed = count("status.disruptionsAllowed");
    if allowed < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    let unconfirmed = at(budget, "status.disruptedPods").as_object();
    if unconfirmed.is_some_and(|pods| pods.len() > UNCONFIRMED_MAX) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return forbidden(why);
    }
    if allowed > 0 {
        return Ok(());
    }
    let conditions = at(budget, "status.conditions").as_array();
    let condition = conditions
        .into_iter()
        .flatten()
        .find(|one| one["type"] == "DisruptionAllowed");
    let told = condition.filter(|one| {
        let message = one["message"].as_str().unwrap_or_default();
        one["status"] == "False" && !message.is_empty()
    });
    let part = |field: &str| told.map_or("", |one| one[field].as_str().unwrap_or_default());
    let (desired, current) = (
        count("status.desiredHealthy"),
        count("status.currentHealthy"),
    );
    let no = format!("The disruption budget {name} does not allow evicting pods currently");
    Err(too_many(&match told {
        Some(one) if one["reason"] == "SyncFailed" => {
            format!("{no} because it failed sync: {}", part("message"))
        }
        _ if current <= desired => format!(
            "The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        ),
        Some(_) => format!("{no} ({}): {}", part("reason"), part("message")),
        None => no,
    }))
}

/// Says that a budget is spent.
fn set_exhausted(status: &mut Map<String, Value>, now: &Value) {
    let generation = status.get("observedGeneration").cloned();
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else {
        return;
    };
    let found = conditions
        .iter_mut()
        .find(|one| one["type"] == "DisruptionAllowed");
    let same = found.as_ref().is_some_and(|one| one["status"] == "False");
    let since = match &found {
        Some(one) if same => one["lastTransitionTime"].clone(),
        _ => now.clone(),
    };
    let spent = json!({
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "observedGeneration": generation,
        "lastTransitionTime": since,
    });
    match found {
        Some(one) => *one = spent,
        None => conditions.push(spent),
    }
}

/// Says in a pod that it is about to be evicted.
fn set_disrupted(pod: &mut Object, now: Value) {
    let conditions = &mut pod.entry("status").or_insert_with(|| json!({}))["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else {
        return;
    };
    let found = conditions
        .iter_mut()
        .find(|one| one["type"] == "DisruptionTarget");
    let since = match &found {
        Some(one) if one["status"] == "True" => one["lastTransitionTime"].clone(),
        _ => now,
    };
    let disrupted = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": null,
        "lastTransitionTime": since,
    });
    match found {
        Some(one) => *one = disrupted,
        None => conditions.push(disrupted),
    }
}

/// The answer to what was done and left nothing to show.
pub(crate) fn created() -> Answer {
    Answer {
        code: 201,
        ..Answer::document(&json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_spent_budget_says_so_once() {
        let mut status = object(json!({"observedGeneration": 3}));
        set_exhausted(&mut status, &json!("t1"));
        set_exhausted(&mut status, &json!("t2"));
        let expected = json!([{
            "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
            "observedGeneration": 3, "lastTransitionTime": "t1",
        }]);
        assert_eq!(status["conditions"], expected);
    }

    #[test]
    fn only_pods_that_run_are_protected() {
        for (pod, beyond) in [
            (json!({"status": {"phase": "Running"}}), false),
            (json!({"status": {}}), false),
            (json!({"status": {"phase": "Pending"}}), true),
            (json!({"status": {"phase": "Failed"}}), true),
            (
                json!({"metadata": {"deletionTimestamp": "t"}, "status": {"phase": "Running"}}),
                true,
            ),
        ] {
            assert_eq!(is_beyond_budgets(&object(pod.clone())), beyond, "{pod}");
        }
    }

    #[test]
    fn a_budget_that_cannot_be_trusted_refuses() {
        for (status, code) in [
            (json!({"disruptionsAllowed": 1}), None),
            (json!({"disruptionsAllowed": 0}), Some(429)),
            (json!({"disruptionsAllowed": -1}), Some(403)),
        ] {
            let budget = object(json!({"metadata": {"name": "b"}, "status": status}));
            let refused = refusal(&budget).err().map(|failure| failure.code());
            assert_eq!(refused, code, "{status}");
        }
    }
}
