//! Bodies that upstream's Go client made, beside the JSON that it made of the same objects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::Value;

use crate::{ProtobufFault, decode};

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
    "service",
    "subject-access-review",
    "token-request",
];

fn pair(text: &str) -> (Vec<u8>, Value) {
    let (body, json) = text.split_once('\n').unwrap();
    let mut json = serde_json::from_str(json).unwrap();
    without_null_fields(&mut json, true);
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
