//! Columns of custom resources, as their definition lists them.

use flyball_schema::go_json;
use serde_json::{Value, json};

use super::age;
use super::columns::{AGE_DESCRIPTION, NAME};
use super::json_path::JsonPath;
use super::row::{Row, number, text};

/// The columns of a version of a custom resource, beside the name.
#[derive(Clone, Debug)]
pub(super) struct CustomColumns(Vec<CustomColumn>);

#[derive(Clone, Debug)]
struct CustomColumn {
    kind: String,
    definition: Value,
    path: JsonPath,
}

impl CustomColumns {
    /// Reads `additionalPrinterColumns`. Without any there is the age.
    ///
    /// As upstream, a path that cannot be read is no error: it and the columns after it are left out.
    pub(super) fn read(columns: &[Value]) -> Self {
        let age = json!({
            "name": "Age",
            "type": "date",
            "description": AGE_DESCRIPTION,
            "jsonPath": ".metadata.creationTimestamp",
        });
        let columns = match columns {
            [] => std::slice::from_ref(&age),
            columns => columns,
        };
        Self(columns.iter().map_while(CustomColumn::read).collect())
    }

    /// The columns as they are written in tables.
    pub(super) fn definitions(&self) -> Value {
        let columns = self.0.iter().map(|column| column.definition.clone());
        std::iter::once(NAME.definition()).chain(columns).collect()
    }

    /// One cell for each column.
    pub(super) fn cells(&self, row: &Row<'_>) -> Vec<Value> {
        let object = Value::Object(row.object.clone());
        let cells = self.0.iter().map(|column| column.cell(&object, row));
        std::iter::once(row.name().into()).chain(cells).collect()
    }
}

impl CustomColumn {
    fn read(column: &Value) -> Option<Self> {
        let written = text(&column["jsonPath"]);
        let description = match text(&column["description"]) {
            "" => format!("Custom resource definition column (in JSONPath format): {written}"),
            description => description.to_owned(),
        };
        Some(Self {
            kind: text(&column["type"]).into(),
            path: JsonPath::parse(written).ok()?,
            definition: json!({
                "name": text(&column["name"]),
                "type": text(&column["type"]),
                "format": text(&column["format"]),
                "description": description,
                "priority": number(&column["priority"]),
            }),
        })
    }

    /// The cell: of several values the first; null if there is none, or none of the column's type.
    fn cell(&self, object: &Value, row: &Row<'_>) -> Value {
        let found = self.path.find(object).unwrap_or_default();
        let Some(found) = found.first() else {
            return Value::Null;
        };
        match (self.kind.as_str(), found) {
            ("string", found) => printed(found).into(),
            ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole.into(),
                // Go, too, drops the fraction and stays within the ends.
                (None, Some(float)) => (float as i64).into(),
                (None, None) => Value::Null,
            },
            ("number", Value::Number(number)) => Value::Number(number.clone()),
            ("boolean", Value::Bool(flag)) => (*flag).into(),
            ("date", Value::String(written)) => date(written, row).into(),
            _ => Value::Null,
        }
    }
}

fn date(written: &str, row: &Row<'_>) -> String {
    let readable = written.is_empty() || written.parse::<flyball_api::Timestamp>().is_ok();
    match readable {
        true => age::since(&written.into(), row.now),
        false => "<invalid>".into(),
    }
}

/// A value as text: scalars as they are, everything else as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) => float_text(float),
            _ => number.to_string(),
        },
        Value::Array(_) | Value::Object(_) => go_json(&whole(value.clone())),
    }
}

/// The same value with floats that have no fraction as integers, which is how Go writes them.
fn whole(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(whole).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, whole(value)))
            .collect(),
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
            _ => Value::Number(number),
        },
        other => other,
    }
}

/// A float as Go prints it: with an exponent of at least two digits if it is very large or small.
fn float_text(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-4..1e21).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_printed_as_go_prints_them() {
        let cases = [
            (2.5, "2.5"),
            (0.0, "0"),
            (-3.0, "-3"),
            (1e20, "100000000000000000000"),
            (1.5e21, "1.5e+21"),
            (0.0001, "0.0001"),
            (0.000025, "2.5e-05"),
        ];
        for (float, expected) in cases {
            assert_eq!(float_text(float), expected);
        }
    }

    #[test]
    fn what_is_no_scalar_is_printed_as_json() {
        assert_eq!(
            printed(&json!({"a": ["<b>", 1]})),
            r#"{"a":["\u003cb\u003e",1]}"#
        );
        assert_eq!(printed(&json!(null)), "<no value>");
    }
}
