//! The cases: one sync each, as YAML. Objects are short where that says enough.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(default, rename = "origin")]
    _origin: Option<String>,
    objects: Vec<Value>,
    expect: String,
}

/// `Node: n`, `Pod: p` with `cpu`, `node` and `priority`; the rest is merged in.
fn whole(short: &Value) -> Value {
    let text = |field: &str| short[field].as_str();
    let mut change = short.clone();
    let fields = change.as_object_mut().unwrap();
    for field in ["Node", "Pod", "cpu", "node", "priority"] {
        fields.remove(field);
    }
    if let Some(name) = text("Node") {
        return node(name, change);
    }
    let Some(name) = text("Pod") else {
        return short.clone();
    };
    if let Some(rank) = short["priority"].as_i64() {
        change["spec"]["priority"] = rank.into();
    }
    let cpu = text("cpu").unwrap_or("0");
    match text("node") {
        Some(node) => running(name, node, cpu, change),
        None => pod(name, cpu, change),
    }
}

fn check(name: &str, yaml: &str) {
    let case: Case = serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{name}: {error}"));
    let happened = match play(&mut world(case.objects.iter().map(whole))) {
        Some(played) => played.text(),
        None => "absent".to_owned(),
    };
    let (happened, expected) = (happened.trim(), case.expect.trim());
    assert!(
        happened == expected,
        "{name}: {}\nhappened:\n{happened}",
        case.about
    );
}

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                let yaml = include_str!(concat!("../cases/", stringify!($name), ".yaml"));
                check(stringify!($name), yaml);
            }
        )+
    };
}

cases!(
    binds_and_tells,
    deletes_a_less_important_pod_to_make_room,
    gives_up_a_nomination_that_cannot_be,
    keeps_quiet_about_what_is_known,
    leaves_gated_pods_alone,
    places_the_first_of_friends,
    says_what_is_wrong_with_each_node,
    says_when_there_are_no_nodes,
    spreads_over_zones,
    takes_the_place_that_was_made,
);
