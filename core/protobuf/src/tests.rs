//! Bodies that upstream's Go client and its server made, beside the JSON that they made of the same objects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ProtobufFault, decode, decode_event, encode, encode_event, encode_list};

/// Each file is a body in base 64 on one line, then the JSON.
macro_rules! golden {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("golden/", $name, ".txt")))),+]
    };
}

const GOLDEN: &[(&str, &str)] = golden![
    "binding",
    "configmap",
    "controller-revision",
    "core-event",
    "crd",
    "delete-options",
    "deployment",
    "event",
    "eviction",
    "hpa",
    "job",
    "lease",
    "list",
    "namespace",
    "pod",
    "scale",
    "secret",
    "served-crd",
    "served-deployment",
    "served-discovery",
    "served-list",
    "served-metadata-list",
    "served-resources",
    "served-status",
    "service",
    "subject-access-review",
    "token-request",
];

fn pair(text: &str) -> (Vec<u8>, Value) {
    let (body, json) = text.split_once('\n').unwrap();
    let mut json: Value = serde_json::from_str(json).unwrap();
    without_null_fields(&mut json, true);
    // What items are is said once, by their list.
    if json["kind"] == "PartialObjectMetadataList" {
        for item in json["items"].as_array_mut().unwrap() {
            item.as_object_mut()
                .unwrap()
                .retain(|name, _| name == "metadata");
        }
    }
    (STANDARD.decode(body).unwrap(), json)
}

/// Absent and `null` mean the same to a server, and the former is what we make.
fn without_null_fields(value: &mut Value, ours: bool) {
    match value {
        Value::Object(fields) => {
            // What lies in raw JSON is not ours to change.
            for (name, value) in fields.iter_mut() {
                without_null_fields(value, ours && name != "data");
            }
            if ours {
                fields.retain(|_, value| !value.is_null());
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| without_null_fields(item, ours)),
        _ => {}
    }
}

#[test]
fn bodies_become_the_json_that_the_client_would_have_sent() {
    for (name, text) in GOLDEN {
        let (body, json) = pair(text);
        assert_eq!(decode(&body).unwrap(), json, "{name}");
    }
}

#[test]
fn json_becomes_the_bytes_that_upstream_writes() {
    for (name, text) in GOLDEN {
        let (body, json) = text.split_once('\n').unwrap();
        let json: Value = serde_json::from_str(json).unwrap();
        let written = encode(&json).unwrap();
        if *name == "crd" {
            // This client wrote null into an enumeration, where upstream's server writes nothing.
            assert_eq!(decode(&written).unwrap(), pair(text).1);
        } else {
            assert_eq!(STANDARD.encode(written), body, "{name}");
        }
    }
}

#[test]
fn lists_are_written_item_by_item() {
    let found = GOLDEN.iter().find(|(name, _)| *name == "served-list");
    let (body, json) = pair(found.unwrap().1);
    let items = json["items"].as_array().unwrap().iter();
    let items = items.filter_map(|item| item.as_object().cloned());
    let written = encode_list("v1", "ConfigMapList", &json["metadata"], items);
    assert_eq!(written.unwrap(), body);
    assert_eq!(encode_list("v1", "WidgetList", &json!({}), []), None);
    assert_eq!(encode_list("v1", "ConfigMap", &json!({}), []), None);
}

#[test]
fn changes_are_written_and_read_one_after_the_other() {
    let (stream, told) = include_str!("golden/served-events.txt")
        .split_once('\n')
        .unwrap();
    let stream = STANDARD.decode(stream).unwrap();
    let told = told.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        without_null_fields(&mut event, true);
        event
    });
    let mut written = Vec::new();
    let mut rest = stream.as_slice();
    for event in told {
        let kind = event["type"].as_str().unwrap();
        encode_event(&mut written, kind, &event["object"]).unwrap();
        assert_eq!(written, stream[..written.len()]);
        let read = decode_event(rest).unwrap().unwrap();
        assert_eq!((read.kind, &read.object), (kind, &event["object"]));
        // What has not come to its end is waited for.
        let come = rest.len() - read.rest.len();
        assert_eq!(decode_event(&rest[..come - 1]), Ok(None));
        rest = read.rest;
    }
    assert_eq!(written, stream);
    assert_eq!(decode_event(rest), Ok(None));
    // What cannot be told leaves nothing behind.
    assert_eq!(encode_event(&mut written, "ADDED", &json!({})), None);
    assert_eq!(written, stream);
    assert!(decode_event(&[255; 8]).is_err());
}

#[test]
fn what_says_no_version_is_written_without_one() {
    let written = encode(&json!({"kind": "APIVersions", "versions": ["v1"]}));
    let want = b"k8s\0\x0a\x0f\x0a\0\x12\x0bAPIVersions\x12\x04\x0a\x02v1\x1a\0\x22\0";
    assert_eq!(written.unwrap(), want);
}

#[test]
fn a_zero_is_kept_where_it_means_something() {
    let golden = |wanted| {
        let found = GOLDEN.iter().find(|(name, _)| *name == wanted).unwrap();
        decode(&pair(found.1).0).unwrap()
    };
    assert_eq!(golden("deployment")["spec"]["replicas"], 0);
    assert_eq!(golden("deployment")["spec"].get("minReadySeconds"), None);
    assert_eq!(golden("secret")["immutable"], false);
    assert_eq!(golden("lease")["spec"]["holderIdentity"], "");
    assert_eq!(golden("delete-options")["gracePeriodSeconds"], 0);
}

#[test]
fn a_body_that_ends_early_is_refused() {
    for (name, text) in GOLDEN {
        let (body, _) = pair(text);
        // An envelope is whole without what follows its type, and without the two empty texts at its end.
        let named = 6 + usize::from(body[5]);
        let lengths = (0..body.len() - 4).filter(|length| *length != named);
        for length in lengths.filter(|length| *length < 64 || length % 7 == 0) {
            let cut = decode(&body[..length]);
            assert!(cut.is_err(), "{name} cut to {length} bytes: {cut:?}");
        }
    }
}

#[test]
fn a_body_of_another_kind_is_refused() {
    assert_eq!(decode(b"{}").unwrap_err().fault, ProtobufFault::NotProtobuf);
    let too_large = vec![0; 3 * 1024 * 1024 + 1];
    let fault = decode(&too_large).unwrap_err().fault;
    assert_eq!(fault, ProtobufFault::TooLarge(3 * 1024 * 1024));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, pick in 0..GOLDEN.len()) {
        let _ = decode(&bytes);
        let mut body = b"k8s\0".to_vec();
        body.extend(&bytes);
        let _ = decode(&body);
        let (mut body, _) = pair(GOLDEN[pick].1);
        body.extend(&bytes);
        let _ = decode(&body);
        let _ = decode_event(&bytes);
    }

    #[test]
    fn changed_bytes_never_panic(
        pick in 0..GOLDEN.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (mut body, _) = pair(GOLDEN[pick].1);
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let _ = decode(&body);
    }
}
