use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::digest::template_hash;

/// Compares both ways round, and the hashes with it.
fn equal(a: &str, b: &str) -> bool {
    let forth = template_equal(a, b, None).unwrap();
    assert_eq!(
        template_equal(b, a, None).unwrap(),
        forth,
        "symmetry of\n  {a}\n  {b}"
    );
    if forth {
        assert_eq!(
            template_hash(a, None),
            template_hash(b, None),
            "hash of\n  {a}\n  {b}"
        );
    }
    forth
}

fn check(cases: &[(&str, &str)], want: bool) {
    for (a, b) in cases {
        assert_eq!(equal(a, b), want, "\n  {a}\n  {b}");
    }
}

#[test]
fn absent_null_and_empty_are_the_same() {
    check(
        &[
            ("{}", "null"),
            ("{}", r#"{"metadata":{},"spec":{}}"#),
            (
                r#"{"metadata":{"creationTimestamp":null}}"#,
                r#"{"metadata":{}}"#,
            ),
            (
                r#"{"metadata":{"labels":{}}}"#,
                r#"{"metadata":{"labels":null}}"#,
            ),
            (
                r#"{"spec":{"containers":[]}}"#,
                r#"{"spec":{"containers":null}}"#,
            ),
            (
                r#"{"spec":{"hostNetwork":false,"nodeName":""}}"#,
                r#"{"spec":{}}"#,
            ),
            (
                r#"{"spec":{"containers":[{"name":"a","resources":{}}]}}"#,
                r#"{"spec":{"containers":[{"name":"a","resources":{"limits":null,"requests":{}}}]}}"#,
            ),
            (
                r#"{"spec":{"containers":[{"name":"a","resources":{}}]}}"#,
                r#"{"spec":{"containers":[{"name":"a"}]}}"#,
            ),
            (
                r#"{"spec":{"containers":[null]}}"#,
                r#"{"spec":{"containers":[{}]}}"#,
            ),
            (
                r#"{"spec":{"nodeSelector":{"a":null}}}"#,
                r#"{"spec":{"nodeSelector":{"a":""}}}"#,
            ),
            // Fields nobody here has heard of.
            (r#"{"spec":{"novel":{"deep":[]}}}"#, r#"{"spec":{}}"#),
            (r#"{"spec":{"novel":0}}"#, r#"{"spec":{"novel":""}}"#),
        ],
        true,
    );
}

#[test]
fn empty_says_something_where_upstream_has_a_pointer() {
    check(
        &[
            (
                r#"{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}"#,
                r#"{"spec":{"volumes":[{"name":"v"}]}}"#,
            ),
            (r#"{"spec":{"securityContext":{}}}"#, r#"{"spec":{}}"#),
            (
                r#"{"spec":{"securityContext":{"runAsUser":0}}}"#,
                r#"{"spec":{"securityContext":{}}}"#,
            ),
            (
                r#"{"spec":{"automountServiceAccountToken":false}}"#,
                r#"{"spec":{}}"#,
            ),
            (r#"{"spec":{"resources":{}}}"#, r#"{"spec":{}}"#),
            (
                r#"{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaceSelector":{}}]}}}}"#,
                r#"{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}"#,
            ),
            (
                r#"{"spec":{"volumes":[{"hostPath":{"path":"/","type":""}}]}}"#,
                r#"{"spec":{"volumes":[{"hostPath":{"path":"/"}}]}}"#,
            ),
            (
                r#"{"spec":{"volumes":[{"csi":{"driver":"d","readOnly":false}}]}}"#,
                r#"{"spec":{"volumes":[{"csi":{"driver":"d"}}]}}"#,
            ),
            (
                r#"{"spec":{"initContainers":[{"restartPolicy":""}]}}"#,
                r#"{"spec":{"initContainers":[{}]}}"#,
            ),
        ],
        false,
    );
    check(
        &[
            (r#"{"spec":{"securityContext":null}}"#, r#"{"spec":{}}"#),
            (
                r#"{"spec":{"securityContext":{"runAsUser":null}}}"#,
                r#"{"spec":{"securityContext":{}}}"#,
            ),
            // The same names where they are no pointers.
            (
                r#"{"spec":{"volumes":[{"nfs":{"readOnly":false}}]}}"#,
                r#"{"spec":{"volumes":[{"nfs":{}}]}}"#,
            ),
            (r#"{"spec":{"restartPolicy":""}}"#, r#"{"spec":{}}"#),
            (
                r#"{"spec":{"volumes":[{"ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{}}}}}]}}"#,
                r#"{"spec":{"volumes":[{"ephemeral":{"volumeClaimTemplate":{}}}]}}"#,
            ),
        ],
        true,
    );
}

#[test]
fn entries_of_maps_count_even_when_empty() {
    check(
        &[
            (
                r#"{"metadata":{"labels":{"a":""}}}"#,
                r#"{"metadata":{"labels":{}}}"#,
            ),
            (
                r#"{"metadata":{"annotations":{"a":""}}}"#,
                r#"{"metadata":{}}"#,
            ),
            (
                r#"{"spec":{"nodeSelector":{"a":""}}}"#,
                r#"{"spec":{"nodeSelector":{"b":""}}}"#,
            ),
            (
                r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"0"}}}]}}"#,
                r#"{"spec":{"containers":[{"resources":{"limits":{}}}]}}"#,
            ),
            (
                r#"{"spec":{"volumes":[{"flexVolume":{"driver":"d","options":{"a":""}}}]}}"#,
                r#"{"spec":{"volumes":[{"flexVolume":{"driver":"d"}}]}}"#,
            ),
        ],
        false,
    );
}

#[test]
fn quantities_are_compared_by_amount_wherever_they_are() {
    let places = [
        r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":Q}}}]}}"#,
        r#"{"spec":{"initContainers":[{"resources":{"requests":{"example.com/gpu":Q}}}]}}"#,
        r#"{"spec":{"ephemeralContainers":[{"resources":{"requests":{"cpu":Q}}}]}}"#,
        r#"{"spec":{"resources":{"limits":{"cpu":Q}}}}"#,
        r#"{"spec":{"overhead":{"memory":Q}}}"#,
        r#"{"spec":{"volumes":[{"emptyDir":{"sizeLimit":Q}}]}}"#,
        r#"{"spec":{"containers":[{"env":[{"valueFrom":{"resourceFieldRef":{"divisor":Q}}}]}]}}"#,
        r#"{"spec":{"volumes":[{"downwardAPI":{"items":[{"resourceFieldRef":{"divisor":Q}}]}}]}}"#,
        r#"{"spec":{"volumes":[{"projected":{"sources":[{"downwardAPI":{"items":[{"resourceFieldRef":{"divisor":Q}}]}}]}}]}}"#,
        r#"{"spec":{"volumes":[{"ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":Q}}}}}}]}}"#,
    ];
    let with = |place: &str, quantity: &str| place.replace('Q', quantity);
    for place in places {
        for (a, b) in [
            (r#""1""#, r#""1000m""#),
            (r#""1Gi""#, r#""1024Mi""#),
            ("1", r#""1""#),
            ("0.5", r#""500m""#),
        ] {
            assert!(equal(&with(place, a), &with(place, b)), "{place} {a} {b}");
        }
        for (a, b) in [
            (r#""1""#, r#""2""#),
            (r#""1G""#, r#""1Gi""#),
            (r#""oops""#, r#""1""#),
            ("true", r#""1""#),
        ] {
            assert!(!equal(&with(place, a), &with(place, b)), "{place} {a} {b}");
        }
    }
    let divisor = places[6];
    assert!(
        equal(&with(divisor, r#""0""#), &with(divisor, "null")),
        "no divisor is zero"
    );
    let size_limit = places[5];
    assert!(
        !equal(&with(size_limit, r#""0""#), &with(size_limit, "null")),
        "a pointer"
    );
    // Elsewhere "1" and "1000m" are just texts.
    assert!(!equal(
        r#"{"spec":{"hostname":"1"}}"#,
        r#"{"spec":{"hostname":"1000m"}}"#
    ));
}

#[test]
fn times_are_compared_by_instant() {
    let created = |at: &str| format!(r#"{{"metadata":{{"creationTimestamp":{at}}}}}"#);
    assert!(equal(
        &created(r#""2024-05-01T10:00:00Z""#),
        &created(r#""2024-05-01T12:00:00+02:00""#)
    ));
    assert!(!equal(
        &created(r#""2024-05-01T10:00:00Z""#),
        &created(r#""2024-05-01T10:00:01Z""#)
    ));
    assert!(equal(
        &created(r#""0001-01-01T00:00:00Z""#),
        &created("null")
    ));
    assert!(!equal(
        &created(r#""2024-05-01T10:00:00Z""#),
        &created("null")
    ));
}

#[test]
fn everything_else_that_differs_is_a_difference() {
    check(
        &[
            (
                r#"{"spec":{"containers":[{"image":"a:1"}]}}"#,
                r#"{"spec":{"containers":[{"image":"a:2"}]}}"#,
            ),
            (
                r#"{"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}}"#,
                r#"{"spec":{"tolerations":[{"key":"b"},{"key":"a"}]}}"#,
            ),
            (
                r#"{"spec":{"tolerations":[{}]}}"#,
                r#"{"spec":{"tolerations":[]}}"#,
            ),
            (r#"{"spec":{"priority":1}}"#, r#"{"spec":{"priority":"1"}}"#),
            (r#"{"spec":{"novel":{"a":1}}}"#, r#"{"spec":{}}"#),
            (
                r#"{"spec":{"runAs":9007199254740993}}"#,
                r#"{"spec":{"runAs":9007199254740992}}"#,
            ),
            (
                r#"{"spec":{"x":123456789012345678901234567890}}"#,
                r#"{"spec":{"x":123456789012345678901234567891}}"#,
            ),
            (
                r#"{"metadata":{"labels":{"pod-template-hash":"x"}}}"#,
                r#"{"metadata":{"labels":{}}}"#,
            ),
        ],
        false,
    );
}

#[test]
fn order_of_members_blanks_and_escapes_do_not_count() {
    check(
        &[
            (
                r#"{"spec":{"a":1,"b":2}}"#,
                r#" { "spec" : { "b" : 2 , "a" : 1 } } "#,
            ),
            (
                r#"{"spec":{"hostname":"é"}}"#,
                r#"{"spec":{"hostname":"\u00e9"}}"#,
            ),
            (
                r#"{"spec":{"priority":10}}"#,
                r#"{"spec":{"priority":1e1}}"#,
            ),
            (r#"{"spec":{"a":1,"a":2}}"#, r#"{"spec":{"a":3,"a":2}}"#),
            (
                r#"{"metadata":{"name":"a"},"metadata":{"name":"c"}}"#,
                r#"{"metadata":{"name":"b"},"metadata":{"name":"c"}}"#,
            ),
        ],
        true,
    );
}

#[test]
fn one_label_of_the_template_can_be_ignored_and_only_there() {
    let hash = Some("pod-template-hash");
    let with = r#"{"metadata":{"labels":{"app":"a","pod-template-hash":"x"}},"spec":{}}"#;
    let other = r#"{"metadata":{"labels":{"pod-template-hash":"y","app":"a"}}}"#;
    let without = r#"{"metadata":{"labels":{"app":"a"}}}"#;
    let only = r#"{"metadata":{"labels":{"pod-template-hash":"x"}}}"#;
    for (a, b) in [
        (with, without),
        (without, with),
        (with, other),
        (only, "{}"),
    ] {
        assert!(template_equal(a, b, hash).unwrap(), "{a} {b}");
    }
    assert!(!template_equal(with, other, None).unwrap());
    assert!(!template_equal(only, without, hash).unwrap());
    let annotated = r#"{"metadata":{"annotations":{"pod-template-hash":"x"}}}"#;
    assert!(!template_equal(annotated, "{}", hash).unwrap());
    let claim = |labels: &str| {
        format!(
            r#"{{"spec":{{"volumes":[{{"ephemeral":{{"volumeClaimTemplate":{{"metadata":{{"labels":{labels}}}}}}}}}]}}}}"#
        )
    };
    let (a, b) = (claim(r#"{"pod-template-hash":"x"}"#), claim("{}"));
    assert!(!template_equal(&a, &b, hash).unwrap());
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for bad in [
        "",
        "{",
        "{]",
        r#"{"a":}"#,
        "nul",
        "{} {}",
        r#"{"a":"\ud800"}"#,
    ] {
        let error = template_equal(bad, "{\"a\":\"x\"}", None).unwrap_err();
        assert!(matches!(error, TemplateUnreadable::NotJson(_)), "{bad}");
    }
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    let nested = |bottom: &str| {
        let (open, close) = (r#"{"a":["#.repeat(5_000), "]}".repeat(5_000));
        format!("{open}{bottom}{close}")
    };
    let (a, b) = (nested("1"), nested("2"));
    assert!(matches!(
        template_equal(&a, &b, None),
        Err(TemplateUnreadable::TooDeep)
    ));
    assert!(template_equal(&a, &a, None).unwrap());
    assert_ne!(template_hash(&a, None), template_hash(&b, None));
}

/// A struct of a template, with names of every sort.
fn fields() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3i64).prop_map(Value::from),
        "[ab]?".prop_map(Value::from),
        prop::sample::select(vec!["1", "1000m", "0", "2024-01-01T00:00:00Z"]).prop_map(Value::from),
    ];
    let map = prop::collection::btree_map("[ab]", "[01]?", 0..3).prop_map(|map| {
        map.into_iter()
            .map(|(k, v)| (k, Value::from(v)))
            .collect::<Map<_, _>>()
    });
    let scalar_name = prop::sample::select(vec![
        "image",
        "name",
        "runAsUser",
        "optional",
        "hostNetwork",
        "divisor",
        "type",
        "novelScalar",
        "creationTimestamp",
    ]);
    let map_name = prop::sample::select(vec!["labels", "nodeSelector", "limits", "annotations"]);
    let struct_name = prop::sample::select(vec![
        "metadata",
        "spec",
        "securityContext",
        "emptyDir",
        "resources",
        "novelStruct",
    ]);
    let list_name = prop::sample::select(vec!["containers", "volumes", "novelList"]);
    let leaf = (
        prop::collection::btree_map(scalar_name, scalar, 0..4),
        prop::collection::btree_map(map_name, map, 0..2),
    )
        .prop_map(|(scalars, maps)| {
            let maps = maps
                .into_iter()
                .map(|(name, map)| (name, Value::Object(map)));
            let members = scalars.into_iter().chain(maps);
            Value::Object(
                members
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            )
        });
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let lists = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
        (
            inner.clone(),
            prop::collection::btree_map(struct_name.clone(), inner, 0..3),
            prop::collection::btree_map(list_name.clone(), lists, 0..2),
        )
            .prop_map(|(mut value, structs, lists)| {
                for (name, member) in structs.into_iter().chain(lists) {
                    value[name] = member;
                }
                value
            })
    })
}

/// Puts what counts as nothing into every struct, at every second chance.
fn sprinkle(value: &mut Value, chance: &mut impl FnMut() -> bool) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|each| sprinkle(each, chance)),
        Value::Object(members) => {
            let maps = ["labels", "nodeSelector", "limits", "annotations"];
            for (_, member) in members
                .iter_mut()
                .filter(|(name, _)| !maps.contains(&name.as_str()))
            {
                sprinkle(member, chance);
            }
            let nothings = [
                ("emptyDir", json!(null)),
                ("runAsUser", json!(null)),
                ("hostIPC", json!(false)),
                ("hostname", json!("")),
                ("imagePullSecrets", json!([])),
                ("matchLabels", json!({})),
                ("novelOne", json!({"novel": [], "other": null})),
                ("novelTwo", json!(0)),
                ("divisor", json!("0")),
            ];
            for (name, nothing) in nothings {
                if !members.contains_key(name) && chance() {
                    members.insert(name.to_owned(), nothing);
                }
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn nothing_added_anywhere_makes_no_difference(
        value in fields(),
        chances in prop::collection::vec(any::<bool>(), 64),
    ) {
        let mut with_nothings = value.clone();
        let mut chances = chances.into_iter().cycle();
        sprinkle(&mut with_nothings, &mut || chances.next().unwrap_or(true));
        let pretty = serde_json::to_string_pretty(&with_nothings).unwrap();
        prop_assert!(equal(&value.to_string(), &pretty));
    }

    #[test]
    fn the_relation_is_symmetric_and_agrees_with_the_hash(a in fields(), b in fields()) {
        let (a, b) = (a.to_string(), b.to_string());
        let same = equal(&a, &b);
        // 32 bits over few small values: a collision would be a mistake in the normal form.
        prop_assert_eq!(template_hash(&a, None) == template_hash(&b, None), same);
    }

    #[test]
    fn it_is_reflexive_for_any_spelling(value in fields()) {
        prop_assert!(equal(&value.to_string(), &serde_json::to_string_pretty(&value).unwrap()));
    }
}
