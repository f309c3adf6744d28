//! Changing objects by patch: by what to change, or by what somebody wants to own.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/patch.go`.

mod body;

use flyball_api::StatusDetails;
use flyball_patch::{PatchRefused, go_plain, strategic_left};
use flyball_schema::Schema;
use serde_json::Value;

use crate::answer::Answer;
use crate::decode::Wanted;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::managed::{Note, with_change};
use crate::object::{Meta, Object};
use crate::owner_references::{self, Origin};
use crate::query::FieldValidation;
use crate::registry::{Call, Registry};
use crate::request::Chance;
use crate::update::Part;
use crate::{custom, decode, meta, path_lengths};

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

impl Registry {
    pub(crate) fn patch(
        &mut self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if content_type(call) == APPLY {
            return self.apply(call, Part::Body, chance);
        }
        let (seen, old) = self.read(call)?;
        let (new, warnings) = patched(call, &old)?;
        let answer = self.replace(call, (Part::Body, Note::Update), seen, &old, new, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    /// Patches a part of an object.
    pub(crate) fn patch_part(
        &mut self,
        call: &Call<'_>,
        part: Part,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if content_type(call) == APPLY {
            return self.apply(call, part, chance);
        }
        let (seen, old) = self.read(call)?;
        let (new, warnings) = patched(call, &old)?;
        let answer = self.replace(call, (part, Note::Update), seen, &old, new, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    /// Server-side apply: merges what one client wants into the object, which is made if there is none.
    fn apply(
        &mut self,
        call: &Call<'_>,
        part: Part,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let found = self.read(call).ok();
        // An object is not made by applying a part of it, unless its kind is made by any replacement.
        let may_make = part == Part::Body || call.rules().creates_on_update();
        if found.is_none() && !may_make {
            return Err(Failure::not_found(&call.resource, &call.path.name));
        }
        let config = yaml(call)?;
        let live = found
            .as_ref()
            .map(|(_, old)| Value::Object(call.as_told(old.clone())));
        let force = call.query.force;
        let applied = with_change(call, |change| {
            flyball_patch::apply(live.as_ref(), &config, force, change)
        });
        let misfit = |object: &Value| call.resource.of_definition()?.misfit(object);
        let unlike = |which: &str, why: String| {
            Failure::new(500, "", format!("failed to convert {which} object: {why}"))
        };
        if let Some(why) = live.as_ref().and_then(misfit) {
            return Err(unlike("old", why));
        }
        let applied = applied.map_err(|refusal| refused(&refusal))?;
        if let Some(why) = misfit(&applied) {
            return Err(unlike("new", why));
        }
        let unfit = |why: &str| unfit(call, &config, why);
        let (mut new, mut warnings) = match call.resource.of_definition() {
            Some(custom) => custom::applied(call, custom, applied, &unfit)?,
            None => {
                let unconverted = |why: &str| unconverted(call, &config, why);
                decode::merged(call, applied, Vec::new(), unfit, unconverted)?
            }
        };
        warnings.extend(told_doubles(call)?);
        owner_references::unite(&mut new, Origin::Patched, &mut warnings);
        let placed = match (found.is_none(), new.uid()) {
            (true, uid) if !uid.is_empty() => {
                let why = format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                );
                Err(Failure::conflict(&call.resource, &call.path.name, &why))
            }
            _ => meta::place_applied(call, &mut new),
        };
        if let Err(refusal) = placed {
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        let new = call.to_kept(new);
        let answer = match found {
            Some((seen, old)) => self.replace(call, (part, Note::Applied), seen, &old, new, chance),
            None => self.insert(call, new, Note::Applied, chance),
        };
        Ok(Answer::of(answer).warned(warnings))
    }
}

/// What is told of keys that a configuration names twice.
pub(crate) fn told_doubles(call: &Call<'_>) -> Result<Vec<String>, Failure> {
    let doubles = &call.query.doubles;
    match call.query.field_validation {
        FieldValidation::Strict if !doubles.is_empty() => Err(Failure::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
            doubles.join("\n  ")
        ))),
        FieldValidation::Warn => Ok(doubles.clone()),
        FieldValidation::Strict | FieldValidation::Ignore => Ok(Vec::new()),
    }
}

/// A configuration came to something that is not of its type.
pub(crate) fn unfit(call: &Call<'_>, config: &Value, why: &str) -> Failure {
    let kind = Wanted::of(call).in_messages();
    let text = |field: &str| config["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let message = format!(
        "failed to convert new object ({namespace}/{name}; {kind}) to proper version: unable to convert unstructured \
         object to {kind}: {why}"
    );
    Failure::new(500, "", message)
}

/// A configuration came to something that cannot be kept.
fn unconverted(call: &Call<'_>, config: &Value, why: &str) -> Failure {
    let kind = Wanted::of(call).in_messages();
    let text = |field: &str| config["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let message = format!("failed to convert to unversioned ({namespace}/{name}; {kind}): {why}");
    Failure::new(500, "", message)
}

/// What upstream's router thinks of a content type: it must be one of those that are known.
pub(crate) fn check_route(content_type: &str) -> Result<(), Failure> {
    let known = |one: &str| {
        let name = one.split(';').next().unwrap_or_default().trim();
        matches!(name, JSON | MERGE | STRATEGIC | APPLY)
    };
    match content_type.split(',').any(known) {
        true => Ok(()),
        false => Err(unrouted()),
    }
}

fn unrouted() -> Failure {
    let mut failure = Failure::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
    failure.0.details = Some(StatusDetails::default());
    failure
}

/// What is applied, which is YAML and therefore may be JSON.
pub(crate) fn yaml(call: &Call<'_>) -> Result<Value, Failure> {
    let read = serde_json::from_slice(call.request.body);
    let read =
        read.map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
    Ok(match read {
        Value::Null => Value::Object(Object::new()),
        read => read,
    })
}

fn content_type<'a>(call: &'a Call<'_>) -> &'a str {
    call.request
        .content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
}

/// Refuses a patch of a type that is not known; says whether it is applied.
pub(crate) fn check_type(call: &Call<'_>) -> Result<bool, Failure> {
    let is_custom = call.resource.of_definition().is_some();
    match content_type(call) {
        APPLY => Ok(true),
        JSON | MERGE => Ok(false),
        // Custom resources have no Go types whose tags would say how to merge.
        _ if is_custom => Err(Failure::unsupported_media_type(&[JSON, MERGE, APPLY])),
        STRATEGIC => Ok(false),
        _ => Err(Failure::unsupported_media_type(&[
            JSON, MERGE, STRATEGIC, APPLY,
        ])),
    }
}

/// What the patch that was sent makes of an object.
pub(crate) fn patched(call: &Call<'_>, old: &Object) -> Result<(Object, Vec<String>), Failure> {
    let (mut new, mut warnings) = changed(call, call.as_told(old.clone()))?;
    owner_references::unite(&mut new, Origin::Patched, &mut warnings);
    Ok((call.to_kept(new), warnings))
}

/// What the patch that was sent makes of an object or a part of one, as it is told.
pub(crate) fn changed(call: &Call<'_>, old: Object) -> Result<(Object, Vec<String>), Failure> {
    let (patch, faults) = body::read(call)?;
    let is_strategic = content_type(call) == STRATEGIC;
    let schema = Wanted::of(call).schema();
    let old = Value::Object(old);
    let merged = is_strategic.then(|| (old.clone(), patch.clone()));
    let changed = change(call, old, patch, schema)?;
    // Upstream shows the object that came out, or of a strategic merge what is left of the patch.
    let whole = (!is_strategic).then(|| changed.to_string());
    // A patch may move fields below a long name.
    path_lengths::check(whole.as_deref().unwrap_or_default().as_bytes())?;
    let invalid = |why: &str| {
        let merged = merged.as_ref();
        let left = merged.map(|(old, patch)| strategic_left(old, patch.clone(), schema));
        let left = left.map(|left| go_plain(&left));
        let shown = left.or_else(|| whole.clone()).unwrap_or_default();
        let error = FieldError::invalid("patch", shown.as_str(), why);
        Failure::invalid("", "", "", &[error])
    };
    match is_strategic {
        true => {
            let unconverted = |why: &str| Failure::new(500, "", why);
            decode::merged(call, changed, faults, invalid, unconverted)
        }
        false => decode::check(call, changed, faults, invalid),
    }
}

/// Whether a patch is what somebody wants to own.
pub(crate) fn is_apply(call: &Call<'_>) -> bool {
    content_type(call) == APPLY
}

fn change(
    call: &Call<'_>,
    value: Value,
    patch: Value,
    schema: Schema<'_>,
) -> Result<Value, Failure> {
    let is_loose = call.query.field_validation == FieldValidation::Ignore;
    let changed = match content_type(call) {
        JSON => flyball_patch::json_patch(value, &patch),
        // A list is what comes out as it is, where nobody looked at it before.
        MERGE if patch.is_array() && is_loose => Ok(patch),
        MERGE => flyball_patch::merge_patch(value, &patch),
        _ => flyball_patch::strategic_merge(value, patch, schema),
    };
    changed.map_err(|refusal| refused(&refusal))
}

/// Why a patch is refused, as it is answered.
pub(crate) fn refused(refusal: &PatchRefused) -> Failure {
    let class = refusal.class;
    let mut failure = Failure::new(class.code(), class.reason(), &refusal.message);
    if !refusal.causes.is_empty() || class.code() == 422 {
        failure.0.details = Some(StatusDetails {
            causes: refusal.causes.clone(),
            ..StatusDetails::default()
        });
    }
    failure
}
