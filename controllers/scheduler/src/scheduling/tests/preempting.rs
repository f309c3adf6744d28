use super::*;

/// A pod of low priority that started then.
fn low(name: &str, node: &str, cpu: &str, rank: i32, second: u32) -> Value {
    let started = json!({"status": {"startTime": format!("2026-01-01T00:00:{second:02}Z")}});
    running(name, node, cpu, merged(priority(rank), &started))
}

fn nominated(world: &World, pod: &str) -> Value {
    let pod = world.json(Pod::KIND, "default", pod).unwrap();
    pod["status"]["nominatedNodeName"].clone()
}

/// Ideas from upstream's `plugins/defaultpreemption/default_preemption_test.go`,
/// TestPickBestCandidate: each case is decided by one more criterion.
#[test]
fn makes_room_where_it_does_least_harm() {
    let cases = [
        (
            "lowest highest priority",
            vec![("a", 5, 1), ("b", 4, 1)],
            "b",
        ),
        (
            "smallest sum",
            vec![("a", 5, 1), ("a", 4, 1), ("b", 5, 1), ("b", 3, 1)],
            "b",
        ),
        ("fewest", vec![("a", 0, 1), ("a", 0, 1), ("b", 0, 1)], "b"),
        ("latest start", vec![("a", 5, 1), ("b", 5, 2)], "b"),
        ("else the first", vec![("a", 5, 1), ("b", 5, 1)], "a"),
    ];
    for (what, there, expected) in cases {
        let mut objects = vec![node("a", json!({})), node("b", json!({}))];
        for (i, (on, rank, second)) in there.iter().enumerate() {
            let share = 4000 / there.iter().filter(|it| it.0 == *on).count();
            objects.push(low(
                &format!("v{i}"),
                on,
                &format!("{share}m"),
                *rank,
                *second,
            ));
        }
        objects.push(pod("p", "4", priority(10)));
        let mut world = world(objects);
        play(&mut world).unwrap();
        assert_eq!(nominated(&world, "p"), expected, "{what}");
    }
}

/// Ideas from upstream's TestDryRunPreemption.
#[test]
fn spares_whom_it_can_the_most_important_first() {
    let victims = |objects: Vec<Value>| {
        let mut played = play(&mut world(objects)).unwrap().deleted().join(" ");
        if played.is_empty() {
            played = "nobody".to_owned();
        }
        played
    };
    let with = |there: Vec<Value>, pod: Value| {
        let mut objects = vec![node("n", json!({}))];
        objects.extend(there);
        objects.push(pod);
        victims(objects)
    };
    let two = || vec![low("less", "n", "2", 1, 1), low("more", "n", "2", 2, 1)];
    assert_eq!(with(two(), pod("p", "2", priority(10))), "less");
    assert_eq!(with(two(), pod("p", "3", priority(10))), "more less");
    assert_eq!(with(two(), pod("p", "2", priority(2))), "less");
    assert_eq!(with(two(), pod("p", "2", priority(1))), "nobody");
    assert_eq!(with(two(), pod("p", "5", priority(10))), "nobody");
    let same = || vec![low("older", "n", "2", 1, 1), low("younger", "n", "2", 1, 2)];
    assert_eq!(with(same(), pod("p", "2", priority(10))), "younger");
    let never = merged(
        priority(10),
        &json!({"spec": {"preemptionPolicy": "Never"}}),
    );
    assert_eq!(with(two(), pod("p", "2", never)), "nobody");
}

#[test]
fn whoever_stands_in_the_way_of_other_rules_goes_too() {
    let host = "kubernetes.io/hostname";
    let term = json!({"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": host});
    let away = json!({"spec": {"affinity": {"podAntiAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}});
    let web = json!({"metadata": {"labels": {"app": "web"}}});
    let played = sync([
        node("n", json!({})),
        merged(low("web", "n", "1", 1, 1), &web),
        low("other", "n", "1", 0, 1),
        pod("p", "1", merged(priority(10), &away)),
    ]);
    assert_eq!(played.deleted(), ["web"]);
    let played = sync([
        node("n", json!({})),
        merged(low("shy", "n", "1", 1, 1), &away),
        low("other", "n", "1", 0, 1),
        pod("p", "1", merged(priority(10), &web)),
    ]);
    assert_eq!(played.deleted(), ["shy"]);
}

#[test]
fn says_why_making_room_does_not_help() {
    let played = sync([
        node("a", json!({})),
        node("b", json!({"spec": {"unschedulable": true}})),
        running("r", "a", "4", json!({})),
        pod("p", "1", json!({})),
    ]);
    let expected = "FailedScheduling p: 0/2 nodes are available: 1 Insufficient cpu, \
        1 node(s) were unschedulable. preemption: 0/2 nodes are available: \
        1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.";
    assert_eq!(played.told(), [expected]);
    let never = json!({"spec": {"preemptionPolicy": "Never"}});
    let played = sync([node("a", json!({})), pod("p", "5", never)]);
    let end = "preemption: not eligible due to preemptionPolicy=Never.";
    assert!(played.told()[0].ends_with(end), "{:?}", played.told());
}

#[test]
fn waits_for_those_who_go_and_then_takes_their_place() {
    let mut world = world([
        node("n", json!({})),
        low("v", "n", "4", 0, 1),
        pod("p", "4", priority(10)),
    ]);
    let first = play(&mut world).unwrap();
    assert_eq!(first.deleted(), ["v"]);
    let victim = world.json(Pod::KIND, "default", "v").unwrap();
    let target = victim["status"]["conditions"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    assert_eq!(target["reason"], "PreemptionByScheduler");
    assert_eq!(
        target["message"],
        "default-scheduler: preempting to accommodate a higher priority pod"
    );
    assert_eq!(
        first.told().last().unwrap(),
        "Preempted v: Preempted by pod pod-p on node n"
    );
    let second = play(&mut world).unwrap();
    assert!(second.deleted().is_empty() && second.bound().is_empty());
    let end = "preemption: not eligible due to a terminating pod on the nominated node.";
    assert!(second.told()[0].ends_with(end), "{:?}", second.told());
    assert_eq!(nominated(&world, "p"), "n");
    flyball_testkit::kubelet::finish_deletions(&mut world);
    assert_eq!(play(&mut world).unwrap().bound(), ["p → n"]);
}

#[test]
fn nobody_less_important_takes_the_room_that_was_made() {
    let waits = merged(priority(10), &json!({"status": {"nominatedNodeName": "n"}}));
    let going = json!({
        "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30},
        "status": {"conditions": [{"type": "DisruptionTarget", "status": "True",
            "reason": "PreemptionByScheduler"}]},
    });
    let objects = |rank: i32| {
        [
            node("n", json!({})),
            running("v", "n", "1", going.clone()),
            pod("nominee", "4", waits.clone()),
            pod("other", "3", priority(rank)),
        ]
    };
    assert_eq!(sync(objects(20)).bound(), ["other → n"]);
    assert!(sync(objects(5)).bound().is_empty());
    // What can never be is given up.
    let mut world = world([node("n", json!({})), pod("p", "9", waits)]);
    play(&mut world).unwrap();
    assert_eq!(nominated(&world, "p"), Value::Null);
}

#[test]
fn a_more_important_pod_takes_over_a_nomination() {
    let waits = merged(priority(5), &json!({"status": {"nominatedNodeName": "n"}}));
    let mut world = world([
        node("n", json!({})),
        low("v", "n", "4", 0, 1),
        pod("nominee", "4", waits),
        pod("p", "4", priority(10)),
    ]);
    play(&mut world).unwrap();
    assert_eq!(nominated(&world, "p"), "n");
    assert_eq!(nominated(&world, "nominee"), Value::Null);
}

#[test]
fn two_pods_do_not_have_the_same_room_made() {
    let mut world = world([
        node("a", json!({})),
        node("b", json!({})),
        low("v1", "a", "4", 0, 1),
        low("v2", "b", "4", 0, 1),
        pod("p1", "4", priority(10)),
        pod("p2", "4", priority(10)),
        pod("p3", "4", priority(10)),
    ]);
    let played = play(&mut world).unwrap();
    assert_eq!(played.deleted(), ["v1", "v2"]);
    let nodes: Vec<Value> = ["p1", "p2", "p3"].map(|it| nominated(&world, it)).into();
    assert_eq!(nodes, [json!("a"), json!("b"), Value::Null]);
}

#[test]
fn room_that_is_given_up_is_there_for_those_who_failed_before() {
    let nominee = json!({"spec": {"nodeSelector": {"disk": "ssd"}},
        "status": {"nominatedNodeName": "n"}});
    let mut world = world([
        node("n", json!({})),
        pod("a", "2", json!({})),
        pod("b", "3", nominee),
    ]);
    let first = play(&mut world).unwrap();
    assert!(first.bound().is_empty());
    assert_eq!(nominated(&world, "b"), Value::Null);
    let soon = Revisit::After(std::time::Duration::ZERO);
    assert_eq!(first.rest.revisit, soon);
    assert_eq!(play(&mut world).unwrap().bound(), ["a → n"]);
}

#[test]
fn of_two_pods_that_block_each_other_one_gives_way() {
    let nominee = json!({"status": {"nominatedNodeName": "n"}});
    let mut world = world([
        node("n", json!({})),
        pod("a", "3", nominee.clone()),
        pod("b", "3", nominee),
    ]);
    assert_eq!(play(&mut world).unwrap().bound(), ["b → n"]);
}
