//! What must hold of a pod and its node, asked of the plain objects, one by one and from scratch.
//!
//! It knows only what the generated worlds say: exact selectors, one term or constraint each.

use super::*;

/// Why the pod may not be on the node, given all other pods; `None` if it may.
pub(super) fn objection(world: &World, pod: &Value, node: &Value) -> Option<String> {
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    let others: Vec<&Value> = pods(world)
        .filter(|it| is_on_node(it) && it["metadata"]["uid"] != pod["metadata"]["uid"])
        .collect();
    let here: Vec<&&Value> = others
        .iter()
        .filter(|it| it["spec"]["nodeName"] == name)
        .collect();
    let spec = &pod["spec"];
    let tolerates = !spec["tolerations"].is_null();
    if node["spec"]["unschedulable"] == true {
        return Some("cordoned".to_owned());
    }
    if !node["spec"]["taints"].is_null() && !tolerates {
        return Some("tainted".to_owned());
    }
    if !spec["nodeSelector"].is_null() && spec["nodeSelector"]["zone"] != *zone(node) {
        return Some("another zone".to_owned());
    }
    let ports = |it: &Value| it["spec"]["containers"][0]["ports"].clone();
    if !ports(pod).is_null() && here.iter().any(|it| ports(it) == ports(pod)) {
        return Some("the port is taken".to_owned());
    }
    let limit = |what: &str| number(&node["status"]["allocatable"][what]);
    if here.len() as i64 + 1 > limit("pods") {
        return Some("too many pods".to_owned());
    }
    let used: i64 = here.iter().map(|it| cpu(it)).sum();
    if cpu(pod) > 0 && used + cpu(pod) > limit("cpu") {
        return Some("too little cpu".to_owned());
    }
    skew(world, pod, node, &others).or_else(|| company(world, pod, node, &others))
}

fn pods(world: &World) -> impl Iterator<Item = &Value> {
    let pods = world.objects().filter(|(id, _)| id.0 == Pod::KIND);
    pods.map(|(_, it)| &**it)
}

pub(super) fn is_on_node(pod: &Value) -> bool {
    !pod["spec"]["nodeName"].is_null() && pod["status"]["phase"] != "Failed"
}

fn number(value: &Value) -> i64 {
    value.as_str().and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn cpu(pod: &Value) -> i64 {
    number(&pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
}

fn zone(node: &Value) -> &Value {
    &node["metadata"]["labels"]["zone"]
}

fn app(pod: &Value) -> &Value {
    &pod["metadata"]["labels"]["app"]
}

/// The value of a label of the node that a pod is on.
fn domain<'a>(world: &'a World, pod: &Value, key: &str) -> &'a Value {
    let name = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    match world.json(Node::KIND, "", name) {
        Some(node) => &node["metadata"]["labels"][key],
        None => &Value::Null,
    }
}

fn skew(world: &World, pod: &Value, node: &Value, others: &[&Value]) -> Option<String> {
    let constraint = &pod["spec"]["topologySpreadConstraints"][0];
    if constraint["whenUnsatisfiable"] != "DoNotSchedule" {
        return None;
    }
    let wanted = &constraint["labelSelector"]["matchLabels"]["app"];
    if zone(node).is_null() {
        return Some("no zone to be spread over".to_owned());
    }
    let count = |zone: &Value| {
        let counted = others.iter().filter(|it| {
            app(it) == wanted
                && it["metadata"]["deletionTimestamp"].is_null()
                && !domain(world, it, "zone").is_null()
                && domain(world, it, "zone") == zone
                && is_eligible(world, pod, it)
        });
        counted.count() as i64
    };
    let nodes = world.objects().filter(|(id, _)| id.0 == Node::KIND);
    let zones = nodes
        .map(|(_, node)| &**node)
        .filter(|node| !zone(node).is_null() && admits(pod, node))
        .map(zone);
    let least = zones.map(count).min().unwrap_or(0);
    let own = i64::from(app(pod) == wanted);
    (count(zone(node)) + own - least > 1).then(|| "skewed".to_owned())
}

/// Whether the node of another pod makes up a domain for this one.
fn is_eligible(world: &World, pod: &Value, other: &Value) -> bool {
    let name = other["spec"]["nodeName"].as_str().unwrap_or_default();
    let node = world.json(Node::KIND, "", name);
    node.is_some_and(|node| admits(pod, node))
}

fn admits(pod: &Value, node: &Value) -> bool {
    let selector = &pod["spec"]["nodeSelector"];
    selector.is_null() || selector["zone"] == *zone(node)
}

/// The app and the key of a pod's only required term of this kind.
fn term<'a>(pod: &'a Value, affinity: &str) -> Option<(&'a Value, &'a str)> {
    let terms = &pod["spec"]["affinity"][affinity];
    let term = &terms["requiredDuringSchedulingIgnoredDuringExecution"][0];
    let key = term["topologyKey"].as_str()?;
    Some((&term["labelSelector"]["matchLabels"]["app"], key))
}

fn company(world: &World, pod: &Value, node: &Value, others: &[&Value]) -> Option<String> {
    let here = |key: &str| &node["metadata"]["labels"][key];
    let is_near =
        |other: &Value, key: &str| !here(key).is_null() && domain(world, other, key) == here(key);
    if let Some((wanted, key)) = term(pod, "podAffinity") {
        let friends: Vec<_> = others.iter().filter(|it| app(it) == wanted).collect();
        let counted = friends
            .iter()
            .filter(|it| !domain(world, it, key).is_null());
        let is_first = counted.count() == 0 && app(pod) == wanted;
        let has_one = friends.iter().any(|it| is_near(it, key));
        if here(key).is_null() || !(has_one || is_first) {
            return Some("no company".to_owned());
        }
    }
    if let Some((unwanted, key)) = term(pod, "podAntiAffinity")
        && others
            .iter()
            .any(|it| app(it) == unwanted && is_near(it, key))
    {
        return Some("unwanted company".to_owned());
    }
    let objects = |it: &&Value| {
        term(it, "podAntiAffinity")
            .is_some_and(|(unwanted, key)| app(pod) == unwanted && is_near(it, key))
    };
    others.iter().any(objects).then(|| "is unwanted".to_owned())
}

/// A checker that never objects would prove nothing.
#[test]
fn it_objects_to_every_rule_that_is_broken() {
    let required = |affinity: &str, app: &str| {
        let selector = json!({"matchLabels": {"app": app}});
        let term = json!({"labelSelector": selector, "topologyKey": "zone"});
        json!({"spec": {"affinity":
            {affinity: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}})
    };
    let app = |app: &str| json!({"metadata": {"labels": {"app": app}}});
    let spread = json!({"metadata": {"labels": {"app": "a"}}, "spec": {"topologySpreadConstraints":
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}}}]}});
    let zoned = |change: Value| merged(zoned("n", "x"), &change);
    let small = |what: &str| zoned(json!({"status": {"allocatable": {what: "1"}}}));
    let taint = json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}});
    let port = json!({"spec": {"containers": [{"ports": [{"hostPort": 80}]}]}});
    let cases = [
        (zoned(json!({})), json!({}), json!({}), None),
        (
            zoned(json!({"spec": {"unschedulable": true}})),
            json!({}),
            json!({}),
            Some("cordoned"),
        ),
        (zoned(taint), json!({}), json!({}), Some("tainted")),
        (
            zoned(json!({})),
            json!({}),
            json!({"spec": {"nodeSelector": {"zone": "y"}}}),
            Some("another zone"),
        ),
        (
            zoned(json!({})),
            port.clone(),
            port,
            Some("the port is taken"),
        ),
        (small("pods"), json!({}), json!({}), Some("too many pods")),
        (small("cpu"), json!({}), json!({}), Some("too little cpu")),
        (zoned(json!({})), app("a"), spread, Some("skewed")),
        (
            zoned(json!({})),
            app("a"),
            required("podAffinity", "b"),
            Some("no company"),
        ),
        (
            zoned(json!({})),
            app("a"),
            required("podAntiAffinity", "a"),
            Some("unwanted company"),
        ),
        (
            zoned(json!({})),
            required("podAntiAffinity", "a"),
            app("a"),
            Some("is unwanted"),
        ),
    ];
    for (node, there, comes, expected) in cases {
        let elsewhere = super::zoned("m", "y");
        let there = running("r", "n", "1", there);
        let world = world([node, elsewhere, there, pod("p", "1", comes)]);
        let pod = world.json(Pod::KIND, "default", "p").unwrap();
        let node = world.json(Node::KIND, "", "n").unwrap();
        assert_eq!(objection(&world, pod, node).as_deref(), expected);
    }
}
