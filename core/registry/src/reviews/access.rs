//! Who may do what, and what may I do here.
//!
//! Upstream: `pkg/registry/authorization/*/rest.go`, `pkg/apis/authorization/validation`.

use std::collections::BTreeMap;

use flyball_api::Text;
use flyball_rbac::{Attributes, Target, User};
use serde_json::{Value, json};

use super::selectors;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry};

impl Registry {
    /// Answers whether somebody may do something.
    pub(super) fn access(&self, call: &Call<'_>, mut review: Object) -> Result<Object, Failure> {
        let errors = mistakes(call, &review);
        if !errors.is_empty() {
            // Upstream asks its internal object for a kind, and that has none.
            let errors = call.as_upstream_tells(errors, &[]);
            return Err(Failure::invalid(&call.resource.group, "", "", &errors));
        }
        let status = {
            let asked_for;
            let user = match call.resource.plural.as_str() {
                "selfsubjectaccessreviews" => call.request.user,
                _ => {
                    asked_for = subject(at(&review, "spec"));
                    &asked_for
                }
            };
            self.decide(user, at(&review, "spec"))
        };
        review.insert("status".to_owned(), status);
        Ok(review)
    }

    fn decide(&self, user: &User, spec: &Value) -> Value {
        let resource = &spec["resourceAttributes"];
        let (asked, target) = match resource.is_object() {
            true => (
                resource,
                Target::Resource(flyball_rbac::Resource {
                    group: word(resource, "group"),
                    resource: word(resource, "resource"),
                    subresource: word(resource, "subresource"),
                    namespace: word(resource, "namespace"),
                    name: word(resource, "name"),
                }),
            ),
            false => {
                let path = &spec["nonResourceAttributes"];
                (path, Target::Path(word(path, "path")))
            }
        };
        let verb = word(asked, "verb");
        let decision = flyball_rbac::authorize(&Attributes { user, verb, target }, self.roles());
        let mut status = json!({"allowed": decision.allowed});
        if !decision.reason.is_empty() {
            status["reason"] = decision.reason.into();
        }
        let ignored = selectors::ignored(resource);
        if !ignored.is_empty() {
            status["evaluationError"] = ignored.join("; ").into();
        }
        status
    }

    /// Answers what whoever asks may do in a namespace.
    pub(super) fn rules_here(&self, call: &Call<'_>, review: &Object) -> Result<Object, Failure> {
        let namespace = at(review, "spec.namespace").as_str().unwrap_or_default();
        if namespace.is_empty() {
            return Err(Failure::bad_request("no namespace on request"));
        }
        let found = flyball_rbac::rules_review(call.request.user, namespace, self.roles());
        let mut answer = Object::new();
        answer.insert("kind".to_owned(), call.resource.kind.as_str().into());
        answer.insert("apiVersion".to_owned(), call.resource.api_version().into());
        answer.insert("metadata".to_owned(), json!({}));
        answer.insert("spec".to_owned(), json!({}));
        let status = serde_json::to_value(found).unwrap_or_default();
        answer.insert("status".to_owned(), status);
        Ok(answer)
    }
}

/// Whom a review is about.
fn subject(spec: &Value) -> User {
    let texts = |list: &Value| -> Vec<Text> {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(Text::from).collect()
    };
    let extra = spec["extra"].as_object().into_iter().flatten();
    let extra: BTreeMap<Text, Vec<Text>> = extra
        .map(|(key, values)| (key.as_str().into(), texts(values)))
        .collect();
    User {
        name: word(spec, "user").into(),
        uid: word(spec, "uid").into(),
        groups: texts(&spec["groups"]),
        extra,
    }
}

/// What is wrong with a review.
fn mistakes(call: &Call<'_>, review: &Object) -> Vec<FieldError> {
    let plural = call.resource.plural.as_str();
    let is_local = plural == "localsubjectaccessreviews";
    let spec = at(review, "spec");
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut errors = Vec::new();
    if resource.is_object() && path.is_object() {
        let why = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            shown(path),
            why,
        ));
    }
    if !resource.is_object() && !path.is_object() {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid(
            "spec.resourceAttributes",
            Value::Null,
            why,
        ));
    }
    let nobody =
        word(spec, "user").is_empty() && spec["groups"].as_array().is_none_or(Vec::is_empty);
    if plural != "selfsubjectaccessreviews" && nobody {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", "", why));
    }
    errors.extend(selectors::mistakes(resource));
    let allowed: &[&str] = match is_local {
        true => &["managedFields", "namespace"],
        false => &["managedFields"],
    };
    let sent = review.meta().as_object().into_iter().flatten();
    if sent
        .clone()
        .any(|(field, value)| !allowed.contains(&field.as_str()) && !is_blank(value))
    {
        let why = match is_local {
            true => "must be empty except for namespace",
            false => "must be empty",
        };
        errors.push(FieldError::invalid("metadata", review.meta().clone(), why));
    }
    if is_local {
        let namespace = word(resource, "namespace");
        if resource.is_object() && namespace != review.namespace() {
            let field = "spec.resourceAttributes.namespace";
            errors.push(FieldError::invalid(
                field,
                namespace,
                "must match metadata.namespace",
            ));
        }
        if path.is_object() {
            let why = "disallowed on this kind of request";
            errors.push(FieldError::invalid(
                "spec.nonResourceAttributes",
                shown(path),
                why,
            ));
        }
    }
    errors
}

/// A path as upstream shows it in errors: its internal type has no names for JSON.
fn shown(path: &Value) -> Value {
    json!({"Path": word(path, "path"), "Verb": word(path, "verb")})
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::Bool(_) => false,
    }
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
