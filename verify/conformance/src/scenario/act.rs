//! Carrying out a scenario's steps in a namespace.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::fill::fill;
use super::settle::{read, settle};
use super::{Scenario, Step, target};
use crate::cluster::Cluster;
use crate::history::{History, Moment, lives};
use crate::objects::{Objects, PatchKind, status_code};
use crate::state::{Names, State};

/// What a scenario left behind.
#[derive(Debug)]
pub struct Outcome {
    /// The normalised state at each checkpoint and at the end (`end`), in order, and last what a watcher saw on the
    /// way (`watched`).
    pub states: Vec<(String, State)>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs a scenario in a fresh namespace, with whatever manager is up.
///
/// # Errors
/// When a step is refused or a wait is in vain; the message names the step.
pub(crate) async fn run(
    cluster: &Cluster,
    history: &History,
    scenario: &Scenario,
    namespace: &str,
) -> Result<Outcome> {
    let started = Instant::now();
    let objects = cluster.objects();
    objects.create_namespace(namespace).await?;
    let mut run = Run {
        cluster,
        objects,
        namespace,
        loose_events: &scenario.loose_events,
        names: Names::default(),
        states: Vec::new(),
    };
    for (index, step) in scenario.steps.iter().enumerate() {
        let number = index + 1;
        run.carry_out(step)
            .await
            .with_context(|| format!("step {number}, {}", brief(step)))?;
    }
    run.checkpoint("end").await?;
    run.look_back(history).await?;
    Ok(Outcome {
        states: run.states,
        elapsed: started.elapsed(),
    })
}

struct Run<'a> {
    cluster: &'a Cluster,
    objects: Objects,
    namespace: &'a str,
    loose_events: &'a BTreeMap<String, String>,
    names: Names,
    states: Vec<(String, State)>,
}

impl Run<'_> {
    async fn carry_out(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Create(short) => {
                let mut object = fill(short)?;
                self.find_owners(&mut object).await?;
                self.names.expect(&object);
                self.objects.create(self.namespace, &object).await.map(drop)
            }
            Step::Refused { create, code } => {
                match self.objects.create(self.namespace, create).await {
                    Ok(_) => bail!("the server accepted it"),
                    Err(error) if status_code(&error) == Some(*code) => Ok(()),
                    Err(error) => Err(error),
                }
            }
            Step::Replace(short) => self
                .objects
                .replace(self.namespace, &fill(short)?)
                .await
                .map(drop),
            Step::Merge {
                target,
                patch,
                subresource,
            } => {
                let mut patch = patch.clone();
                self.find_owners(&mut patch).await?;
                self.merge(target, subresource, &patch).await
            }
            Step::Delete {
                target: text,
                propagation,
            } => {
                let (kind, namespace, name) = target(text, self.namespace)?;
                self.objects
                    .delete(kind, namespace, name, *propagation)
                    .await
            }
            Step::Scale { target, replicas } => {
                let patch = json!({ "spec": { "replicas": replicas } });
                self.merge(target, "scale", &patch).await
            }
            Step::Image {
                target: text,
                image,
            } => {
                let (kind, namespace, name) = target(text, self.namespace)?;
                let container = json!({ "name": "app", "image": image });
                let patch =
                    json!({ "spec": { "template": { "spec": { "containers": [container] } } } });
                let format = PatchKind::Strategic;
                self.objects
                    .patch(kind, namespace, name, "", format, &patch)
                    .await
                    .map(drop)
            }
            Step::Annotate {
                target,
                annotations,
            } => {
                let patch = json!({ "metadata": { "annotations": annotations } });
                self.merge(target, "", &patch).await
            }
            Step::Pods { selector, patches } => self.patch_pods(selector, patches).await,
            Step::Kubectl(arguments) => self.kubectl(arguments).await,
            Step::Wait(wait) => {
                wait.hold(&self.objects, self.namespace).await?;
                // Objects may be cleaned up later and live on only in events: learn their names now.
                self.names
                    .learn(&read(&self.objects, self.namespace).await?);
                Ok(())
            }
            Step::Checkpoint(name) => self.checkpoint(name).await,
        }
    }

    /// Gives every owner that is named without one the uid of the object it names, which lives in
    /// this namespace, or in the one that the owner says (and no server would understand).
    async fn find_owners(&self, object: &mut Value) -> Result<()> {
        let owners = object.pointer_mut("/metadata/ownerReferences");
        let owners = owners.and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten() {
            let namespace = owner.as_object_mut().and_then(|it| it.remove("namespace"));
            let namespace = namespace.as_ref().and_then(Value::as_str);
            let namespace = namespace.unwrap_or(self.namespace);
            if owner["uid"].is_null() {
                let text = |field: &str| owner[field].as_str().unwrap_or_default();
                let (kind, name) = (text("kind"), text("name"));
                let found = self.objects.get(kind, namespace, name).await?;
                let found = found.with_context(|| format!("there is no owner {kind}/{name}"))?;
                owner["uid"] = found["metadata"]["uid"].clone();
            }
        }
        Ok(())
    }

    async fn merge(&self, text: &str, subresource: &str, patch: &Value) -> Result<()> {
        let (kind, namespace, name) = target(text, self.namespace)?;
        let format = PatchKind::Merge;
        self.objects
            .patch(kind, namespace, name, subresource, format, patch)
            .await
            .map(drop)
    }

    async fn patch_pods(&self, selector: &str, patches: &[Value]) -> Result<()> {
        let mut pods = self.objects.list("Pod", self.namespace, selector).await?;
        pods.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        let mut names: Vec<&str> = pods
            .iter()
            .filter_map(|pod| pod["metadata"]["name"].as_str())
            .collect();
        names.sort_unstable();
        if names.len() < patches.len() {
            bail!(
                "{} patches for {} pods of {selector}",
                patches.len(),
                names.len()
            );
        }
        for (name, patch) in names.into_iter().zip(patches) {
            self.merge(&format!("Pod/{name}"), "", patch).await?;
        }
        Ok(())
    }

    async fn kubectl(&self, arguments: &[String]) -> Result<()> {
        let mut command = self.cluster.kubectl(self.namespace);
        command.args(arguments);
        let output = tokio::process::Command::from(command).output().await?;
        if !output.status.success() {
            bail!(
                "kubectl failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    async fn checkpoint(&mut self, name: &str) -> Result<()> {
        let all = settle(&self.objects, self.namespace).await?;
        self.names.learn(&all);
        let state = State::take(&all, &self.names, self.loose_events);
        self.states.push((name.to_owned(), state));
        Ok(())
    }

    /// Adds what a watcher saw of the whole.
    async fn look_back(&mut self, history: &History) -> Result<()> {
        let all = settle(&self.objects, self.namespace).await?;
        let moments = history.of(self.namespace, &all).await?;
        let seen = |moment: &Moment| (moment.kind, vec![moment.object.clone()]);
        self.names.learn(&moments.iter().map(seen).collect());
        let watched = lives(&moments, &self.names);
        self.states.push(("watched".to_owned(), watched));
        Ok(())
    }
}

/// The beginning of a step's content, which is enough to find it in its file.
fn brief(step: &Step) -> String {
    const LETTERS_MAX: usize = 100;
    let text = format!("{step:?}");
    match text.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
