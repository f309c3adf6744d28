use super::*;

fn labels<'a>(pairs: &'a [(&'a str, &'a str)]) -> &'a [(&'a str, &'a str)] {
    pairs
}

fn spec(json: &str) -> LabelSelector {
    serde_json::from_str(json).unwrap()
}

#[test]
fn empty_matches_everything_and_absent_matches_nothing() {
    let any = labels(&[("a", "b")]);
    let empty = spec("{}").compile().unwrap();
    assert!(empty.is_empty() && !empty.is_nothing());
    assert!(empty.matches(any) && empty.matches(labels(&[])));
    let nulls = spec(r#"{"matchLabels":null,"matchExpressions":null}"#)
        .compile()
        .unwrap();
    assert_eq!(nulls, empty);
    let absent = LabelSelector::compile_optional(None).unwrap();
    assert!(absent.is_nothing() && !absent.is_empty());
    assert!(!absent.matches(any) && !absent.matches(labels(&[])));
    assert_eq!(absent.to_string(), "");
    assert!(Selector::from_map([]).is_empty());
}

#[test]
fn every_operator_of_a_spec_matches_as_upstream_says() {
    // Expression, labels {}, {k:a}, {k:b}, {k:""}.
    let table = [
        (
            r#"{"key":"k","operator":"In","values":["a","c"]}"#,
            [false, true, false, false],
        ),
        (
            r#"{"key":"k","operator":"NotIn","values":["a","c"]}"#,
            [true, false, true, true],
        ),
        (
            r#"{"key":"k","operator":"Exists"}"#,
            [false, true, true, true],
        ),
        (
            r#"{"key":"k","operator":"DoesNotExist"}"#,
            [true, false, false, false],
        ),
        (
            r#"{"key":"k","operator":"In","values":[""]}"#,
            [false, false, false, true],
        ),
    ];
    for (expression, want) in table {
        let selector = spec(&format!(r#"{{"matchExpressions":[{expression}]}}"#))
            .compile()
            .unwrap();
        let sets = [
            labels(&[]),
            labels(&[("k", "a")]),
            labels(&[("k", "b")]),
            labels(&[("k", "")]),
        ];
        assert_eq!(sets.map(|set| selector.matches(set)), want, "{expression}");
    }
}

#[test]
fn all_conditions_must_hold() {
    let selector = spec(
        r#"{"matchLabels":{"app":"web"},
            "matchExpressions":[{"key":"tier","operator":"NotIn","values":["db"]}]}"#,
    );
    let selector = selector.compile().unwrap();
    assert!(selector.matches(labels(&[("app", "web")])));
    assert!(selector.matches(labels(&[("tier", "front"), ("app", "web")])));
    assert!(!selector.matches(labels(&[("tier", "db"), ("app", "web")])));
    assert!(!selector.matches(labels(&[("app", "api")])));
    assert_eq!(selector.to_string(), "app=web,tier notin (db)");
    assert_eq!(selector.required_value("app"), Some("web"));
    assert_eq!(selector.required_value("tier"), None);
}

#[test]
fn looks_labels_up_in_maps_and_functions_alike() {
    let selector = Selector::parse("a=b,c").unwrap();
    let pairs = [
        ("a".to_owned(), "b".to_owned()),
        ("c".to_owned(), String::new()),
    ];
    assert!(selector.matches(pairs.as_slice()));
    assert!(selector.matches(&BTreeMap::from(pairs.clone())));
    assert!(selector.matches(&HashMap::from(pairs)));
    assert!(selector.matches_with(|key| ["a", "c"].contains(&key).then_some("b")));
}

#[test]
fn a_map_selector_wants_each_label_and_is_not_checked() {
    let selector = Selector::from_map([("b", "2"), ("a", "1")]);
    assert_eq!(selector.to_string(), "a=1,b=2");
    assert!(selector.matches(labels(&[("a", "1"), ("b", "2"), ("c", "3")])));
    assert!(!selector.matches(labels(&[("a", "1")])));
    assert!(
        Selector::from_map([("not a label!", "x")])
            .requirements()
            .len()
            == 1
    );
}

#[test]
fn json_round_trips_and_leaves_out_what_is_empty() {
    for json in [
        "{}",
        r#"{"matchLabels":{"a":"b","c":""}}"#,
        r#"{"matchExpressions":[{"key":"k","operator":"In","values":["a","b"]}]}"#,
        r#"{"matchExpressions":[{"key":"k","operator":"Exists"}]}"#,
        r#"{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"","operator":"Bogus"}]}"#,
    ] {
        assert_eq!(serde_json::to_string(&spec(json)).unwrap(), json);
    }
}

#[test]
fn a_senseless_spec_is_an_error_that_names_the_requirement() {
    let table = [
        (
            r#"{"matchExpressions":[{"key":"k","operator":"Like","values":["a"]}]}"#,
            "Like",
        ),
        (
            r#"{"matchExpressions":[{"key":"k","operator":"in","values":["a"]}]}"#,
            "\"in\"",
        ),
        (
            r#"{"matchExpressions":[{"key":"k","operator":"In"}]}"#,
            "k in ()",
        ),
        (
            r#"{"matchExpressions":[{"key":"k","operator":"Exists","values":["a"]}]}"#,
            "\"k\"",
        ),
        (
            r#"{"matchExpressions":[{"key":"","operator":"Exists"}]}"#,
            "\"\"",
        ),
        (r#"{"matchLabels":{"bad key":"b"}}"#, "bad key"),
        (r#"{"matchLabels":{"k":"bad value"}}"#, "bad value"),
        (r#"{"matchLabels":{"UPPER.com/k":"v"}}"#, "UPPER.com/k"),
        (r#"{"matchLabels":{"a/b/c":"v"}}"#, "a/b/c"),
        (r#"{"matchLabels":{"/k":"v"}}"#, "/k"),
        (r#"{"matchLabels":{"k":"-v"}}"#, "-v"),
    ];
    for (json, named) in table {
        let error = spec(json).compile().unwrap_err().to_string();
        assert!(error.contains(named), "{json}: {error}");
    }
}

#[test]
fn labels_have_their_lengths() {
    assert!(check_label_value(&"v".repeat(63)).is_ok());
    assert!(check_label_value(&"v".repeat(64)).is_err());
    assert!(check_label_key(&"k".repeat(63)).is_ok());
    assert!(check_label_key(&"k".repeat(64)).is_err());
    let prefix = vec!["p".repeat(62); 4].join(".");
    assert!(check_label_key(&format!("{prefix}/k")).is_ok());
    assert!(check_label_key(&format!("{prefix}pppp/k")).is_err());
    assert!(check_label_key("example.com/My_name.1").is_ok());
    assert!(check_label_key("exa..mple.com/k").is_err());
    assert!(check_label_key("example.com/").is_err());
}

#[test]
fn the_string_form_is_read_and_printed_as_upstream_does() {
    let table = [
        ("", ""),
        ("  ", ""),
        ("a=b", "a=b"),
        ("a==b", "a==b"),
        ("a!=b", "a!=b"),
        ("x=", "x="),
        ("x= ,z= ", "x=,z="),
        ("x", "x"),
        ("!x", "!x"),
        ("! x ", "!x"),
        ("c,b,a", "a,b,c"),
        ("a in (b)", "a in (b)"),
        ("a in(c,b,c)", "a in (b,c)"),
        ("a notin (b , c)", "a notin (b,c)"),
        (
            "x in (foo,,baz),y,z notin ()",
            "x in (,baz,foo),y,z notin ()",
        ),
        ("x in (,)", "x in ()"),
        ("x in (a,)", "x in (,a)"),
        ("x>1,z<5", "x>1,z<5"),
        (
            "a=b,c in (d,e),!f,g notin (h), i>1",
            "a=b,c in (d,e),!f,g notin (h),i>1",
        ),
        ("in in (in,notin)", "in in (in,notin)"),
        ("notin", "notin"),
        ("example.com/k=v", "example.com/k=v"),
        ("x\t=\n a", "x=a"),
    ];
    for (text, printed) in table {
        let selector = Selector::parse(text).unwrap();
        assert_eq!(selector.to_string(), printed, "{text:?}");
        assert_eq!(Selector::parse(printed).unwrap(), selector, "{text:?}");
    }
}

#[test]
fn a_string_form_that_cannot_be_read_is_an_error() {
    for text in [
        ",",
        "a,",
        ",a",
        "a,,b",
        "=a",
        "a=b c",
        "a in b",
        "a in (b",
        "a in (b c)",
        "a in (=)",
        "!!a",
        "!a=b",
        "!a in (b)",
        "a>b",
        "a<",
        "a>1.5",
        "a = = b",
        "a ! b",
        "()",
        "a b",
        "a(b)",
        "!",
        "a=!",
        "ä=b",
        "a=b)",
        "a in",
        "x=a||y=b",
        "a==b=c",
    ] {
        let error = Selector::parse(text).unwrap_err();
        assert!(!error.to_string().is_empty(), "{text:?}");
    }
}

#[test]
fn comparisons_need_a_number_on_both_sides() {
    let more = Selector::parse("n>5").unwrap();
    let less = Selector::parse("n<5").unwrap();
    assert!(more.matches(labels(&[("n", "6")])));
    for value in ["5", "x", "", "6.5", "99999999999999999999"] {
        assert!(!more.matches(labels(&[("n", value)])), "{value}");
    }
    assert!(!more.matches(labels(&[])) && !less.matches(labels(&[])));
    assert!(less.matches(labels(&[("n", "-6")])));
}

#[test]
fn field_selectors_are_read_printed_and_asked() {
    let table = [
        ("", ""),
        ("spec.nodeName=a", "spec.nodeName=a"),
        ("a.b==c,d!=e", "a.b=c,d!=e"),
        ("d!=,a=", "a=,d!="),
        (",a=b,", "a=b"),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("a!b=c", "a!b=c"),
        ("=,a=b,!=", "a=b"),
    ];
    for (text, printed) in table {
        let selector = FieldSelector::parse(text).unwrap();
        assert_eq!(selector.to_string(), printed, "{text:?}");
        assert_eq!(FieldSelector::parse(printed).unwrap(), selector);
    }
    let selector = FieldSelector::parse(r"spec.nodeName=n\,1,status.phase!=Failed").unwrap();
    let pod = |node: Option<&'static str>, phase: Option<&'static str>| {
        selector.matches_with(|field| match field {
            "spec.nodeName" => node,
            "status.phase" => phase,
            _ => None,
        })
    };
    assert!(pod(Some("n,1"), Some("Running")) && pod(Some("n,1"), None));
    assert!(!pod(Some("n,1"), Some("Failed")) && !pod(None, None) && !pod(Some("n"), None));
    assert_eq!(selector.required_value("spec.nodeName"), Some("n,1"));
    assert_eq!(selector.required_value("status.phase"), None);
    assert!(FieldSelector::parse("a=").unwrap().matches_with(|_| None));
    assert!(FieldSelector::everything().is_empty());
    assert_eq!(FieldSelector::equal("a", "b=c").to_string(), r"a=b\=c");
}

#[test]
fn a_bad_field_selector_is_an_error_that_names_the_part() {
    for (text, named) in [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        (
            "a=b,nope",
            "invalid selector: 'a=b,nope'; can't understand 'nope'",
        ),
        (
            r"a=b\c",
            r"invalid field selector: invalid escape sequence: \c",
        ),
        (
            "a=b=c",
            "invalid field selector: unescaped character in value: 61",
        ),
        (
            "a===b",
            "invalid field selector: unescaped character in value: 61",
        ),
        (
            r"a=b\",
            r"invalid field selector: invalid escape sequence: \",
        ),
    ] {
        let error = FieldSelector::parse(text).unwrap_err().to_string();
        assert_eq!(error, named, "{text}");
    }
}
