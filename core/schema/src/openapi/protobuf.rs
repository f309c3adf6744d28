//! An OpenAPI v2 document in protobuf: kubectl asks for it in no other form, when OpenAPI v3 does not know a kind (a
//! `List` that was written to a file, say).
//!
//! The messages are those of gnostic's `OpenAPIv2.proto`, as far as a document of ours has something for them. Values
//! of any kind are text there, in YAML: they are written as JSON, which is YAML as well.

mod writer;

use serde_json::Value;
use writer::Writer;

/// The name of this form, as it is answered.
pub const MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The name by which most clients ask for it.
pub const MEDIA_TYPE_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// The document of [`v2`](super::v2), written in protobuf.
pub fn v2_protobuf(document: &Value) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(1, &document["swagger"]);
    writer.message(2, |info| {
        info.text(1, &document["info"]["title"]);
        info.text(2, &document["info"]["version"]);
    });
    writer.message(8, |paths| paths.named(2, &document["paths"], path));
    writer.message(9, |all| all.named(1, &document["definitions"], schema));
    writer.each(12, &document["security"], |requirement, of| {
        requirement.named(1, of, |scopes, of| scopes.texts(1, of));
    });
    writer.message(13, |all| {
        all.named(1, &document["securityDefinitions"], |item, security| {
            item.message(2, |key| api_key(key, security));
        });
    });
    writer.bytes()
}

fn api_key(writer: &mut Writer, key: &Value) {
    writer.text(1, &key["type"]);
    writer.text(2, &key["name"]);
    writer.text(3, &key["in"]);
    writer.text(4, &key["description"]);
}

fn path(writer: &mut Writer, path: &Value) {
    const METHODS: [(&str, u32); 7] = [
        ("get", 2),
        ("put", 3),
        ("post", 4),
        ("delete", 5),
        ("options", 6),
        ("head", 7),
        ("patch", 8),
    ];
    for (method, number) in METHODS {
        if let Some(described) = path.get(method) {
            writer.message(number, |writer| operation(writer, described));
        }
    }
    writer.each(9, &path["parameters"], parameter);
    writer.extensions(10, path);
}

fn operation(writer: &mut Writer, operation: &Value) {
    writer.texts(1, &operation["tags"]);
    writer.text(3, &operation["description"]);
    writer.text(5, &operation["operationId"]);
    writer.texts(6, &operation["produces"]);
    writer.texts(7, &operation["consumes"]);
    writer.each(8, &operation["parameters"], parameter);
    writer.message(9, |all| {
        all.named(1, &operation["responses"], |item, response| {
            item.message(1, |writer| {
                writer.text(1, &response["description"]);
                if let Some(shape) = response.get("schema") {
                    writer.message(2, |item| item.message(1, |writer| schema(writer, shape)));
                }
            });
        });
    });
    writer.texts(10, &operation["schemes"]);
    writer.extensions(13, operation);
}

fn parameter(writer: &mut Writer, parameter: &Value) {
    writer.message(1, |writer| {
        if parameter["in"] == "body" {
            return writer.message(1, |body| body_parameter(body, parameter));
        }
        // What is part of a path always has a value, which moves the numbers after it.
        let (number, more) = match parameter["in"].as_str() {
            Some("path") => (4, 0),
            _ => (3, 1),
        };
        writer.message(2, |plain| {
            plain.message(number, |writer| {
                writer.flag(1, &parameter["required"]);
                writer.text(2, &parameter["in"]);
                writer.text(3, &parameter["description"]);
                writer.text(4, &parameter["name"]);
                writer.text(5 + more, &parameter["type"]);
                writer.flag(19 + more, &parameter["uniqueItems"]);
            });
        });
    });
}

fn body_parameter(writer: &mut Writer, parameter: &Value) {
    writer.text(1, &parameter["description"]);
    writer.text(2, &parameter["name"]);
    writer.text(3, &parameter["in"]);
    writer.flag(4, &parameter["required"]);
    writer.message(5, |writer| schema(writer, &parameter["schema"]));
}

fn schema(writer: &mut Writer, shape: &Value) {
    writer.text(1, &shape["$ref"]);
    writer.text(2, &shape["format"]);
    writer.text(3, &shape["title"]);
    writer.text(4, &shape["description"]);
    writer.any(5, &shape["default"]);
    writer.double(6, &shape["multipleOf"]);
    writer.double(7, &shape["maximum"]);
    writer.flag(8, &shape["exclusiveMaximum"]);
    writer.double(9, &shape["minimum"]);
    writer.flag(10, &shape["exclusiveMinimum"]);
    writer.number(11, &shape["maxLength"]);
    writer.number(12, &shape["minLength"]);
    writer.text(13, &shape["pattern"]);
    writer.number(14, &shape["maxItems"]);
    writer.number(15, &shape["minItems"]);
    writer.flag(16, &shape["uniqueItems"]);
    writer.number(17, &shape["maxProperties"]);
    writer.number(18, &shape["minProperties"]);
    writer.texts(19, &shape["required"]);
    for value in shape["enum"].as_array().into_iter().flatten() {
        writer.any(20, value);
    }
    match &shape["additionalProperties"] {
        Value::Null => {}
        Value::Bool(allowed) => {
            writer.message(21, |item| item.flag(2, &Value::Bool(*allowed)));
        }
        values => writer.message(21, |item| item.message(1, |writer| schema(writer, values))),
    }
    if shape["type"].is_string() {
        writer.message(22, |item| item.text(1, &shape["type"]));
    }
    if let Some(items) = shape.get("items") {
        writer.message(23, |item| item.message(1, |writer| schema(writer, items)));
    }
    writer.each(24, &shape["allOf"], schema);
    if let Some(properties) = shape.get("properties") {
        writer.message(25, |all| all.named(1, properties, schema));
    }
    writer.any(30, &shape["example"]);
    writer.extensions(31, shape);
}

#[cfg(test)]
mod tests;
