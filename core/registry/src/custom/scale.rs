//! The scale of a custom object: where its definition says that replicas and selector are.
//!
//! Upstream: `apiextensions-apiserver/pkg/registry/customresource/{etcd,validator}.go`.

use flyball_api::Text;
use flyball_schema::go_number;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::object::{Meta, Object};

/// Where the parts of a scale are, such as `.spec.replicas`.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    spec: Text,
    status: Text,
    selector: Option<Text>,
}

impl Scale {
    /// Reads the subresource of a definition.
    pub(super) fn read(scale: &Value) -> Option<Self> {
        let text = |field: &str| scale[field].as_str().filter(|path| !path.is_empty());
        Some(Self {
            spec: text("specReplicasPath")?.into(),
            status: text("statusReplicasPath")?.into(),
            selector: text("labelSelectorPath").map(Text::from),
        })
    }

    /// The scale of an object.
    pub(crate) fn of(&self, object: &Object) -> Result<Value, Failure> {
        let wrong = |why: String| {
            Failure::new(
                500,
                "InternalError",
                format!("Internal error occurred: {why}"),
            )
        };
        let Some(replicas) = whole(object, &self.spec).map_err(wrong)? else {
            let why = format!("the spec replicas field {:?} does not exist", self.spec);
            return Err(wrong(why));
        };
        let mut status =
            json!({"replicas": whole(object, &self.status).map_err(wrong)?.unwrap_or_default()});
        if let Some(path) = &self.selector
            && let Some(selector) = words(object, path)
                .map_err(wrong)?
                .filter(|text| !text.is_empty())
        {
            status["selector"] = selector.into();
        }
        let mut meta = Map::new();
        for field in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ] {
            if let Some(value) = object.meta().get(field) {
                meta.insert(field.to_owned(), value.clone());
            }
        }
        Ok(json!({
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": meta,
            // Zero is what is not there, as upstream writes it.
            "spec": match replicas {
                0 => json!({}),
                replicas => json!({"replicas": replicas}),
            },
            "status": status,
        }))
    }

    /// The way to the replicas, field by field.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &str> {
        steps(&self.spec)
    }

    /// Sets the replicas of an object.
    pub(crate) fn set(&self, object: &mut Object, replicas: i64) {
        let mut parts = steps(&self.spec).peekable();
        let mut place = object;
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                place.insert(part.to_owned(), replicas.into());
                return;
            }
            let next = place.entry(part).or_insert_with(|| json!({}));
            match next {
                Value::Object(next) => place = next,
                // What cannot hold it is told by whoever validates the object.
                _ => return,
            }
        }
    }

    /// The mistakes in what is written about the scale in the spec.
    pub(super) fn spec_mistakes(&self, object: &Object) -> Vec<FieldError> {
        bounded(&self.spec, whole(object, &self.spec))
    }

    /// The mistakes in what is written about the scale in the status.
    pub(super) fn status_mistakes(&self, object: &Object) -> Vec<FieldError> {
        let mut mistakes = bounded(&self.status, whole(object, &self.status));
        if let Some(path) = &self.selector
            && let Err(why) = words(object, path)
        {
            mistakes.push(FieldError::invalid(path.as_str(), "", why));
        }
        mistakes
    }
}

fn bounded(path: &str, replicas: Result<Option<i64>, String>) -> Vec<FieldError> {
    let mistake = |value: i64, why: &str| vec![FieldError::invalid(path, value, why)];
    match replicas {
        Err(why) => mistake(0, &why),
        Ok(Some(count)) if count < 0 => mistake(count, "should be a non-negative integer"),
        Ok(Some(count)) if count > i64::from(i32::MAX) => {
            mistake(count, "should be less than or equal to 2147483647")
        }
        Ok(_) => Vec::new(),
    }
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('.').unwrap_or(path).split('.')
}

/// The value at a path; the error is what Go says of something on the way that has no fields.
fn find<'a>(object: &'a Object, path: &str) -> Result<Option<&'a Value>, String> {
    let mut parts = steps(path);
    let first = parts.next().unwrap_or_default();
    let mut way = format!(".{first}");
    let Some(mut value) = object.get(first) else {
        return Ok(None);
    };
    for part in parts {
        way.push('.');
        way.push_str(part);
        match value {
            Value::Null => return Ok(None),
            Value::Object(fields) => match fields.get(part) {
                Some(found) => value = found,
                None => return Ok(None),
            },
            other => return Err(wrong(&way, other, "map[string]interface{}")),
        }
    }
    Ok(Some(value))
}

fn whole(object: &Object, path: &str) -> Result<Option<i64>, String> {
    match find(object, path)? {
        None => Ok(None),
        Some(value) => match value.as_i64() {
            Some(whole) => Ok(Some(whole)),
            None => Err(wrong(path, value, "int64")),
        },
    }
}

fn words<'a>(object: &'a Object, path: &str) -> Result<Option<&'a str>, String> {
    match find(object, path)? {
        None => Ok(None),
        Some(value) => match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(path, value, "string")),
        },
    }
}

fn wrong(path: &str, found: &Value, expected: &str) -> String {
    let (shown, kind) = match found {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(flag) => (flag.to_string(), "bool"),
        Value::Number(number) if number.is_i64() => (number.to_string(), "int64"),
        Value::Number(number) => (go_number(number), "float64"),
        Value::String(text) => (text.clone(), "string"),
        Value::Array(_) => (go_list(found), "[]interface {}"),
        Value::Object(_) => (go_list(found), "map[string]interface {}"),
    };
    format!("{path} accessor error: {shown} is of the type {kind}, expected {expected}")
}

/// A list or map as Go's `%v` prints it.
fn go_list(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_list).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key}:{}", go_list(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => go_number(number),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> Scale {
        Scale::read(&json!({
            "specReplicasPath": ".spec.deep.count", "statusReplicasPath": ".status.count",
            "labelSelectorPath": ".status.selector",
        }))
        .unwrap()
    }

    fn object(value: Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_scale_is_read_from_and_written_to_where_the_definition_says() {
        let mut thing = object(
            json!({"metadata": {"name": "a", "labels": {}}, "status": {"count": 2, "selector": "a=b"}}),
        );
        assert!(scale().of(&thing).is_err());
        scale().set(&mut thing, 5);
        assert_eq!(thing["spec"], json!({"deep": {"count": 5}}));
        let seen = scale().of(&thing).unwrap();
        assert_eq!(seen["spec"]["replicas"], 5);
        assert_eq!(seen["status"], json!({"replicas": 2, "selector": "a=b"}));
        assert_eq!(seen["metadata"], json!({"name": "a"}));
    }

    #[test]
    fn what_is_no_count_is_told_as_go_tells_it() {
        for (spec, told) in [
            (
                json!(5),
                ".spec.deep.count: Invalid value: 0: .spec.deep accessor error: 5 is of the type int64, expected map[string]interface{}",
            ),
            (
                json!({"deep": {"count": "x"}}),
                ".spec.deep.count: Invalid value: 0: .spec.deep.count accessor error: x is of the type string, expected int64",
            ),
            (
                json!({"deep": {"count": 1.5}}),
                ".spec.deep.count: Invalid value: 0: .spec.deep.count accessor error: 1.5 is of the type float64, expected int64",
            ),
            (
                json!({"deep": {"count": -1}}),
                ".spec.deep.count: Invalid value: -1: should be a non-negative integer",
            ),
        ] {
            let mistakes = scale().spec_mistakes(&object(json!({"spec": spec})));
            assert_eq!(
                mistakes.first().map(ToString::to_string).as_deref(),
                Some(told)
            );
        }
    }
}
