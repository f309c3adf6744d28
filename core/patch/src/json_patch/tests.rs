use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::Class;
use crate::testing::{any_json, json_text};

/// The ideas of upstream's `patch_test.go` (evanphx `json-patch` v4) that concern results.
#[test]
fn operations_change_the_document_in_order() {
    for (document, patch, expected) in [
        (
            json!({"foo": "bar"}),
            json!([{"op": "add", "path": "/baz", "value": "qux"}]),
            json!({"foo": "bar", "baz": "qux"}),
        ),
        (
            json!({"foo": ["bar", "baz"]}),
            json!([{"op": "add", "path": "/foo/1", "value": "qux"}]),
            json!({"foo": ["bar", "qux", "baz"]}),
        ),
        (
            json!({"foo": ["bar", "baz"]}),
            json!([{"op": "add", "path": "/foo/-1", "value": "qux"}]),
            json!({"foo": ["bar", "baz", "qux"]}),
        ),
        (
            json!({"foo": ["bar"]}),
            json!([{"op": "add", "path": "/foo/-", "value": null}]),
            json!({"foo": ["bar", null]}),
        ),
        (
            json!({"foo": ["a", "b", "c"]}),
            json!([{"op": "remove", "path": "/foo/-1"}]),
            json!({"foo": ["a", "b"]}),
        ),
        (
            json!({"baz": "qux", "foo": "bar"}),
            json!([{"op": "replace", "path": "/baz", "value": "boo"}]),
            json!({"baz": "boo", "foo": "bar"}),
        ),
        // Not the RFC, but what clients of kube-apiserver rely on.
        (
            json!({"foo": "bar"}),
            json!([{"op": "replace", "path": "/baz", "value": "qux"}]),
            json!({"foo": "bar", "baz": "qux"}),
        ),
        (
            json!({"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}),
            json!([{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}]),
            json!({"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}),
        ),
        (
            json!({"foo": ["all", "grass", "cows", "eat"]}),
            json!([{"op": "move", "from": "/foo/1", "path": "/foo/3"}]),
            json!({"foo": ["all", "cows", "eat", "grass"]}),
        ),
        (
            json!({"foo": [{"a": 1}]}),
            json!([{"op": "copy", "from": "/foo/0", "path": "/bar"}]),
            json!({"foo": [{"a": 1}], "bar": {"a": 1}}),
        ),
        (
            json!({"a/b": {"m~n": 1}}),
            json!([{"op": "test", "path": "/a~1b/m~0n", "value": 1},
                   {"op": "remove", "path": "/a~1b/m~0n"}]),
            json!({"a/b": {}}),
        ),
        (
            json!({"foo": null}),
            json!([{"op": "test", "path": "/foo", "value": null},
                   {"op": "test", "path": "/none"}]),
            json!({"foo": null}),
        ),
        (
            json!({"foo": 1}),
            json!([{"op": "replace", "path": "", "value": {"bar": 2}},
                   {"op": "test", "path": "", "value": {"bar": 2}}]),
            json!({"bar": 2}),
        ),
        (json!({"foo": 1}), json!(null), json!({"foo": 1})),
    ] {
        let patched = json_patch(document.clone(), &patch);
        assert_eq!(patched, Ok(expected), "{document} patched with {patch}");
    }
}

/// The ideas of upstream's `patch_test.go` that concern mistakes, and what kube-apiserver answers.
#[test]
fn an_operation_that_does_not_fit_refuses_the_patch() {
    for (patch, detail) in [
        (
            json!([{"op": "test", "path": "/a", "value": 2}]),
            "testing value /a failed: test failed",
        ),
        (
            json!([{"op": "test", "path": "/none", "value": 2}]),
            "testing value /none failed: test failed",
        ),
        (
            json!([{"op": "remove", "path": "/none"}]),
            "error in remove for path: '/none': Unable to remove nonexistent key: none: \
             missing value",
        ),
        (
            json!([{"op": "add", "path": "/none/x", "value": 1}]),
            "add operation does not apply: doc is missing path: \"/none/x\": missing value",
        ),
        (
            json!([{"op": "add", "path": "/a/x", "value": 1}]),
            "add operation does not apply: doc is missing path: \"/a/x\": missing value",
        ),
        (
            json!([{"op": "add", "path": "/list/7", "value": 1}]),
            "error in add for path: '/list/7': Unable to access invalid index: 7: \
             invalid index referenced",
        ),
        (
            json!([{"op": "add", "path": "/list/-9", "value": 1}]),
            "error in add for path: '/list/-9': Unable to access invalid index: -9: \
             invalid index referenced",
        ),
        (
            json!([{"op": "add", "path": "/list/x", "value": 1}]),
            "error in add for path: '/list/x': value was not a proper array index: 'x': \
             strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            json!([{"op": "replace", "path": "/list/3", "value": 1}]),
            "replace operation does not apply: doc is missing key: /list/3: missing value",
        ),
        (
            json!([{"op": "replace", "path": "", "value": 5}]),
            "replace operation value must be object or array",
        ),
        (
            json!([{"op": "move", "from": "/none/x", "path": "/b"}]),
            "move operation does not apply: doc is missing from path: /none/x: missing value",
        ),
        (
            json!([{"op": "copy", "path": "/b"}]),
            "operation, missing from field: missing value",
        ),
        (
            json!([{"op": "frob", "path": "/a"}]),
            "Unexpected kind: frob",
        ),
        (
            json!([{"op": "add"}]),
            "operation missing path field: missing value",
        ),
        (json!([null]), "Unexpected kind: unknown"),
    ] {
        let refused = json_patch(json!({"a": 1, "list": [0]}), &patch).unwrap_err();
        assert_eq!(refused.class, Class::Invalid, "{patch}");
        assert_eq!(refused.detail, detail, "{patch}");
        assert_eq!(
            refused.message,
            "the server rejected our request due to an error in our request"
        );
    }
}

#[test]
fn what_is_no_list_of_operations_is_a_bad_request() {
    for (patch, message) in [
        (
            json!({"op": "add"}),
            "error decoding patch: json: cannot unmarshal object into Go value of type \
             []handlers.jsonPatchOp",
        ),
        (
            json!(["x"]),
            "error decoding patch: json: cannot unmarshal string into Go value of type \
             handlers.jsonPatchOp",
        ),
        (
            json!([{"op": 3, "path": "/a"}]),
            "error decoding patch: json: cannot unmarshal number into Go struct field \
             jsonPatchOp.op of type string",
        ),
    ] {
        let refused = json_patch(json!({}), &patch).unwrap_err();
        assert_eq!(refused.class, Class::BadRequest);
        assert_eq!(refused.message, message);
    }
}

#[test]
fn a_patch_has_at_most_ten_thousand_operations() {
    let test = json!({"op": "test", "path": "/a", "value": 1});
    let patch = |operations| Value::Array(vec![test.clone(); operations]);
    assert!(json_patch(json!({"a": 1}), &patch(10_000)).is_ok());
    let refused = json_patch(json!({"a": 1}), &patch(10_001)).unwrap_err();
    assert_eq!(refused.class, Class::TooLarge);
    assert_eq!(
        refused.message,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, \
         got 10001"
    );
}

#[test]
fn copies_cannot_double_a_document_for_ever() {
    let copy = json!({"op": "copy", "from": "/a", "path": "/a/-"});
    let refused = json_patch(json!({"a": [1]}), &Value::Array(vec![copy; 60])).unwrap_err();
    assert!(refused.detail.starts_with("Unable to complete the copy"));
}

#[test]
fn moves_cannot_nest_a_document_for_ever() {
    let rounds: Vec<Value> = (0..200)
        .flat_map(|_| {
            [
                json!({"op": "add", "path": "/b", "value": {}}),
                json!({"op": "move", "from": "/a", "path": "/b/a"}),
                json!({"op": "move", "from": "/b", "path": "/a"}),
            ]
        })
        .collect();
    let refused = json_patch(json!({"a": 1}), &Value::Array(rounds)).unwrap_err();
    assert_eq!(refused.detail, "exceeded max depth");
}

#[test]
fn moves_to_deep_places_cannot_nest_a_document_for_ever_either() {
    let deep = (0..100).fold(json!(1), |inner, _| json!({"x": inner}));
    let place = format!("/b{}", "/x".repeat(100));
    let rounds: Vec<Value> = (0..3_000)
        .flat_map(|_| {
            [
                json!({"op": "add", "path": "/b", "value": deep}),
                json!({"op": "move", "from": "/a", "path": place}),
                json!({"op": "move", "from": "/b", "path": "/a"}),
            ]
        })
        .collect();
    let refused = json_patch(json!({"a": 1}), &Value::Array(rounds)).unwrap_err();
    assert_eq!(refused.detail, "exceeded max depth");
}

#[test]
fn many_moves_are_fine() {
    let rounds: Vec<Value> = (0..5_000)
        .flat_map(|_| {
            [
                json!({"op": "move", "from": "/a", "path": "/b/c"}),
                json!({"op": "move", "from": "/b/c", "path": "/a"}),
            ]
        })
        .collect();
    let document = json!({"a": 1, "b": {}});
    let patched = json_patch(document.clone(), &Value::Array(rounds));
    assert_eq!(patched, Ok(document));
}

fn operation() -> impl Strategy<Value = Value> {
    let kinds = ["add", "remove", "replace", "move", "copy", "test", "frob"];
    let path = prop_oneof![
        proptest::sample::select(vec![
            "", "/", "/a", "/a/b", "/b/0", "/b/-", "/b/-1", "x", "/a/b/c"
        ])
        .prop_map(str::to_owned),
        json_text(),
    ];
    (
        proptest::sample::select(kinds.to_vec()),
        path.clone(),
        path,
        any_json(),
    )
        .prop_map(|(kind, path, from, value)| {
            json!({"op": kind, "path": path, "from": from, "value": value})
        })
}

proptest! {
    #[test]
    fn any_document_and_any_patch_have_an_answer(
        document in any_json(),
        operations in proptest::collection::vec(prop_oneof![operation(), any_json()], 0..6),
    ) {
        let _ = json_patch(document, &Value::Array(operations));
    }

    #[test]
    fn what_was_added_can_be_tested_and_removed_again(value in any_json()) {
        let before = json!({"a": [1]});
        let patch = json!([
            {"op": "add", "path": "/b", "value": value},
            {"op": "test", "path": "/b", "value": value},
            {"op": "remove", "path": "/b"},
        ]);
        prop_assert_eq!(json_patch(before.clone(), &patch), Ok(before));
    }
}
