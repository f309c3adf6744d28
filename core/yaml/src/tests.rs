use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{read, write};

#[test]
fn what_upstream_writes_is_written() {
    let value = json!({
        "apiVersion": "v1",
        "code": 406,
        "details": {},
        "items": [],
        "metadata": {
            "creationTimestamp": "2026-11-16T10:18:54Z",
            "managedFields": [{"fieldsV1": {"f:metadata": {".": {}, "f:a/b": {}}}, "time": null}],
            "resourceVersion": "12",
            "shortNames": ["no", "cm"],
            "nested": [[1, 2], [[3]]],
        },
        "message": "406: Not Acceptable\n\nAvailable representations: application/json",
    });
    let want = "\
apiVersion: v1
code: 406
details: {}
items: []
message: |-
  406: Not Acceptable

  Available representations: application/json
metadata:
  creationTimestamp: \"2026-11-16T10:18:54Z\"
  managedFields:
  - fieldsV1:
      f:metadata:
        .: {}
        f:a/b: {}
    time: null
  nested:
  - - 1
    - 2
  - - - 3
  resourceVersion: \"12\"
  shortNames:
  - \"no\"
  - cm
";
    assert_eq!(write(&value), want);
}

#[test]
fn long_texts_go_on_in_the_next_line() {
    let message = "only the following media types are accepted: application/json;stream=watch, \
                   application/vnd.kubernetes.protobuf;stream=watch";
    let want = "\
message: 'only the following media types are accepted: application/json;stream=watch,
  application/vnd.kubernetes.protobuf;stream=watch'
";
    assert_eq!(write(&json!({ "message": message })), want);
    let list = json!({"a": ["x".repeat(85) + " y  z"]});
    assert_eq!(write(&list), format!("a:\n- {}\n  y  z\n", "x".repeat(85)));
}

#[test]
fn documents_are_read_as_go_reads_them() {
    for (text, value) in [
        ("", json!(null)),
        ("just text", json!("just text")),
        (
            "a: yes\nb: \"yes\"\nc: 010\nd: ~\n",
            json!({"a": true, "b": "yes", "c": 8, "d": null}),
        ),
        ("a: 2026-01-02\n", json!({"a": "2026-01-02"})),
        ("1: a\ntrue: b\n", json!({"1": "a", "true": "b"})),
        ("{\"a\": [1, {b: c}]}", json!({"a": [1, {"b": "c"}]})),
        (
            "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
            json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
        ),
        (
            "a: |\n  x\n  y\nb: >-\n  x\n  y\n",
            json!({"a": "x\ny\n", "b": "x y"}),
        ),
        ("a: 1\n---\nb: 2\n", json!({"a": 1})),
        ("# nothing\na: !!str 12\n", json!({"a": "12"})),
    ] {
        assert_eq!(read(text).map(|read| read.value), Ok(value), "{text}");
    }
}

#[test]
fn the_last_of_two_equal_keys_counts_and_is_told() {
    let found = read("data:\n  a: \"1\"\n  a: \"2\"\n").unwrap();
    assert_eq!(found.value, json!({"data": {"a": "2"}}));
    assert_eq!(found.duplicates, ["line 3: key \"a\" already set in map"]);
}

#[test]
fn what_is_no_yaml_is_refused() {
    for text in [
        "a: b: c",
        "a: [",
        "{",
        "a: *nothing",
        "a: .inf",
        "? [a]\n: b",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn nothing_grows_without_bounds() {
    let deep = format!("a: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(
        read(&deep)
            .unwrap_err()
            .to_string()
            .contains("exceeded max depth")
    );
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        bomb.push_str(&format!(
            "{to}: &{to} [{}]\n",
            vec![format!("*{from}"); 9].join(",")
        ));
    }
    let told = read(&bomb).unwrap_err().to_string();
    assert_eq!(told, "yaml: document contains excessive aliasing");
}

/// An alias of a long text is as long as the text, whatever it is an alias of and wherever it stands.
#[test]
fn aliases_of_long_texts_are_bounded() {
    let long = "x".repeat(1 << 20);
    let aliases = vec!["*a"; 50].join(",");
    let nested = format!("{}{long}{}", "[&n ".repeat(100), "]".repeat(100));
    let nested = (0..100).fold(nested, |text, at| {
        text.replacen("&n ", &format!("&n{at} "), 1)
    });
    for text in [
        format!("a: &a \"{long}\"\nb: [{aliases}]\n"),
        format!("a: &a {{k: [{long}]}}\nb: [{aliases}]\n"),
        format!("a: &a {{? {long} : 1}}\nb: [{aliases}]\n"),
        format!("a: &a {long}\nb: [{}]\n", vec!["{*a : 1}"; 50].join(",")),
        nested,
    ] {
        let told = read(&text).unwrap_err().to_string();
        assert_eq!(told, "yaml: document contains excessive aliasing");
    }
    let few = format!("a: &a \"{long}\"\nb: [*a, *a]\n");
    assert_eq!(read(&few).unwrap().value["b"][1], long.as_str());
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z0-9:#'\"\\-\\[\\]{},.&*!|>%@` ~?\n\t]{0,12}",
        "[ -~]{60,120}",
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    // An object, as all that a server writes. Upstream quirk: a text alone that begins with a line
    // break is written as a block that cannot be read (yaml.v2, emitterc.go). Kept: no client sees it.
    fn what_is_written_is_read_again(value in values()) {
        let value = serde_json::json!({"a": value});
        let text = write(&value);
        let found = read(&text).map(|read| read.value);
        prop_assert_eq!(found, Ok(value), "{}", text);
    }

    #[test]
    fn no_text_makes_it_fail_badly(text in any::<String>()) {
        let _ = read(&text);
    }
}
