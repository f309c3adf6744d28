//! What the controller promises, judged write by write: in roll-outs that users interrupt, with
//! caches that lag behind, and after others laid hands on its ReplicaSets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::{Deployment, Pod, ReplicaSet};
use flyball_api::{Kind, LabelSelector};
use flyball_plan::{Action, Answer, Subresource, Target, Verb};
use flyball_testkit::laws::{Upset, upsets};
use flyball_testkit::{Moment, Runner, World, builders};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::DeploymentController;
use super::super::annotations::ROLLBACK_TO;
use super::super::limits::{Limits, Strategy as Way};
use super::super::observe::same_template;
use super::worlds::{BROKEN, play_replica_sets, strategies, worlds};

/// More syncs than one view of the world needs.
const SYNCS_MAX: usize = 50;

/// What a user does to the Deployment, or fate to its pods.
#[derive(Clone, Debug)]
enum Deed {
    Image(u8),
    Scale(i32),
    Pause(bool),
    Strategy(Value),
    RollBack(i64),
    Sicken(u8),
    Wait,
}

fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Deed::Image),
        2 => (0..9_i32).prop_map(Deed::Scale),
        1 => any::<bool>().prop_map(Deed::Pause),
        1 => strategies().prop_map(Deed::Strategy),
        1 => (0..4_i64).prop_map(Deed::RollBack),
        1 => (0..4_u8).prop_map(Deed::Sicken),
        6 => Just(Deed::Wait),
    ]
}

impl Deed {
    fn happen(&self, world: &mut World) {
        let web = Target {
            kind: Deployment::KIND,
            name: super::super::ObjectName::new("default", "web"),
        };
        let mut edit = |change: Value| {
            world.edit(&web, |web| {
                *web = builders::Build::from(web.take()).with(change).json();
            });
        };
        match self {
            Self::Image(number) => {
                let image = match number {
                    3 => BROKEN.to_owned(),
                    number => format!("web:{number}"),
                };
                let containers = json!([{"name": "web", "image": image}]);
                edit(json!({"spec": {"template": {"spec": {"containers": containers}}}}));
            }
            Self::Scale(replicas) => edit(json!({"spec": {"replicas": replicas}})),
            Self::Pause(paused) => edit(json!({"spec": {"paused": paused}})),
            Self::Strategy(strategy) => edit(json!({"spec": {"strategy": strategy}})),
            Self::RollBack(revision) => {
                let annotations = json!({ROLLBACK_TO: revision.to_string()});
                edit(json!({"metadata": {"annotations": annotations}}));
            }
            Self::Sicken(which) => {
                let sets = world.list::<ReplicaSet>("");
                if let Some(set) = sets.get(usize::from(*which)) {
                    world.edit(&Target::of(ReplicaSet::KIND, &set.metadata), |set| {
                        let up = set["status"]["availableReplicas"].as_i64().unwrap_or(0);
                        set["status"]["availableReplicas"] = (up - 1).max(0).into();
                    });
                }
            }
            Self::Wait => {}
        }
    }
}

proptest! {
    #![proptest_config(flyball_testkit::laws::config())]

    #[test]
    fn roll_outs_keep_within_their_limits_whatever_users_do(
        (replicas, strategy) in (0..9_i32, strategies()),
        script in proptest::collection::vec((deeds(), any::<u8>()), 1..24),
    ) {
        interrupted(replicas, &strategy, &script).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn only_what_is_its_own_is_written_whatever_others_did(
        world in worlds(),
        upsets in upsets(),
        lags in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        foreign_hands(world, &upsets, &lags).map_err(TestCaseError::fail)?;
    }
}

fn interrupted(replicas: i32, strategy: &Value, script: &[(Deed, u8)]) -> Result<(), String> {
    let web = builders::deployment("web").replicas(replicas);
    let web = web.with(json!({"spec": {"strategy": strategy, "revisionHistoryLimit": 1}}));
    let mut world = World::of([web]);
    let mut runner = Runner::new(DeploymentController::default(), &world);
    for (deed, lag) in script {
        deed.happen(&mut world);
        // What nobody could foresee must be seen, or no promise could be kept.
        let lag = if matches!(deed, Deed::Sicken(_)) {
            0xff
        } else {
            *lag
        };
        look(&mut runner, &world, lag);
        run(&mut runner, &mut world, Judge::of_limits)?;
        // Now and then ReplicaSets take their time.
        if lag & 0xc0 != 0 {
            play_replica_sets(&mut world);
        }
        world.advance(Duration::from_secs(2));
    }
    Ok(())
}

fn foreign_hands(mut world: World, upsets: &[Upset], lags: &[u8]) -> Result<(), String> {
    let known = world.revision();
    for upset in upsets {
        upset.happen(&mut world);
    }
    let mut runner = Runner::behind(DeploymentController::default(), &world, known);
    for lag in [0].iter().chain(lags) {
        look(&mut runner, &world, *lag);
        run(&mut runner, &mut world, Judge::of_hands)?;
        play_replica_sets(&mut world);
        world.advance(Duration::from_secs(2));
    }
    Ok(())
}

/// Lets each cache learn a part of what it has missed: two bits of the lag for each kind.
fn look(runner: &mut Runner<DeploymentController>, world: &World, lag: u8) {
    for (at, kind) in [Deployment::KIND, ReplicaSet::KIND, Pod::KIND]
        .into_iter()
        .enumerate()
    {
        let seen = runner.caches().seen(kind);
        let part = u64::from(lag >> (2 * at) & 3);
        let missed = world.revision() - seen;
        let upto = seen + missed * part / 3;
        runner.see(world, |caches| caches.catch_up_kind(world, kind, upto));
    }
}

/// Runs everything that is due on the caches as they are, each sync before a judge.
fn run(
    runner: &mut Runner<DeploymentController>,
    world: &mut World,
    verdict: fn(&mut Judge, &Scene<'_>) -> Result<(), String>,
) -> Result<(), String> {
    for _ in 0..SYNCS_MAX {
        let snapshot = runner.caches().snapshot();
        let mut judge = Judge {
            seen: snapshot.get::<Deployment>("default", "web").cloned(),
            ..Judge::default()
        };
        let mut witness = |moment: Moment<'_>| judge.watch(moment, verdict);
        if runner.sync(world, &mut witness)?.is_err() {
            return Ok(());
        }
    }
    Err(format!("no rest after {SYNCS_MAX} syncs"))
}

/// Watches one sync.
#[derive(Default)]
struct Judge {
    /// The Deployment as the sync saw it.
    seen: Option<Arc<Deployment>>,
    stage: &'static str,
    /// The world before the action at hand.
    before: Option<World>,
    /// How often each object was written.
    writes: BTreeMap<(Kind, String), usize>,
    /// What the last write did to the size of a ReplicaSet.
    scaled: Option<String>,
}

/// One write that took effect.
struct Scene<'a> {
    deployment: &'a Deployment,
    stage: &'static str,
    action: &'a Action,
    before: &'a World,
    after: &'a World,
}

impl Judge {
    fn watch(
        &mut self,
        moment: Moment<'_>,
        verdict: fn(&mut Judge, &Scene<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        match moment {
            Moment::Stage { actions, .. } => self.stage = actions.stage,
            Moment::Before { key, world, .. } => {
                self.before = (key == "default/web").then(|| world.clone());
            }
            Moment::After {
                action,
                answer: Answer::Done(_),
                world,
                ..
            } => {
                let (Some(seen), Some(before)) = (self.seen.clone(), self.before.take()) else {
                    return Ok(());
                };
                let scene = Scene {
                    deployment: &seen,
                    stage: self.stage,
                    action,
                    before: &before,
                    after: world,
                };
                return verdict(self, &scene)
                    .map_err(|why| format!("{why}\nby {action:?}\nin {before:?}"));
            }
            Moment::After { .. } => {}
        }
        Ok(())
    }

    /// Sizes, availability, history, frugality and honesty.
    fn of_limits(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        match scene.action {
            Action::Record(record) => {
                let said = record.message.strip_prefix("Scaled ").unwrap_or_default();
                let told = said.split_once("replica set ").map(|(_, what)| what);
                match told {
                    Some(told) if self.scaled.as_deref() != Some(told) => {
                        Err(format!("tells what did not happen: {}", record.message))
                    }
                    _ => Ok(()),
                }
            }
            Action::Write(write) => match write.verb {
                Verb::Create | Verb::StrategicPatch if write.subresource == Subresource::NONE => {
                    self.scaled = scene.scaled();
                    self.once(scene)?;
                    scene.total()?;
                    scene.availability()?;
                    scene.recreation()
                }
                Verb::Update => self.once(scene),
                Verb::Delete { .. } => scene.history(),
                _ => Err(format!("does what no Deployment asks for: {write:?}")),
            },
            Action::Read(_) => Ok(()),
        }
    }

    /// One write to each object; one more if a resumption is told.
    fn once(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        if scene.stage == "resume" {
            return Ok(());
        }
        let Some(target) = scene.target() else {
            return Ok(());
        };
        let id = (target.kind, target.name.to_string());
        let times = self.writes.entry(id).or_default();
        *times += 1;
        match times {
            1 => Ok(()),
            _ => Err(format!("{times} writes to {} in one sync", target.name)),
        }
    }

    /// Whatever is written is the Deployment itself, its own, or an orphan that it selects.
    fn of_hands(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let Some(target) = scene.target().filter(|it| it.kind == ReplicaSet::KIND) else {
            return Ok(());
        };
        let set = scene.before.get::<ReplicaSet>("default", &target.name.name);
        let Some(set) = set else {
            return Err("writes to what is not there".to_owned());
        };
        let selector = LabelSelector::compile_optional(scene.deployment.spec.selector.as_ref());
        let matches = selector
            .is_ok_and(|selector| selector.matches_with(|label| set.metadata.labels.get(label)));
        match set.metadata.controller() {
            Some(owner) if owner.uid != scene.deployment.metadata.uid => {
                Err("writes to what another controls".to_owned())
            }
            None if !matches => Err("takes what it does not select".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Scene<'_> {
    fn target(&self) -> Option<&Target> {
        let write = self.action.write()?;
        let is_to_one = !write.is_create() && !write.is_of_collection();
        is_to_one.then_some(&write.target)
    }

    fn own(&self, world: &World) -> Vec<ReplicaSet> {
        let mut sets = world.list::<ReplicaSet>("default");
        sets.retain(|set| set.metadata.is_controlled_by(&self.deployment.metadata.uid));
        sets
    }

    fn is_old(&self, set: &ReplicaSet) -> bool {
        !same_template(self.deployment, set).unwrap_or(false)
    }

    /// What a record of this write must say: which ReplicaSet, from what size to what size.
    fn scaled(&self) -> Option<String> {
        let sizes = |world: &World| -> BTreeMap<String, i32> {
            let sets = self.own(world).into_iter();
            sets.map(|set| (set.metadata.name.to_string(), size(&set)))
                .collect()
        };
        let (before, after) = (sizes(self.before), sizes(self.after));
        after.into_iter().find_map(|(name, to)| {
            let from = before.get(&name).copied().unwrap_or(0);
            (from != to).then(|| format!("{name} from {from} to {to}"))
        })
    }

    /// How many pods all ReplicaSets are to have together.
    fn size(&self, world: &World) -> i32 {
        self.own(world).iter().map(size).sum()
    }

    /// All ReplicaSets together never grow beyond replicas and surge.
    fn total(&self) -> Result<(), String> {
        let (before, after) = (self.size(self.before), self.size(self.after));
        let most = Limits::of(self.deployment).most();
        if after > before.max(most) {
            return Err(format!("asks for {after} pods where {most} are allowed"));
        }
        Ok(())
    }

    /// No roll-out takes available pods below the promise. (A scaling changes the promise, and a
    /// recreation promises nothing.)
    fn availability(&self) -> Result<(), String> {
        if self.stage == "sizes" || Way::of(self.deployment) != Way::RollingUpdate {
            return Ok(());
        }
        let stay = |world: &World| -> i32 {
            let stays = |set: &ReplicaSet| set.status.available_replicas.min(size(set));
            self.own(world).iter().map(stays).sum()
        };
        let (before, after) = (stay(self.before), stay(self.after));
        let least = Limits::of(self.deployment).least();
        if after < before.min(least) {
            return Err(format!(
                "leaves {after} available where {least} are promised"
            ));
        }
        Ok(())
    }

    /// A recreation starts nothing while old pods are there or are to be.
    fn recreation(&self) -> Result<(), String> {
        let grows = self.stage != "sizes" && self.size(self.after) > self.size(self.before);
        if !grows || Way::of(self.deployment) != Way::Recreate {
            return Ok(());
        }
        let old = |set: &&ReplicaSet| self.is_old(set);
        let remain = |set: &ReplicaSet| size(set) > 0 || set.status.replicas > 0;
        match self
            .own(self.before)
            .iter()
            .filter(old)
            .find(|set| remain(set))
        {
            Some(set) => Err(format!("{} still has pods", set.metadata.name)),
            None => Ok(()),
        }
    }

    /// Only what is old, empty and beyond the limit is deleted.
    fn history(&self) -> Result<(), String> {
        let name = self.target().map(|target| target.name.name.clone());
        let own = self.own(self.before);
        let Some(gone) = own
            .iter()
            .find(|set| Some(&set.metadata.name) == name.as_ref())
        else {
            return Err("deletes what is not its own".to_owned());
        };
        let left = own.iter().filter(|set| self.is_old(set)).count() as i64 - 1;
        let limit = self
            .deployment
            .spec
            .revision_history_limit
            .unwrap_or(i32::MAX);
        let in_use = size(gone) > 0 || gone.status.replicas > 0 || !self.is_old(gone);
        if in_use || left < i64::from(limit) {
            return Err(format!("deletes what is to be kept; {left} are left"));
        }
        Ok(())
    }
}

fn size(set: &ReplicaSet) -> i32 {
    set.spec.replicas.unwrap_or(1)
}
