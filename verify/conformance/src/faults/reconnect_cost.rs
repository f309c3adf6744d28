//! The API server restarts with the same data: what the manager asks for to be up to date again.
//!
//! A watch that goes on where the last one ended costs the server little. A list of everything, once per kind and
//! manager, is what a server has least use for in its first seconds. Upstream's server remembers no version from before
//! its start, so a kind that has been idle has to be listed. The harness asks the server itself, with the version that
//! the manager had: only a kind whose watch could have gone on was listed without need. Few may be: a kind that has
//! changed since the last renewal of the Lease, such as Leases themselves, is listed because nothing proves its history.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::census::Census;
use super::scene::{DEFAULT_CONTROLLERS, Scene};
use super::workload::{deployment, plain_template, scale};
use crate::objects::Objects;
use crate::poll::until;
use crate::requests::{Mark, Request, Requests};

const NAMESPACE: &str = "reconnect";
const PATIENCE: Duration = Duration::from_secs(120);
/// Without a new list or watch for so long, the manager has all its watches again.
const QUIET: Duration = Duration::from_secs(10);
const KINDS_MIN: usize = 10;
/// How many kinds may have changed between the last renewal and the end.
const UNPROVEN_MAX: usize = 2;
const USER: &str = "reconnect:manager";

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let mut figures = Vec::new();
    for _ in 0..scene.options.rounds.unwrap_or(1) {
        figures.push(once(scene).await?);
    }
    Ok(figures.join("; "))
}

async fn once(scene: &Scene) -> Result<String> {
    let mut cluster = scene.cluster().await?;
    let objects = cluster.objects();
    objects.create_namespace(NAMESPACE).await?;
    let identity = cluster.create_identity(USER).await?;
    let root_ca = format!(
        "--root-ca-file={}",
        cluster.authority_certificate().display()
    );
    let flags = ["--leader-elect=true", &root_ca];
    let mut manager = scene
        .manager_of(DEFAULT_CONTROLLERS, &cluster, &identity, &flags)
        .await?;
    let audit = cluster.audit()?;
    {
        let census = Census::start(&cluster, NAMESPACE).await?;
        let web = deployment("web", 2, &plain_template());
        objects.create(NAMESPACE, &web).await?;
        let settled = census.until(2, PATIENCE).await;
        settled.with_context(|| manager.log_tail(10))?;
    }
    quiet(&audit).await?;
    let cached = reads(&audit.since(Mark::default())?);
    if cached.len() < KINDS_MIN {
        bail!("only {} kinds are cached", cached.len());
    }

    cluster.kill_apiserver().await?;
    let mark = audit.mark()?;
    cluster.start_apiserver().await?;
    let census = Census::start(&cluster, NAMESPACE).await?;
    scale(&objects, NAMESPACE, "web", 4).await?;
    let reached = census.until(4, PATIENCE).await;
    if let Some(status) = manager.exited()? {
        bail!("the manager exited: {status}");
    }
    reached.with_context(|| manager.log_tail(10))?;
    quiet(&audit).await?;

    let again = reads(&audit.since(mark)?);
    let of_cached = again.iter().filter(|(path, _)| cached.contains_key(*path));
    let (mut requests, mut relists, mut needless, mut dear) = (0, 0, Vec::new(), Vec::new());
    for (path, reads) in of_cached {
        let served = reads.iter().filter(|one| one.code < 400).count();
        requests += served;
        if let Some(list) = reads
            .iter()
            .position(|one| one.code < 400 && reads_everything(one))
        {
            relists += 1;
            let had = reads[..=list].iter().filter_map(version).max();
            if !is_expired(&objects, path, had).await? {
                needless.push(path.as_str());
            }
        }
        if served > 2 {
            dear.push(format!("{path} {served}"));
        }
    }
    let refused = again
        .values()
        .flatten()
        .filter(|one| one.code >= 400)
        .count();
    let figures = format!(
        "{} kinds cached, {requests} lists and watches after the restart, {relists} of them lists of everything, \
         and {refused} that the server refused",
        cached.len()
    );
    if needless.len() > UNPROVEN_MAX || !dear.is_empty() {
        bail!(
            "{figures}: {} kinds listed without need {needless:?}, {} kinds with more than two requests {dear:?}",
            needless.len(),
            dear.len()
        );
    }
    Ok(format!(
        "{figures}; {} kinds listed that a watch could have gone on with",
        needless.len()
    ))
}

/// Whether the server cannot go on from this version. Without one there was nothing to go on from.
async fn is_expired(objects: &Objects, path: &str, version: Option<u64>) -> Result<bool> {
    let Some(version) = version else {
        return Ok(false);
    };
    let watch = format!("{path}?watch=true&timeoutSeconds=1&resourceVersion={version}");
    let events = objects.text(&watch).await?;
    Ok(events
        .lines()
        .next()
        .is_some_and(|line| line.contains(r#""code":410"#)))
}

/// The version that a request names.
fn version(request: &Request) -> Option<u64> {
    parameter(request, "resourceVersion")?.parse().ok()
}

/// Waits until the manager has begun no list or watch for a while.
async fn quiet(audit: &crate::requests::AuditLog) -> Result<()> {
    until("a manager with all its watches", PATIENCE, async || {
        let mark = audit.mark()?;
        tokio::time::sleep(QUIET).await;
        Ok(reads(&audit.since(mark)?).is_empty().then_some(()))
    })
    .await
}

/// The manager's lists and watches of whole collections, by path. A server that is not ready yet refuses some.
fn reads(requests: &Requests) -> BTreeMap<String, Vec<Request>> {
    let mut found: BTreeMap<String, Vec<Request>> = BTreeMap::new();
    for one in requests.by_user(USER).filter(is_read).all {
        let path = one.uri.split('?').next().unwrap_or_default();
        found.entry(path.to_owned()).or_default().push(one);
    }
    found
}

/// A list or watch of a kind, not of one object by its name.
fn is_read(request: &Request) -> bool {
    matches!(request.verb.as_str(), "list" | "watch") && !request.uri.contains("metadata.name")
}

/// Whether the answer holds every object. One object alone is a question about the present version.
fn reads_everything(request: &Request) -> bool {
    if request.verb == "list" {
        return parameter(request, "limit") != Some("1");
    }
    let from_nothing = matches!(parameter(request, "resourceVersion"), None | Some("" | "0"));
    from_nothing || parameter(request, "sendInitialEvents") == Some("true")
}

fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let (_, query) = request.uri.split_once('?')?;
    let mut parts = query.split('&').filter_map(|part| part.split_once('='));
    parts.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &str, query: &str) -> Request {
        Request {
            verb: verb.to_owned(),
            resource: "pods".to_owned(),
            namespace: String::new(),
            name: String::new(),
            user: USER.to_owned(),
            user_agent: String::new(),
            code: 200,
            received: String::new(),
            uri: format!("/api/v1/pods?{query}"),
            body: None,
        }
    }

    #[test]
    fn a_watch_that_goes_on_and_a_question_for_one_object_read_not_everything() {
        for (verb, query, everything) in [
            ("watch", "watch=true&resourceVersion=17", false),
            (
                "watch",
                "watch=true&resourceVersion=17&sendInitialEvents=true",
                true,
            ),
            ("watch", "watch=true", true),
            ("list", "limit=1", false),
            ("list", "limit=500", true),
            ("list", "", true),
        ] {
            assert_eq!(
                reads_everything(&request(verb, query)),
                everything,
                "{verb} {query}"
            );
        }
    }
}
