use serde_json::json;

use super::*;

/// Fields of a message: number and bytes of all that are length-delimited, in order.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let (number, wire) = (tag >> 3, tag & 7);
        let length = match wire {
            0 => {
                varint(&mut bytes);
                continue;
            }
            1 => {
                bytes = &bytes[8..];
                continue;
            }
            _ => usize::try_from(varint(&mut bytes)).unwrap(),
        };
        let (field, rest) = bytes.split_at(length);
        found.push((number, field));
        bytes = rest;
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The first field of a number, and so on inside of it.
fn at<'a>(bytes: &'a [u8], path: &[u64]) -> Option<&'a [u8]> {
    path.iter().try_fold(bytes, |bytes, number| {
        let found = fields(bytes).into_iter().find(|(of, _)| of == number);
        found.map(|(_, field)| field)
    })
}

#[test]
fn a_definition_is_found_by_its_name_with_its_extensions() {
    let kind = json!([{"group": "", "kind": "Pod", "version": "v1"}]);
    let document = json!({ "swagger": "2.0", "definitions": { "io.k8s.Pod": {
        "type": "object", "description": "x".repeat(300),
        "properties": { "spec": { "$ref": "#/definitions/io.k8s.PodSpec" } },
        "x-kubernetes-group-version-kind": kind,
    } } });
    let bytes = v2_protobuf(&document);
    assert_eq!(at(&bytes, &[1]), Some(b"2.0".as_slice()));
    assert_eq!(at(&bytes, &[9, 1, 1]), Some(b"io.k8s.Pod".as_slice()));
    let schema = at(&bytes, &[9, 1, 2]).unwrap();
    assert_eq!(at(schema, &[22, 1]), Some(b"object".as_slice()));
    assert_eq!(at(schema, &[4]).map(<[u8]>::len), Some(300));
    assert_eq!(at(schema, &[25, 1, 1]), Some(b"spec".as_slice()));
    let reference = at(schema, &[25, 1, 2, 1]);
    assert_eq!(reference, Some(b"#/definitions/io.k8s.PodSpec".as_slice()));
    let extension = b"x-kubernetes-group-version-kind".as_slice();
    assert_eq!(at(schema, &[31, 1]), Some(extension));
    assert_eq!(at(schema, &[31, 2, 2]), Some(kind.to_string().as_bytes()));
}

#[test]
fn parameters_are_told_by_where_they_are() {
    let of = |place: &str| json!({ "in": place, "name": place, "type": "string" });
    let parameters = json!([of("query"), of("path"), of("body")]);
    let document = json!({ "paths": { "/p": { "parameters": parameters } } });
    let bytes = v2_protobuf(&document);
    let path = at(&bytes, &[8, 2, 2]).unwrap();
    let parameters: Vec<_> = fields(path).into_iter().map(|(_, field)| field).collect();
    assert_eq!(at(parameters[0], &[1, 2, 3, 6]), Some(b"string".as_slice()));
    assert_eq!(at(parameters[1], &[1, 2, 4, 5]), Some(b"string".as_slice()));
    assert_eq!(at(parameters[2], &[1, 1, 2]), Some(b"body".as_slice()));
}
