//! Whole stories, from a user's edit to rest.

use std::collections::BTreeMap;

use flyball_api::views::{Deployment, ReplicaSet};
use flyball_plan::Target;
use flyball_testkit::builders::{self, Build};
use flyball_testkit::{Runner, Sync, World};
use serde_json::{Value, json};

use super::super::DeploymentController;
use super::super::annotations::{REVISION, REVISION_HISTORY, ROLLBACK_TO};
use super::worlds::{BROKEN, play_replica_sets};

/// The Deployment `web` and whoever is needed to bring it to rest.
struct Story {
    world: World,
    web: Target,
    runner: Runner<DeploymentController>,
}

impl Story {
    /// Begins with `web:1` rolled out.
    fn begin(replicas: i32, spec: Value) -> Self {
        let mut world = World::default();
        let web = builders::deployment("web").replicas(replicas);
        let web = world.put(web.with(json!({"spec": spec})));
        let runner = Runner::new(DeploymentController::default(), &world);
        let mut story = Self { world, web, runner };
        story.settle();
        story
    }

    fn edit(&mut self, change: Value) -> Vec<Sync> {
        self.world.edit(&self.web, |web| {
            *web = Build::from(web.take()).with(change).json();
        });
        self.settle()
    }

    fn edit_image(&mut self, image: &str) -> Vec<Sync> {
        let containers = json!([{"name": "web", "image": image}]);
        self.edit(json!({"spec": {"template": {"spec": {"containers": containers}}}}))
    }

    fn settle(&mut self) -> Vec<Sync> {
        let (runner, world) = (&mut self.runner, &mut self.world);
        runner
            .converge(world, play_replica_sets, &mut |_| Ok(()))
            .unwrap()
    }

    fn web(&self) -> Deployment {
        self.world.get("default", "web").unwrap()
    }

    /// Sizes by image, without those of size 0.
    fn sizes(&self) -> BTreeMap<String, i32> {
        let sets = self.world.list::<ReplicaSet>("");
        let sizes = sets.iter().map(|set| {
            let template: Value = serde_json::from_str(set.spec.template.json()).unwrap();
            let image = template["spec"]["containers"][0]["image"].as_str().unwrap();
            (image.to_owned(), set.spec.replicas.unwrap())
        });
        sizes.filter(|(_, size)| *size > 0).collect()
    }

    fn said(&self, kind: &str) -> String {
        let web = self.web();
        let said = web.status.conditions.iter().find(|said| said.kind == kind);
        said.map(|said| said.reason.to_string()).unwrap_or_default()
    }
}

fn sizes<const N: usize>(sizes: [(&str, i32); N]) -> BTreeMap<String, i32> {
    sizes.map(|(image, size)| (image.to_owned(), size)).into()
}

fn bounds(surge: i32, unavailable: i32) -> Value {
    json!({"strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}})
}

#[test]
fn a_fresh_deployment_costs_one_creation_and_one_status_for_each_change() {
    let mut world = World::of([builders::deployment("web").replicas(2)]);
    let mut runner = Runner::new(DeploymentController::default(), &world);
    let syncs = runner.converge(&mut world, play_replica_sets, &mut |_| Ok(()));
    let syncs = syncs.unwrap();
    let writes = syncs.iter().flat_map(Sync::actions);
    let writes: Vec<&str> = writes
        .filter(|it| it.is_write())
        .map(|it| it.verb())
        .collect();
    // With the ReplicaSet, with its pods, when they are ready and when they are available.
    assert_eq!(writes, ["create", "update", "update", "update", "update"]);
}

#[test]
fn a_broken_image_leaves_the_old_pods_in_place_and_times_out() {
    let mut story = Story::begin(10, json!({}));
    story.edit_image(BROKEN);
    assert_eq!(story.sizes(), sizes([("web:1", 8), (BROKEN, 5)]));
    assert_eq!(story.web().status.available_replicas, 8);
    assert_eq!(story.said("Progressing"), "ProgressDeadlineExceeded");

    // Going back to what worked undoes it without restarting what runs.
    story.edit_image("web:1");
    assert_eq!(story.sizes(), sizes([("web:1", 10)]));
    assert_eq!(story.said("Progressing"), "NewReplicaSetAvailable");
    let sets = story.world.list::<ReplicaSet>("");
    let new = sets.iter().find(|set| set.spec.replicas == Some(10));
    let annotations = &new.unwrap().metadata.annotations;
    assert_eq!(annotations.get(REVISION), Some("3"));
    assert_eq!(annotations.get(REVISION_HISTORY), Some("1"));
    assert_eq!(story.web().metadata.annotations.get(REVISION), Some("3"));
}

#[test]
fn a_recreation_goes_down_before_it_comes_up() {
    let mut story = Story::begin(
        4,
        json!({"strategy": {"$patch": "replace", "type": "Recreate"}}),
    );
    story.edit_image("web:2");
    assert_eq!(story.sizes(), sizes([("web:2", 4)]));
    let scaled = story.world.records().iter().map(|record| &record.message);
    let scaled: Vec<&str> = scaled.map(|said| &said[said.len() - 11..]).collect();
    assert_eq!(scaled, ["from 0 to 4", "from 4 to 0", "from 0 to 4"]);
}

#[test]
fn scaling_in_the_middle_of_a_roll_out_is_spread() {
    let mut story = Story::begin(10, bounds(3, 2));
    story.edit_image(BROKEN);
    assert_eq!(story.sizes(), sizes([("web:1", 8), (BROKEN, 5)]));
    story.edit(json!({"spec": {"replicas": 15}}));
    assert_eq!(story.sizes(), sizes([("web:1", 11), (BROKEN, 7)]));
}

#[test]
fn pause_edit_resume_rolls_out_only_after_the_resumption() {
    let mut story = Story::begin(3, json!({}));
    story.edit(json!({"spec": {"paused": true}}));
    story.edit_image("web:2");
    assert_eq!(story.sizes(), sizes([("web:1", 3)]));
    assert_eq!(story.said("Progressing"), "DeploymentPaused");
    story.edit(json!({"spec": {"paused": null}}));
    assert_eq!(story.sizes(), sizes([("web:2", 3)]));
    assert_eq!(story.said("Progressing"), "NewReplicaSetAvailable");
}

#[test]
fn a_rollback_by_annotation_runs_to_its_end() {
    let mut story = Story::begin(3, json!({}));
    let first = story.web().spec.template;
    story.edit_image("web:2");
    story.edit(json!({"metadata": {"annotations": {ROLLBACK_TO: "0"}}}));
    assert_eq!(story.sizes(), sizes([("web:1", 3)]));
    let web = story.web();
    assert_eq!(web.spec.template.json(), first.json());
    assert_eq!(web.metadata.annotations.get(ROLLBACK_TO), None);
    assert_eq!(web.metadata.annotations.get(REVISION), Some("3"));
}
