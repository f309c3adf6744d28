//! Metadata: what every write does to it, and what may be in it.
//!
//! Upstream: `apiserver/pkg/registry/rest/{create,update,meta}.go`,
//! `apimachinery/pkg/api/validation/objectmeta.go`.

use flyball_api::Timestamp;
use serde_json::Value;

use crate::etcd;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::kinds::{
    NameRule, allows_unconditional_update, label_key_mistakes, label_value_mistakes,
};
use crate::names;
use crate::object::{Meta, Object};
use crate::registry::Call;
use crate::request::{Chance, Method};

/// What all annotations together may weigh.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;

/// The longest prefix that is kept of a name that is to be generated.
const GENERATED_PREFIX_MAX: usize = 58;

/// Makes the metadata of a new object what it has to be, whatever was sent.
pub(crate) fn prepare_create(
    call: &Call<'_>,
    object: &mut Object,
    chance: &mut Chance<'_>,
) -> Result<(), Failure> {
    place(call, object)?;
    let generation = call.rules().has_generation();
    let meta = object.meta_mut();
    // Upstream does so where objects are made, not where they are replaced.
    if call.request.method == Method::Post {
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            meta.remove(field);
        }
    }
    let now = stamp(call.request.now);
    meta.insert("creationTimestamp".to_owned(), now);
    meta.insert("uid".to_owned(), chance.uid().into());
    if generation {
        meta.insert("generation".to_owned(), 1.into());
    }
    Ok(())
}

/// The beginning of the name that is to be drawn for a new object, if one is.
pub(crate) fn generated_prefix(object: &Object) -> Option<String> {
    let prefix = object.meta_text("generateName");
    let is_drawn = object.name().is_empty() && !prefix.is_empty();
    is_drawn.then(|| prefix.chars().take(GENERATED_PREFIX_MAX).collect())
}

/// Makes the metadata of a new state what it has to be: what only the server sets stays.
pub(crate) fn prepare_update(
    call: &Call<'_>,
    new: &mut Object,
    old: &Object,
) -> Result<(), Failure> {
    check_place(call, new)?;
    check_version(call, new, old)?;
    if new.uid().is_empty() {
        let uid = old.uid().to_owned();
        new.meta_mut().insert("uid".to_owned(), uid.into());
    }
    let kept = ["creationTimestamp", "deletionTimestamp"];
    let before = old.meta();
    let meta = new.meta_mut();
    for field in kept {
        // What the object does not have yet is a mistake that is found later, and so is another grace.
        let is_changed = field == "deletionGracePeriodSeconds" && meta.contains_key(field);
        if let Some(value) = before.get(field).filter(|_| !is_changed) {
            meta.insert(field.to_owned(), value.clone());
        }
    }
    let grace = "deletionGracePeriodSeconds";
    if !before[grace].is_null() && meta.get(grace).is_none_or(Value::is_null) {
        meta.insert(grace.to_owned(), before[grace].clone());
    }
    match before.get("generation") {
        Some(value) => meta.insert("generation".to_owned(), value.clone()),
        None => meta.remove("generation"),
    };
    if !before["managedFields"].is_null() && !meta.contains_key("managedFields") {
        // Whoever leaves them out means to leave them alone.
        meta.insert("managedFields".to_owned(), before["managedFields"].clone());
    }
    meta.insert(
        "resourceVersion".to_owned(),
        before["resourceVersion"].clone(),
    );
    Ok(())
}

/// What is to replace an object must say what it is about as the path does.
pub(crate) fn check_place(call: &Call<'_>, new: &mut Object) -> Result<(), Failure> {
    place(call, new)?;
    let name = call.path.name.as_str();
    match new.name() {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        sent if sent != name => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

/// What is to replace an object that is not there cannot mean a certain one.
pub(crate) fn check_absent(call: &Call<'_>, new: &Object) -> Result<(), Failure> {
    match new.uid() {
        "" => Ok(()),
        uid => Err(other_incarnation(call, uid, "")),
    }
}

fn other_incarnation(call: &Call<'_>, uid: &str, is: &str) -> Failure {
    let (namespace, name) = (&call.path.namespace, &call.path.name);
    let namespace = match call.resource.namespaced {
        true => namespace.as_str(),
        false => "",
    };
    let place = etcd::key(&call.resource, namespace, name);
    // A dry run does not get as far as where keys get their prefix.
    let place = match call.query.dry_run {
        true => place.trim_start_matches("/registry"),
        false => place.as_str(),
    };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
         failed: UID in precondition: {uid}, UID in object meta: {is}"
    );
    Failure::conflict(&call.resource, name, &why)
}

/// The object that is replaced must be the one that was meant, in the version that was meant.
fn check_version(call: &Call<'_>, new: &Object, old: &Object) -> Result<(), Failure> {
    let name = old.name();
    let uid = new.uid();
    // A patch is of whatever is there; another identity in its result is a mistake that is found later.
    let means_one = call.request.method == Method::Put;
    if means_one && !uid.is_empty() && uid != old.uid() {
        return Err(other_incarnation(call, uid, old.uid()));
    }
    let version = new.resource_version();
    let number: u64 = match version {
        "" => 0,
        version => {
            let wrong = |_| Failure::new(500, "", no_number(version));
            version.parse().map_err(wrong)?
        }
    };
    if number == 0
        && !(allows_unconditional_update(&call.resource) && call.rules().updates_unconditionally())
    {
        let (group, plural) = (&call.resource.group, &call.resource.plural);
        let why = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", 0, why);
        return Err(Failure::invalid(group, plural, name, &[error]));
    }
    if number != 0 && version != old.resource_version() {
        return Err(Failure::modified(&call.resource, name));
    }
    Ok(())
}

/// What Go says of a version that is no number.
pub(crate) fn no_number(version: &str) -> String {
    let is_large = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let why = match is_large {
        true => "value out of range",
        false => "invalid syntax",
    };
    format!("strconv.ParseUint: parsing {version:?}: {why}")
}

/// The object must be of the kind and in the namespace that the path says.
pub(crate) fn place(call: &Call<'_>, object: &mut Object) -> Result<(), Failure> {
    let namespace = call.path.namespace.as_str();
    if !call.resource.namespaced {
        object.meta_mut().remove("namespace");
        return Ok(());
    }
    match object.namespace() {
        "" => {
            object
                .meta_mut()
                .insert("namespace".to_owned(), namespace.into());
        }
        sent if sent != namespace => {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Failure::bad_request(message));
        }
        _ => {}
    }
    Ok(())
}

/// What is applied must say what it is about as the path does.
pub(crate) fn place_applied(call: &Call<'_>, config: &mut Object) -> Result<(), Failure> {
    let says_namespace = !config.namespace().is_empty();
    place(call, config)?;
    if !says_namespace {
        // Messages tell what was sent; the object gets its namespace when it is made.
        config.meta_mut().remove("namespace");
    }
    let name = call.path.name.as_str();
    match config.name() {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        sent if sent == name => Ok(()),
        sent => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
    }
}

/// A moment as it is written, to the second.
pub(crate) fn stamp(moment: Timestamp) -> Value {
    moment.to_string().into()
}

/// The mistakes in the metadata of an object.
pub(crate) fn validate(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    let mut errors = all_but_finalizers(call, object);
    if checks_finalizers(call) {
        errors.extend(unqualified_finalizers(object));
    }
    errors
}

/// The mistakes in metadata with a simple name, whose finalizers have to be qualified.
pub(crate) fn simple_mistakes(object: &Object) -> Vec<FieldError> {
    let names = |name: &str, is_prefix| names::mistakes(NameRule::Subdomain, name, is_prefix);
    let mut errors = names_and_shared(names, object);
    errors.extend(unqualified_finalizers(object));
    errors
}

fn all_but_finalizers(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    // Events have two groups, of which one is strict about names.
    let rule = match call.resource.group.as_str() {
        "events.k8s.io" => NameRule::Subdomain,
        _ => call.rules().name_rule(),
    };
    // What comes of a prefix is looked at, and of these kinds only that.
    let skips_prefix = matches!(
        call.resource.plural.as_str(),
        "deviceclasses" | "replicationcontrollers"
    );
    let names = |name: &str, is_prefix: bool| {
        if is_prefix && skips_prefix {
            return Vec::new();
        }
        let mut wrong = names::mistakes(rule, name, is_prefix);
        if wrong.is_empty() {
            wrong.extend(call.rules().name_mistake(object, name));
        }
        wrong
    };
    names_and_shared(names, object)
}

fn names_and_shared(
    mistakes: impl Fn(&str, bool) -> Vec<String>,
    object: &Object,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let prefix = object.meta_text("generateName");
    if !prefix.is_empty() {
        for mistake in mistakes(prefix, true) {
            errors.push(FieldError::invalid(
                "metadata.generateName",
                prefix,
                mistake,
            ));
        }
    }
    match object.name() {
        "" => {
            let detail = "name or generateName is required";
            errors.push(FieldError::required("metadata.name", detail));
        }
        name => {
            for mistake in mistakes(name, false) {
                errors.push(FieldError::invalid("metadata.name", name, mistake));
            }
        }
    }
    errors.extend(shared(object.meta()));
    errors
}

fn unqualified_finalizers(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, name) in object.finalizers().enumerate() {
        let is_standard = matches!(name, "kubernetes" | "orphan" | "foregroundDeletion");
        if !name.contains('/') && !is_standard {
            let place = format!("metadata.finalizers[{at}]");
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(place, name, why));
        }
    }
    errors
}

/// Whether a kind wants the names of finalizers to be qualified; some of upstream's groups do not ask.
fn checks_finalizers(call: &Call<'_>) -> bool {
    let group = call.resource.group.as_str();
    let is_old_event = group.is_empty() && call.resource.plural == "events";
    call.resource.of_definition().is_none()
        && !is_old_event
        && !matches!(
            group,
            "admissionregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "apiregistration.k8s.io"
                | "coordination.k8s.io"
                | "node.k8s.io"
                | "policy"
        )
}

/// The mistakes in what every kind's metadata has.
fn shared(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(generation) = meta["generation"].as_i64().filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("metadata.generation", generation, why));
    }
    for (key, value) in meta["labels"].as_object().into_iter().flatten() {
        for why in label_key_mistakes(key) {
            errors.push(FieldError::invalid("metadata.labels", key.as_str(), why));
        }
        let value = value.as_str().unwrap_or_default();
        for why in label_value_mistakes(value) {
            errors.push(FieldError::invalid("metadata.labels", value, why));
        }
    }
    let mut weight = 0;
    for (key, value) in meta["annotations"].as_object().into_iter().flatten() {
        for why in label_key_mistakes(&key.to_lowercase()) {
            let place = "metadata.annotations";
            errors.push(FieldError::invalid(place, key.as_str(), why));
        }
        weight += key.len() + value.as_str().unwrap_or_default().len();
    }
    if weight > ANNOTATIONS_BYTES_MAX {
        let detail = format!("may not be more than {ANNOTATIONS_BYTES_MAX} bytes");
        errors.push(FieldError::too_long("metadata.annotations", detail));
    }
    errors.extend(owners(meta));
    errors.extend(finalizer_mistakes(meta));
    errors.extend(manager_mistakes(meta));
    errors
}

fn finalizer_mistakes(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all = meta["finalizers"].as_array().into_iter().flatten();
    let all: Vec<&str> = all.filter_map(Value::as_str).collect();
    for name in &all {
        for why in label_key_mistakes(name) {
            errors.push(FieldError::invalid("metadata.finalizers", *name, why));
        }
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        let value = Value::from(all);
        errors.push(FieldError::invalid("metadata.finalizers", value, why));
    }
    errors
}

fn manager_mistakes(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all = meta["managedFields"].as_array().into_iter().flatten();
    for (at, entry) in all.enumerate() {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        let place = |field: &str| format!("metadata.managedFields[{at}].{field}");
        let operation = text("operation");
        if !matches!(operation, "Apply" | "Update") {
            let why = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(place("operation"), operation, why));
        }
        let kind = text("fieldsType");
        if !matches!(kind, "" | "FieldsV1") {
            let why = "must be `FieldsV1`";
            errors.push(FieldError::invalid(place("fieldsType"), kind, why));
        }
    }
    errors
}

/// The mistakes in an update's metadata, which come before those of its kind.
pub(crate) fn validate_update(call: &Call<'_>, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = all_but_finalizers(call, new);
    if leaves_prefix(call) {
        errors.retain(|error| error.field != "metadata.generateName");
    }
    if old.is_deleting() {
        let is_new = |one: &&str| !old.finalizers().any(|kept| kept == *one);
        let mut added: Vec<&str> = new.finalizers().filter(is_new).collect();
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let added: Vec<String> = added.iter().map(|one| format!("{one:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (is, was) = (&new.meta()[field], &old.meta()[field]);
        if is != was {
            let place = format!("metadata.{field}");
            let why = "field is immutable";
            errors.push(FieldError::invalid(place, is.clone(), why));
        }
    }
    // Of the status of a CronJob nothing of its own is looked at.
    let is_cron_status =
        call.resource.plural == "cronjobs" && call.path.subresource.as_str() == "status";
    if checks_finalizers(call) && !is_cron_status {
        errors.extend(unqualified_finalizers(new));
    }
    errors
}

/// Whether nobody looks at the prefix of a name any more when there is one: so with some kinds, and with more of them if
/// it is the status that is written.
fn leaves_prefix(call: &Call<'_>) -> bool {
    let resource = (call.resource.group.as_str(), call.resource.plural.as_str());
    let always = matches!(
        resource,
        ("", "nodes" | "podtemplates" | "resourcequotas" | "services")
            | (
                "apps",
                "daemonsets" | "deployments" | "replicasets" | "statefulsets"
            )
            | ("autoscaling", "horizontalpodautoscalers")
            | ("batch", "cronjobs")
            | ("coordination.k8s.io", "leases")
            | ("networking.k8s.io", "networkpolicies")
            | ("scheduling.k8s.io", "priorityclasses")
            | ("storage.k8s.io", "csidrivers")
    );
    let of_status = matches!(
        resource,
        (
            "",
            "namespaces" | "persistentvolumeclaims" | "persistentvolumes" | "pods"
        ) | ("batch", "jobs")
            | ("networking.k8s.io", "ingresses")
    );
    always || (of_status && call.path.subresource.as_str() == "status")
}

fn owners(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut first: Option<String> = None;
    for owner in meta["ownerReferences"].as_array().into_iter().flatten() {
        let group_version = owner["apiVersion"].as_str().unwrap_or_default();
        // What has more parts than a group and a version is taken for having neither.
        if group_version.is_empty()
            || group_version.matches('/').count() > 1
            || group_version.ends_with('/')
        {
            let (place, why) = (
                "metadata.ownerReferences.apiVersion",
                "version must not be empty",
            );
            errors.push(FieldError::invalid(place, group_version, why));
        }
        for field in ["kind", "name", "uid"] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                let place = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid(place, "", "must not be empty"));
            }
        }
        let (kind, name) = (
            owner["kind"].as_str().unwrap_or_default(),
            owner["name"].as_str().unwrap_or_default(),
        );
        if owner["apiVersion"] == "v1" && kind == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            let place = "metadata.ownerReferences";
            errors.push(FieldError::invalid(place, owner.clone(), why));
        }
        if owner["controller"] != true {
            continue;
        }
        let told = format!("{kind}/{name}");
        match &first {
            None => first = Some(told),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {told}"
                );
                let place = "metadata.ownerReferences";
                let all = meta["ownerReferences"].clone();
                errors.push(FieldError::invalid(place, all, detail));
            }
        }
    }
    errors
}
