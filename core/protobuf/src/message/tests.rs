//! Rules of reading that no well-behaved client asks for.

use serde_json::{Value, json};

use crate::decode;

/// A field with a length.
fn part(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut part = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 0x7f {
        part.push(length as u8 | 0x80);
        length >>= 7;
    }
    part.push(length as u8);
    part.extend(bytes);
    part
}

fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let of = [part(1, api_version.as_bytes()), part(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), part(1, &of), part(2, raw)].concat()
}

fn config_map(raw: &[u8]) -> Result<Value, String> {
    decode(&body("v1", "ConfigMap", raw)).map_err(|error| error.to_string())
}

#[test]
fn pieces_of_a_message_are_put_together_and_the_last_text_counts() {
    let raw = [
        part(1, &[part(1, b"first"), part(3, b"town")].concat()),
        part(1, &part(1, b"second")),
    ];
    assert_eq!(
        config_map(&raw.concat()).unwrap()["metadata"],
        json!({"name": "second", "namespace": "town"})
    );
    let emptied = [part(1, &part(1, b"first")), part(1, &part(1, b""))];
    assert_eq!(
        config_map(&emptied.concat()).unwrap()["metadata"],
        json!({})
    );
}

#[test]
fn keys_and_values_of_maps_may_be_left_out() {
    let raw = [part(2, &part(1, b"key")), part(2, &part(2, b"value"))];
    assert_eq!(
        config_map(&raw.concat()).unwrap()["data"],
        json!({"key": "", "": "value"})
    );
}

#[test]
fn fields_that_nobody_knows_are_passed_over() {
    let raw = [part(14, b"what"), vec![0x78, 5], part(1, &[])].concat();
    assert_eq!(
        config_map(&raw).unwrap(),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    );
}

#[test]
fn numbers_may_come_packed_or_one_by_one() {
    for numbers in [vec![0x18, 1, 0x18, 0xac, 2], vec![0x1a, 3, 1, 0xac, 2]] {
        // spec.podFailurePolicy.rules.onExitCodes.values
        let rule = part(1, &part(2, &numbers));
        let raw = part(2, &part(11, &rule));
        let job = decode(&body("batch/v1", "Job", &raw)).unwrap();
        let values = job.pointer("/spec/podFailurePolicy/rules/0/onExitCodes/values");
        assert_eq!(values, Some(&json!([1, 300])), "{numbers:?}");
    }
}

#[test]
fn a_body_within_a_body_becomes_an_object() {
    let inner = body("v1", "ConfigMap", &part(1, &part(1, b"inner")));
    let raw = part(2, &part(1, &inner));
    let list = decode(&body("v1", "List", &raw)).unwrap();
    assert_eq!(list["items"][0]["kind"], "ConfigMap");
    assert_eq!(list["items"][0]["metadata"]["name"], "inner");
}

#[test]
fn faults_say_where_and_in_the_words_of_upstream() {
    let cases = [
        (vec![0x08, 1], "metadata: proto: wrong wireType = 0"),
        (
            part(1, &part(1, &[0xff])),
            "metadata.name: proto: invalid UTF-8",
        ),
        (part(1, &[0x0a, 9]), "metadata.name: unexpected EOF"),
        (vec![0x00], "proto: illegal tag 0 (wire type 0)"),
        (vec![0x7c], "proto: wiretype end group for non-group"),
        (
            part(
                1,
                &part(8, &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            ),
            "metadata.creationTimestamp: time 72057594037927935 is outside of the years 0 to 9999",
        ),
        (
            part(2, &[part(1, b"key"), part(2, &[0xff])].concat()),
            "data.key: proto: invalid UTF-8",
        ),
    ];
    for (raw, message) in cases {
        assert_eq!(config_map(&raw).unwrap_err(), message);
    }
    for (api_version, kind, message) in [
        (
            "v1",
            "Pods",
            "no kind \"Pods\" is registered for version \"v1\"",
        ),
        ("v1", "", "Object 'Kind' is missing"),
        ("", "Pod", "Object 'apiVersion' is missing"),
    ] {
        let error = decode(&body(api_version, kind, &[])).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let encoded = [body("v1", "ConfigMap", &[]), part(3, b"gzip")].concat();
    assert_eq!(
        decode(&encoded).unwrap_err().to_string(),
        "content encoding \"gzip\" is not supported"
    );
}

#[test]
fn neither_depth_nor_number_of_values_is_without_bounds() {
    let mut inner = body("v1", "ConfigMap", &[]);
    for _ in 0..200 {
        inner = body("v1", "List", &part(2, &part(1, &inner)));
    }
    let error = decode(&inner).unwrap_err().to_string();
    assert!(
        error.ends_with("nested deeper than 100 messages"),
        "{error}"
    );

    // Finalizers are texts, each of two bytes and none.
    let many = part(1, &[0x72, 0].repeat(600_000));
    let error = config_map(&many).unwrap_err();
    assert_eq!(error, "metadata.finalizers: more than 500000 values");
}
