//! What paths find. The expectations agree with what upstream's implementation finds in the same object.

use serde_json::{Value, json};

use super::JsonPath;

fn object() -> Value {
    json!({
        "spec": {
            "text": "hello",
            "list": ["a", "b", "c", "d"],
            "map": { "x": 1 },
            "dotted.key": "dotted",
            "dotted": { "key": "nested" },
            "nothing": null,
            "parts": [
                { "name": "small", "size": 1, "share": 0.5, "on": true },
                { "name": "big", "size": 3, "opt": "yes", "share": 1.5, "on": false },
            ],
        },
    })
}

/// What a path finds; nothing if it cannot be followed.
fn find(path: &str) -> Option<Value> {
    let object = object();
    let path = JsonPath::parse(path).unwrap();
    let found = path.find(&object).ok()?;
    Some(found.into_iter().cloned().collect())
}

#[test]
fn paths_lead_through_fields_lists_and_filters() {
    let cases = [
        (".spec.text", json!(["hello"])),
        ("$.spec.text", json!(["hello"])),
        (".spec.missing.deeper", json!([])),
        (".spec.text.deeper", json!([])),
        (".spec.nothing.deeper", json!([])),
        (".spec.list[0]", json!(["a"])),
        (".spec.list[-1]", json!(["d"])),
        (".spec.list[-2]", json!(["c"])),
        (".spec.list[1:3]", json!(["b", "c"])),
        (".spec.list[-3:-1]", json!(["b", "c"])),
        (".spec.list[:2]", json!(["a", "b"])),
        (".spec.list[2:]", json!(["c", "d"])),
        (".spec.list[2:2]", json!([])),
        (".spec.list[::2]", json!(["a", "c"])),
        (".spec.list[*]", json!(["a", "b", "c", "d"])),
        (".spec.list[2,0]", json!(["c", "a"])),
        (".spec.list.*", json!(["a", "b", "c", "d"])),
        (".spec.map.*", json!([1])),
        (".spec.parts[*].name", json!(["small", "big"])),
        (".spec['text']", json!(["hello"])),
        (".spec['dotted.key']", json!(["nested"])),
        (r".spec['dotted\.key']", json!(["dotted"])),
        (r".spec.dotted\.key", json!(["dotted"])),
        (r#".spec.parts[?(@.name=="big")].size"#, json!([3])),
        (".spec.parts[?(@.name=='big')].size", json!([3])),
        (".spec.parts[?(@.name == 'big')].size", json!([3])),
        (".spec.parts[?(@.name!='big')].size", json!([1])),
        (".spec.parts[?(@.name=='a)b')].size", json!([])),
        (".spec.parts[?(@.size>2)].name", json!(["big"])),
        (".spec.parts[?(@.size>=1)].name", json!(["small", "big"])),
        (".spec.parts[?(@.size<2)].name", json!(["small"])),
        (".spec.parts[?(@.size<=0)].name", json!([])),
        (".spec.parts[?(@.share>1.0)].name", json!(["big"])),
        (".spec.parts[?(@.on==true)].name", json!(["small"])),
        (".spec.parts[?(@.opt)].name", json!(["big"])),
        (".spec.parts[?(@.opt=='yes')].name", json!(["big"])),
        (".spec..size", json!([1, 3])),
    ];
    for (path, expected) in cases {
        assert_eq!(find(path), Some(expected), "{path}");
    }
}

#[test]
fn a_path_that_does_not_fit_the_object_finds_nothing_at_all() {
    let paths = [
        ".spec.list[9]",
        ".spec.list[-9]",
        ".spec.list[3:1]",
        ".spec.list[0:9]",
        ".spec.list[::0]",
        ".spec.text[0]",
        ".spec.text[?(@.a)]",
        ".spec.parts[?(@.size=='3')].name",
        ".spec.parts[?(@.size>1.5)].name",
        ".spec.parts[?(@.on<true)].name",
        ".spec.parts[?(@.name==big)].size",
        ".spec.parts[?(@.size=<1)].name",
        ".spec word",
    ];
    for path in paths {
        assert_eq!(find(path), None, "{path}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    let texts = [
        ".spec[",
        ".spec[0",
        ".spec[a]",
        ".spec[+1]",
        ".spec[1:2:3:4]",
        ".spec[99999999999999999999]",
        ".spec[?(@",
        ".spec[?(@.a",
        ".spec[?(@.a)",
        ".spec[?(@.a==)]",
        ".spec[?(@.a=='x)]",
        ".spec[?(@.a[?(@.b",
        "....a",
        "..*",
        ".a{.b}",
        ".a}",
        ".a\n",
        ".a#,",
        ".a['b'c']",
        "'open",
        "-",
    ];
    for text in texts {
        assert!(JsonPath::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_path_that_multiplies_values_is_given_up() {
    let mut value = json!(vec![json!([[1]]); 50]);
    for _ in 0..30 {
        value = json!([value]);
    }
    let path = JsonPath::parse("..[*]..[*]..[*]..[*]..[*]..[*]").unwrap();
    assert!(path.find(&value).is_err());
}

#[test]
fn any_text_is_read_or_refused_and_followed_without_harm() {
    let pieces = [
        "", ".", "..", "[", "]", "[?(", ")]", "@", "'", "\"", "==", "*", "spec", "0", ":", "-",
        ",", "\\", "é",
    ];
    let object = object();
    let mut read = 0;
    for first in pieces {
        for second in pieces {
            for third in pieces {
                for fourth in pieces {
                    let text = [first, second, third, fourth].concat();
                    if let Ok(path) = JsonPath::parse(&text) {
                        read += usize::from(path.find(&object).is_ok());
                    }
                }
            }
        }
    }
    assert!(read > 1_000, "only {read} paths could be followed");
}
