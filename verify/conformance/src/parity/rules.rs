//! The rules of single fields: objects with one value spoilt, and what kube-apiserver says to each.
//!
//! Objects that use many fields are data (`parity/rules.yaml`). [`mutants`] spoils one value at a time, the recorder
//! asks a real server and writes what it says as cases, which the tests of `core/registry` hold against our rules.

mod file;
pub(crate) mod mutants;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use self::file::Case;
use self::mutants::{Mutant, mutants};
use super::kinds::Kind;
use super::request::Request;
use super::sides::Side;
use crate::cluster::{Cluster, ClusterOptions};

const TEXT: &str = include_str!("../../parity/rules.yaml");

/// Where the cases are kept.
pub const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../core/registry/src/tests/rules"
);

/// Objects of a kind that use many of its fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    /// `v1/pods`, `apps/v1/deployments`.
    pub(crate) resource: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) cluster: bool,
    /// The name of its objects; `a` if nothing is said.
    #[serde(default)]
    name: String,
    pub(crate) bodies: Vec<Value>,
    /// Values that the general ones would not find: a place and what to put there.
    #[serde(default)]
    also: Vec<Also>,
    /// Whether random requests leave it alone, because it changes what others get.
    #[serde(default)]
    pub(crate) apart: bool,
    /// Statuses to write, one after the other.
    #[serde(default)]
    statuses: Vec<Value>,
    /// How many of the bodies are also changed; all if nothing is said.
    #[serde(default)]
    changed: Option<usize>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Also {
    /// Which body; the first if nothing is said.
    #[serde(default)]
    body: usize,
    at: String,
    set: Vec<Value>,
}

impl Sample {
    /// All samples, in the order of the file.
    pub(crate) fn all() -> Result<Vec<Self>> {
        serde_saphyr::from_str(TEXT).context("parity/rules.yaml")
    }

    /// The sample as a kind that requests can be drawn of.
    pub(crate) fn as_kind(&self) -> Kind {
        Kind {
            resource: self.resource.clone(),
            kind: self.kind.clone(),
            cluster: self.cluster,
            nameless: false,
            tried_as: String::new(),
            weight: 1,
            bodies: self.bodies.clone(),
            changes: vec![json!({"metadata": {"labels": {"team": "a"}}})],
            parts: Vec::new(),
            fields: Vec::new(),
        }
    }

    fn name(&self) -> &str {
        if self.name.is_empty() {
            "a"
        } else {
            &self.name
        }
    }

    /// A body as a whole object.
    fn object(&self, body: &Value) -> Value {
        let mut object = body.clone();
        let kind = self.as_kind();
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = self.kind.as_str().into();
        object["metadata"]["name"] = self.name().into();
        object
    }

    fn also(&self, body: usize) -> Vec<Mutant> {
        let own = self.also.iter().filter(|also| also.body == body);
        let all = own.flat_map(|also| also.set.iter().map(|value| (also.at.clone(), value)));
        all.map(|(at, value)| Mutant {
            at,
            set: Some(value.clone()),
        })
        .collect()
    }
}

/// Asks a real server about all samples, or those whose resource contains a word, and writes the cases.
///
/// # Errors
/// When the server does not start, does not answer, or does not take a sample as it is.
pub async fn record_rules(only: &str, mut tell: impl FnMut(&str)) -> Result<()> {
    let cluster = Cluster::start(ClusterOptions {
        apiserver_flags: vec!["--service-cluster-ip-range=10.96.0.0/12".to_owned()],
        ..ClusterOptions::default()
    })
    .await?;
    let server = Side::of(cluster.admin().client().await?);
    let mut failed = 0;
    for sample in Sample::all()?
        .iter()
        .filter(|sample| sample.resource.contains(only))
    {
        let cases = match cases_of(&server, sample).await {
            Ok(cases) => cases,
            Err(error) => {
                tell(&format!("{}: {error:#}", sample.resource));
                failed += 1;
                continue;
            }
        };
        let refused = cases.iter().filter(|case| !case.says.is_empty()).count();
        tell(&format!(
            "{}: {} cases, {refused} of them refused",
            sample.resource,
            cases.len()
        ));
        let name = format!("{}.json", sample.resource.replace(['/', '.'], "_"));
        let bodies: Vec<Value> = sample
            .bodies
            .iter()
            .map(|body| sample.object(body))
            .collect();
        let kind = sample.as_kind();
        let text = file::text(&kind.path("default"), &bodies, &sample.statuses, &cases);
        let path = Path::new(FOLDER).join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if failed > 0 {
        bail!("{failed} kinds could not be recorded");
    }
    Ok(())
}

async fn cases_of(server: &Side, sample: &Sample) -> Result<Vec<Case>> {
    let kind = sample.as_kind();
    let path = kind.path("default");
    let own = format!("{path}/{}", sample.name());
    let mut cases = Vec::new();
    for (number, body) in sample.bodies.iter().enumerate() {
        let object = sample.object(body);
        let create = Request::new("POST", path.as_str());
        let mut wrong = mutants(&object, mutants::FOR_CREATE);
        wrong.extend(sample.also(number));
        let creates = ask_all(server, &create, &object, wrong).await?;
        cases.extend(creates.into_iter().map(|case| case.of("create", number)));
        if sample.changed.is_some_and(|changed| changed <= number) {
            continue;
        }
        let made = server.ask(&create.clone().with_json(&object)).await?;
        if made.code != 201 {
            bail!("body {number} is not taken: {}", made.shown());
        }
        let mut stored = made.document().clone();
        if let Some(meta) = stored["metadata"].as_object_mut() {
            meta.remove("managedFields");
        }
        let update = Request::new("PUT", own.as_str());
        let mut wrong = mutants(&stored, mutants::FOR_UPDATE);
        wrong.extend(sample.also(number));
        wrong.retain(|mutant| !mutant.at.starts_with("/status"));
        let updates = ask_all(server, &update, &stored, wrong).await?;
        let updates = updates.into_iter().map(|case| case.of("update", number));
        cases.extend(updates.map(|case| case.without_identities(&stored)));
        if number == 0 {
            for (at, status) in sample.statuses.iter().enumerate() {
                let update = Request::new("PUT", format!("{own}/status"));
                let mut object = stored.clone();
                object["status"] = status.clone();
                let mut wrong = mutants(&object, mutants::FOR_CREATE);
                wrong.retain(|mutant| mutant.at.starts_with("/status"));
                let updates = ask_all(server, &update, &object, wrong).await?;
                cases.extend(updates.into_iter().map(|case| case.of("status", at)));
            }
        }
        let free = json!({"metadata": {"finalizers": null}});
        let free = Request::new("PATCH", own.as_str())
            .with_body("application/merge-patch+json", free.to_string());
        let remove = Request::new("DELETE", own.as_str()).with("gracePeriodSeconds", "0");
        server.ask(&free).await?;
        server.ask(&remove).await?;
        server.ask(&free).await?;
    }
    Ok(cases)
}

/// What the server says to an object as it is and to each of its mutants, without keeping any.
async fn ask_all(
    server: &Side,
    request: &Request,
    object: &Value,
    wrong: Vec<Mutant>,
) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for mutant in wrong {
        let Some(spoilt) = mutant.applied(object) else {
            continue;
        };
        let request = request.clone().with("dryRun", "All").with_json(&spoilt);
        // Upstream breaks the connection where it meets what it did not think of.
        let Ok(answer) = server.ask(&request).await else {
            continue;
        };
        // What cannot be decoded, and what admission refuses, is compared elsewhere.
        if !answer.is_success() && answer.code != 422 {
            continue;
        }
        let causes = answer.document()["details"]["causes"].as_array().cloned();
        let says = causes.into_iter().flatten().map(|cause| {
            let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
            let message = text("message");
            // What follows is the difference of two of Go's structures.
            let message = message.lines().next().unwrap_or_default();
            format!("{}: {message}", text("field"))
        });
        cases.push(Case {
            verb: "",
            body: 0,
            mutant,
            says: says.collect(),
        });
    }
    Ok(cases)
}
