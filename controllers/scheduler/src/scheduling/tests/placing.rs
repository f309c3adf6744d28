use super::*;

/// A pod with one required term about pods `app: <app>`.
fn term(affinity: &str, app: &str, key: &str) -> Value {
    let term = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key});
    json!({"spec": {"affinity":
        {affinity: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}})
}

fn wish(affinity: &str, app: &str, key: &str) -> Value {
    let term = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key});
    json!({"spec": {"affinity": {affinity: {"preferredDuringSchedulingIgnoredDuringExecution":
        [{"weight": 10, "podAffinityTerm": term}]}}}})
}

fn app(app: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}})
}

fn both(one: Value, other: &Value) -> Value {
    merged(one, other)
}

/// `DoNotSchedule` or `ScheduleAnyway` for pods `app: web`.
fn spread(skew: i64, key: &str, when: &str) -> Value {
    let constraint = json!({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": "web"}}});
    both(
        app("web"),
        &json!({"spec": {"topologySpreadConstraints": [constraint]}}),
    )
}

const SKEWED: &str = "node(s) didn't match pod topology spread constraints";

#[test]
fn refuses_in_upstreams_words() {
    let one = |node: Value, pod: Value| fate([node, pod]);
    let cases = [
        (
            node("n", json!({"spec": {"unschedulable": true}})),
            pod("a", "1", json!({})),
            "1 node(s) were unschedulable.",
        ),
        (
            node(
                "n",
                json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
            ),
            pod("a", "1", json!({})),
            "1 node(s) had untolerated taint(s).",
        ),
        (
            node("n", json!({})),
            pod("a", "1", json!({"spec": {"nodeSelector": {"disk": "ssd"}}})),
            "1 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            node("n", json!({})),
            pod("a", "5", json!({})),
            "1 Insufficient cpu.",
        ),
        (
            node("n", json!({"status": {"allocatable": {"pods": "0"}}})),
            pod("a", "5", json!({})),
            "1 Insufficient cpu, 1 Too many pods.",
        ),
        (
            node("n", json!({})),
            pod("a", "1", spread(1, "zone", "DoNotSchedule")),
            "1 node(s) didn't match pod topology spread constraints (missing required label).",
        ),
        (
            node("n", json!({})),
            pod(
                "a",
                "1",
                term("podAffinity", "db", "kubernetes.io/hostname"),
            ),
            "1 node(s) didn't match pod affinity rules.",
        ),
    ];
    for (node, pod, why) in cases {
        let expected = format!("0/1 nodes are available: {why}");
        assert_eq!(one(node, pod), expected);
    }
    let nowhere = fate([pod("a", "1", json!({}))]);
    assert_eq!(nowhere, "no nodes available to schedule pods");
}

#[test]
fn every_node_gives_its_first_reason() {
    let why = fate([
        node("a", json!({"spec": {"unschedulable": true}})),
        node("b", json!({})),
        node("c", json!({"status": {"allocatable": {"cpu": "1"}}})),
        running("r", "b", "3", json!({})),
        pod("p", "2", json!({})),
    ]);
    let expected = "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.";
    assert_eq!(why, expected);
}

#[test]
fn nodes_that_are_not_named_are_not_asked() {
    let by_name = |name: &str| {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [name]});
        json!({"spec": {"affinity": {"nodeAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchFields": [field]}]}}}}})
    };
    let nodes = [node("a", json!({})), node("b", json!({}))];
    let objects = |pod: Value| nodes.clone().into_iter().chain([pod]);
    assert_eq!(fate(objects(pod("p", "1", by_name("b")))), "b");
    assert_eq!(
        fate(objects(pod("p", "9", by_name("b")))),
        "0/2 nodes are available: 1 Insufficient cpu, \
         1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    );
}

#[test]
fn ports_of_a_node_are_taken_once() {
    let port = json!({"spec": {"containers": [{"ports": [{"hostPort": 80}]}]}});
    let objects = [
        node("a", json!({})),
        node("b", json!({})),
        pod("p1", "0", port.clone()),
        pod("p2", "0", port.clone()),
        pod("p3", "0", port),
    ];
    let played = sync(objects);
    assert_eq!(played.nodes(), ["a", "b"]);
    let why = "node(s) didn't have free ports for the requested pod ports";
    assert!(played.told()[0].contains(why), "{:?}", played.told());
}

#[test]
fn pods_of_one_sync_see_each_other() {
    let pods = (0..5).map(|i| pod(&format!("p{i}"), "1500m", json!({})));
    let nodes = [node("a", json!({})), node("b", json!({}))];
    let played = sync(nodes.into_iter().chain(pods));
    assert_eq!(played.bound().len(), 4);
    assert!(played.told()[0].contains("2 Insufficient cpu"));
}

#[test]
fn the_more_important_and_then_the_older_go_first() {
    let at = |second: u32| json!({"metadata": {"creationTimestamp": format!("2026-01-01T00:00:0{second}Z")}});
    let objects = [
        node("n", json!({"status": {"allocatable": {"cpu": "3"}}})),
        pod("young", "1", at(3)),
        pod("old", "1", at(1)),
        pod("older", "1", at(0)),
        pod("high", "1", both(at(4), &priority(5))),
    ];
    let bound = sync(objects).bound();
    assert_eq!(bound, ["high → n", "older → n", "old → n"]);
}

/// Ideas from upstream's `plugins/podtopologyspread/filtering_test.go`, TestSingleConstraint.
#[test]
fn hard_constraints_keep_the_skew() {
    let zones = || [zoned("a", "x"), zoned("b", "y")];
    let web = |name: &str, node: &str| running(name, node, "0", app("web"));
    let wanted = |skew: i64| pod("p", "0", spread(skew, "zone", "DoNotSchedule"));
    let refused = format!("0/2 nodes are available: 2 {SKEWED}.");

    let fewer = fate(zones().into_iter().chain([web("1", "a"), wanted(1)]));
    assert_eq!(fewer, "b");

    let full = json!({"status": {"allocatable": {"pods": "0"}}});
    let mut objects = vec![zoned("a", "x"), merged(zoned("b", "y"), &full)];
    objects.extend([web("1", "a"), wanted(1)]);
    let why = format!("0/2 nodes are available: 1 Too many pods, 1 {SKEWED}.");
    assert_eq!(fate(objects.clone()), why);
    objects.pop();
    objects.push(wanted(2));
    assert_eq!(fate(objects), "a");

    // Fewer zones than asked for: another, empty one is taken to be there.
    let mut three = wanted(1);
    three["spec"]["topologySpreadConstraints"][0]["minDomains"] = 3.into();
    let both_used = [web("1", "a"), web("2", "b"), three];
    assert_eq!(fate(zones().into_iter().chain(both_used)), refused);

    // Who goes does not count, nor who lives in another namespace.
    let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30}});
    let uncounted = [
        merged(web("1", "a"), &going),
        merged(web("2", "a"), &json!({"metadata": {"namespace": "other"}})),
        web("3", "b"),
        wanted(1),
    ];
    assert_eq!(fate(zones().into_iter().chain(uncounted)), "a");
}

#[test]
fn policies_say_which_nodes_make_up_domains() {
    let tainted = json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}});
    let wanted = |policy: Value| {
        let mut pod = pod("p", "0", spread(1, "zone", "DoNotSchedule"));
        let constraint = &mut pod["spec"]["topologySpreadConstraints"][0];
        *constraint = merged(constraint.clone(), &policy);
        pod
    };
    let objects = |pod: Value| {
        [
            zoned("a", "x"),
            merged(zoned("b", "y"), &tainted),
            running("1", "a", "0", app("web")),
            pod,
        ]
    };
    // The tainted zone is empty, and by default that counts.
    assert!(fate(objects(wanted(json!({})))).contains(SKEWED));
    assert_eq!(
        fate(objects(wanted(json!({"nodeTaintsPolicy": "Honor"})))),
        "a"
    );

    let selects = |policy: Value| {
        let selector = json!({"spec": {"nodeSelector": {"zone": "x"}}});
        merged(wanted(policy), &selector)
    };
    // By default only nodes that the pod could use make up domains.
    assert_eq!(fate(objects(selects(json!({})))), "a");
    assert!(fate(objects(selects(json!({"nodeAffinityPolicy": "Ignore"})))).contains(SKEWED));
}

#[test]
fn a_batch_spreads_evenly() {
    let nodes = [zoned("a", "x"), zoned("b", "x"), zoned("c", "y")];
    let pods = (0..6).map(|i| pod(&format!("p{i}"), "0", spread(1, "zone", "DoNotSchedule")));
    let bound = sync(nodes.into_iter().chain(pods)).bound();
    let in_y = bound.iter().filter(|it| it.ends_with("c")).count();
    assert_eq!((bound.len(), in_y), (6, 3));
}

/// Ideas from upstream's `plugins/podtopologyspread/scoring_test.go` and of its system defaults.
#[test]
fn soft_constraints_and_controllers_prefer_emptier_domains() {
    let web = |name: &str, node: &str| running(name, node, "0", app("web"));
    let zones = [
        zoned("a", "x"),
        zoned("b", "y"),
        web("1", "a"),
        web("2", "a"),
    ];
    let soft = pod("p", "0", spread(1, "zone", "ScheduleAnyway"));
    assert_eq!(fate(zones.into_iter().chain([soft])), "b");

    let owner = json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1",
        "kind": "ReplicaSet", "name": "web", "uid": "set", "controller": true}]}});
    let nodes = (0..4).map(|i| node(&format!("n{i}"), json!({})));
    let pods = (0..4).map(|i| pod(&format!("p{i}"), "0", owner.clone()));
    assert_eq!(sync(nodes.chain(pods)).nodes(), ["n0", "n1", "n2", "n3"]);
}

/// Ideas from upstream's `plugins/interpodaffinity/filtering_test.go`,
/// TestRequiredAffinityMultipleNodes.
#[test]
fn pods_go_where_company_is() {
    let nodes = || [zoned("a", "x"), zoned("b", "y"), zoned("c", "y")];
    let near = |change: Value| pod("p", "0", both(term("podAffinity", "db", "zone"), &change));
    let objects = |more: Vec<Value>| nodes().into_iter().chain(more);
    let db = running("db", "b", "0", app("db"));
    let there = fate(objects(vec![db.clone(), near(json!({}))]));
    assert!(["b", "c"].contains(&there.as_str()), "{there}");
    // Elsewhere is nowhere.
    let selector = json!({"spec": {"nodeSelector": {"zone": "x"}}});
    let why = fate(objects(vec![db, near(selector)]));
    assert!(
        why.contains("1 node(s) didn't match pod affinity rules"),
        "{why}"
    );
    // The first of those that want each other has to begin somewhere.
    let first = fate(objects(vec![near(app("db"))]));
    assert!(["a", "b", "c"].contains(&first.as_str()), "{first}");
    // But not on a node without the label.
    let bare = fate([node("n", json!({})), near(app("db"))]);
    assert!(bare.contains("didn't match pod affinity rules"), "{bare}");
}

#[test]
fn friends_of_one_sync_stay_together() {
    let change = both(term("podAffinity", "db", "zone"), &app("db"));
    let nodes = [zoned("a", "x"), zoned("b", "y")];
    let pods = (0..4).map(|i| pod(&format!("p{i}"), "0", change.clone()));
    let mut nodes = sync(nodes.into_iter().chain(pods)).nodes();
    assert_eq!(nodes.len(), 4);
    nodes.dedup();
    assert_eq!(nodes.len(), 1);
}

#[test]
fn pods_stay_away_from_each_other_whoever_asked_for_it() {
    let host = "kubernetes.io/hostname";
    let nodes = || [node("a", json!({})), node("b", json!({}))];
    let web = running("web", "a", "0", app("web"));
    // The newcomer asked.
    let away = pod("p", "0", term("podAntiAffinity", "web", host));
    assert_eq!(fate(nodes().into_iter().chain([web.clone(), away])), "b");
    // The one that is there asked.
    let shy = running("shy", "a", "0", term("podAntiAffinity", "web", host));
    assert_eq!(
        fate(nodes().into_iter().chain([shy, pod("p", "0", app("web"))])),
        "b"
    );
    // Both in one sync.
    let loner = both(term("podAntiAffinity", "web", host), &app("web"));
    let pods = (0..3).map(|i| pod(&format!("p{i}"), "0", loner.clone()));
    let played = sync(nodes().into_iter().chain(pods));
    assert_eq!(played.bound().len(), 2);
    let why = "2 node(s) didn't match pod anti-affinity rules";
    assert!(played.told()[0].contains(why), "{:?}", played.told());
    // Another namespace is another world, unless it is meant.
    let far = |change: Value| {
        let shy = both(term("podAntiAffinity", "web", host), &change);
        let elsewhere = json!({"metadata": {"namespace": "other"}});
        let shy = running("shy", "a", "0", both(shy, &elsewhere));
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "default", "labels": {"team": "one"}}});
        fate([
            node("a", json!({})),
            namespace,
            shy,
            pod("p", "0", app("web")),
        ])
    };
    assert_eq!(far(json!({})), "a");
    let mut by_team = term("podAntiAffinity", "web", host);
    by_team["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        [0]["namespaceSelector"] = json!({"matchLabels": {"team": "one"}});
    assert!(far(by_team).contains("existing pods anti-affinity rules"));
}

#[test]
fn wishes_decide_between_equals() {
    let nodes = || (0..4).map(|i| node(&format!("n{i}"), json!({})));
    let db = || running("db", "n2", "0", app("db"));
    let host = "kubernetes.io/hostname";
    let near = pod("p", "0", wish("podAffinity", "db", host));
    assert_eq!(fate(nodes().chain([db(), near])), "n2");
    let mut away = nodes().collect::<Vec<_>>();
    away.truncate(3);
    away.extend([
        db(),
        running("x", "n0", "0", app("db")),
        pod("p", "0", wish("podAntiAffinity", "db", host)),
    ]);
    assert_eq!(fate(away), "n1");
    // Those who are there have wishes as well.
    let fond = running("db", "n3", "0", wish("podAffinity", "web", host));
    assert_eq!(fate(nodes().chain([fond, pod("p", "0", app("web"))])), "n3");
    let likes = json!({"spec": {"affinity": {"nodeAffinity":
        {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":
            {"matchExpressions": [{"key": host, "operator": "In", "values": ["n1"]}]}}]}}}});
    assert_eq!(fate(nodes().chain([pod("p", "0", likes)])), "n1");
    let rather_not = json!({"spec": {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}});
    let tainted = (0..4).map(|i| match i {
        1 => node("n1", json!({})),
        i => node(&format!("n{i}"), rather_not.clone()),
    });
    assert_eq!(fate(tainted.chain([pod("p", "0", json!({}))])), "n1");
    assert_eq!(
        fate([
            node("a", json!({})),
            node("b", json!({})),
            running("r", "a", "2", json!({})),
            pod("p", "1", json!({})),
        ]),
        "b"
    );
}

#[test]
fn equal_pods_do_not_all_go_to_one_of_equal_nodes() {
    let mut used = std::collections::BTreeSet::new();
    for i in 0..40 {
        let nodes = (0..4).map(|i| node(&format!("n{i}"), json!({})));
        used.insert(fate(nodes.chain([pod(&format!("p{i}"), "1", json!({}))])));
    }
    assert_eq!(used.len(), 4);
}

#[test]
fn a_pod_that_makes_no_sense_is_told_so() {
    let change = json!({"spec": {"affinity": {"podAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": "near"}}}});
    let why = fate([node("n", json!({})), pod("p", "1", change)]);
    let start = "0/1 nodes are available: parsing pod: podAffinity: invalid type";
    assert!(why.starts_with(start), "{why}");
}

#[test]
fn leaves_alone_what_is_not_its_own() {
    let alone = [
        json!({"spec": {"schedulerName": "mine"}}),
        json!({"spec": {"nodeName": "n"}}),
        json!({"spec": {"schedulingGates": [{"name": "wait"}]}}),
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 30}}),
        json!({"status": {"phase": "Failed"}}),
    ];
    for change in alone {
        let mut world = world([node("n", json!({})), pod("p", "1", change.clone())]);
        assert!(play(&mut world).is_none(), "{change}");
    }
    let mine = SchedulerSettings {
        name: "mine".into(),
    };
    let change = json!({"spec": {"schedulerName": "mine"}});
    let mut world = world([node("n", json!({})), pod("p", "1", change)]);
    let played = play_with(&Scheduler::new(mine), &mut world).unwrap();
    assert_eq!(played.bound(), ["p → n"]);
}
