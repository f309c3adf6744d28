//! Whole lives, from bound to gone.

use std::time::Duration;

use flyball_api::ObjectName;
use flyball_plan::{Target, Write};
use flyball_testkit::Runner;

use super::*;
use crate::annotations::{BEHAVIOUR, LOST, READY_DELAY_MS, START_DELAY_MS, TERMINATION};
use crate::views::Phase;

/// A world and the controller in it.
struct Play {
    world: World,
    runner: Runner<PodController>,
}

impl Play {
    fn of(objects: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        let mut world = world(objects);
        world.put(node("node-0", true));
        let runner = Runner::new(subject(), &world);
        Self { world, runner }
    }

    /// Does what is due now; says how many writes that took.
    fn run(&mut self) -> usize {
        let (syncs, _) = self.runner.run(&mut self.world, &mut |_| Ok(())).unwrap();
        let writes = syncs.iter().flat_map(|sync| sync.actions());
        writes.filter(|action| action.is_write()).count()
    }

    /// Lets so many seconds pass, one by one; says how many writes that took.
    fn pass(&mut self, seconds: u64) -> usize {
        let second = |_| {
            self.world.advance(Duration::from_secs(1));
            self.run()
        };
        (0..seconds).map(second).sum()
    }

    fn pod(&self, name: &str) -> Pod {
        self.world.get("default", name).unwrap()
    }

    /// Phase, whether it is ready, and how often its first container was started again.
    fn state(&self, name: &str) -> (Phase, bool, i32) {
        let pod = self.pod(name);
        let ready = pod.status.conditions.iter().find(|it| it.kind == "Ready");
        let ready = ready.is_some_and(|it| it.status == flyball_api::ConditionStatus::True);
        let restarts = pod
            .status
            .container_statuses
            .first()
            .map_or(0, |it| it.restart_count);
        (pod.status.phase, ready, restarts)
    }

    fn delete(&mut self, name: &str) {
        let pod = self.pod(name);
        let delete = Write::delete_if(pod.target(), pod.incarnation());
        self.world.apply(&delete.into());
    }

    fn annotate(&mut self, kind: flyball_api::Kind, name: ObjectName, key: &str, value: &str) {
        self.world.edit(&Target { kind, name }, |object| {
            object["metadata"]["annotations"][key] = value.into();
        });
    }
}

#[test]
fn three_pods_live_a_server_a_job_and_a_crash_loop() {
    let server = bound("server", "node-0");
    let job = bound("job", "node-0").with(json!({"spec": {"restartPolicy": "Never"}}));
    let crash = bound("crash", "node-0").annotation(BEHAVIOUR, "crash-loop");
    let mut play = Play::of([server, job, crash]);

    // One write each from bound to running.
    assert_eq!(play.run(), 3);
    assert_eq!(play.state("server"), (Phase::Running, true, 0));
    assert_eq!(play.state("job"), (Phase::Running, true, 0));
    assert_eq!(
        play.state("crash"),
        (Phase::Running, false, 1),
        "the first restart is at once"
    );
    let ips: std::collections::HashSet<_> = ["server", "job", "crash"]
        .map(|name| play.pod(name).status.pod_ip)
        .into_iter()
        .collect();
    assert_eq!(ips.len(), 3);

    // The job ends; the crash loop waits for ten seconds.
    assert_eq!(play.pass(9), 1);
    assert_eq!(play.state("job"), (Phase::Succeeded, false, 0));
    assert_eq!(play.state("crash").2, 1);
    assert_eq!(play.pass(2), 1);
    assert_eq!(play.state("crash").2, 2);
    // Then for 20, 40, 80, 160 and, as from now on, 300 seconds.
    assert_eq!(play.pass(20 + 40 + 80 + 160 + 300 + 5), 5);
    assert_eq!(play.state("crash"), (Phase::Running, false, 7));

    // All are told to go, and go with one write each; the server takes one that has ended itself.
    for name in ["server", "job", "crash"] {
        play.delete(name);
    }
    assert_eq!(play.run(), 2);
    assert_eq!(play.world.list::<Pod>("").len(), 0);
    assert_eq!(play.pass(60), 0);
}

#[test]
fn delays_are_shown_step_by_step() {
    let slow = bound("slow", "node-0")
        .annotation(START_DELAY_MS, "3000")
        .annotation(READY_DELAY_MS, "2000")
        .annotation(TERMINATION, "5000");
    let mut play = Play::of([slow]);
    assert_eq!(play.run(), 1);
    assert_eq!(play.state("slow"), (Phase::Pending, false, 0));
    assert_eq!(play.pod("slow").status.pod_ip, "", "it has no sandbox yet");
    assert_eq!((play.pass(3), play.pass(1)), (0, 1));
    assert_eq!(play.state("slow"), (Phase::Running, false, 0));
    assert_eq!((play.pass(2), play.pass(1)), (0, 1));
    assert_eq!(play.state("slow"), (Phase::Running, true, 0));
    play.delete("slow");
    assert_eq!((play.pass(5), play.pass(1)), (0, 1));
    assert_eq!(play.world.list::<Pod>("").len(), 0);
}

#[test]
fn a_living_pod_follows_its_annotation() {
    let mut play = Play::of([bound("a", "node-0")]);
    let name = || ObjectName::new("default", "a");
    play.run();
    // (word, phase, ready)
    let changes = [
        ("never-ready", Phase::Running, false),
        ("ready", Phase::Running, true),
        ("dance", Phase::Running, true),
        ("fail", Phase::Failed, false),
        ("ready", Phase::Failed, false),
    ];
    for (word, phase, ready) in changes {
        play.annotate(Pod::KIND, name(), BEHAVIOUR, word);
        play.run();
        assert_eq!(play.state("a"), (phase, ready, 0), "{word}");
    }
}

#[test]
fn a_pull_error_ends_when_its_annotation_goes() {
    let mut play = Play::of([bound("a", "node-0").annotation(BEHAVIOUR, "image-pull-error")]);
    let waits_for = |play: &Play| match &play.pod("a").status.container_statuses[0].state {
        crate::views::ContainerState::Waiting { reason } => reason.to_string(),
        other => format!("{other:?}"),
    };
    play.run();
    assert_eq!(waits_for(&play), "ErrImagePull");
    assert_eq!(play.pass(11), 1);
    assert_eq!(waits_for(&play), "ImagePullBackOff");
    assert_eq!(play.pass(600), 0);
    assert_eq!(play.state("a"), (Phase::Pending, false, 0));
    play.annotate(
        Pod::KIND,
        ObjectName::new("default", "a"),
        BEHAVIOUR,
        "ready",
    );
    assert_eq!(play.run(), 1);
    assert_eq!(play.state("a"), (Phase::Running, true, 0));
}

#[test]
fn pods_of_a_lost_node_are_frozen_until_it_is_back() {
    let mut play = Play::of([bound("a", "node-0")]);
    play.run();
    let name = || ObjectName::new("", "node-0");
    play.annotate(Node::KIND, name(), LOST, "true");
    play.world.put(bound("b", "node-0"));
    play.delete("a");
    assert_eq!(play.pass(60), 0);
    assert_eq!(play.world.list::<Pod>("").len(), 2);
    play.annotate(Node::KIND, name(), LOST, "false");
    assert_eq!(play.run(), 2);
    assert_eq!(play.world.list::<Pod>("").len(), 1);
    assert_eq!(play.state("b"), (Phase::Running, true, 0));
}

#[test]
fn life_may_be_another_table() {
    use crate::{Delay, Next, Point, Stage, When};
    let stage = |at, next| Stage {
        at,
        when: When::Always,
        delay: Delay::None,
        next,
    };
    let accepted = stage(Point::Bound, Next::Accept);
    let circle = [
        stage(Point::Creating, Next::Start),
        stage(Point::Started, Next::BecomeReady),
        stage(Point::Ready, Next::BecomeUnready),
    ];
    // Pods that wait for ever, and pods that go round in circles, which ends for now at a bound.
    for (table, phase) in [(vec![], Phase::Pending), (circle.to_vec(), Phase::Running)] {
        let life: Vec<Stage> = [accepted].into_iter().chain(table).collect();
        let mut world = world([bound("a", "node-0")]);
        world.put(node("node-0", true));
        let controller = PodController::with_life(Arc::new(Settings::default()), life.into());
        let mut runner = Runner::new(controller, &world);
        let (syncs, _) = runner.run(&mut world, &mut |_| Ok(())).unwrap();
        let writes: usize = syncs.iter().map(|sync| sync.actions().count()).sum();
        assert_eq!(writes, 1);
        assert_eq!(
            world.get::<Pod>("default", "a").unwrap().status.phase,
            phase
        );
    }
}

#[test]
fn a_thousand_pods_take_a_thousand_writes_and_a_thousand_addresses() {
    let pods = (0..1_000).map(|i| bound(&format!("p-{i}"), "node-0"));
    let mut world = world(pods);
    world.put(node("node-0", true));
    let settings = Settings {
        capacity: crate::Capacity {
            pods: 1_000,
            ..crate::Capacity::default()
        },
        ..Settings::default()
    };
    let mut runner = Runner::new(PodController::new(Arc::new(settings)), &world);
    let (syncs, _) = runner.run(&mut world, &mut |_| Ok(())).unwrap();
    let writes: usize = syncs.iter().map(|sync| sync.actions().count()).sum();
    assert_eq!(writes, 1_000);
    let ips: std::collections::HashSet<_> = world
        .list::<Pod>("")
        .into_iter()
        .map(|pod| pod.status.pod_ip)
        .collect();
    assert_eq!(ips.len(), 1_000);
}
