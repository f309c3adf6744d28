//! What controllers decided, in words: who did what to which objects, and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball::{Decision, Deed};
use flyball_plan::{Report, Subresource};
use serde_json::Value;

/// The word for the one who simulates what runs on nodes.
const KUBELETS: &str = "simulated kubelets";

/// One line of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) who: String,
    pub(super) what: String,
    pub(super) why: String,
}

/// Something that was done, to one or more objects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phrase {
    verb: &'static str,
    kind: &'static str,
    /// What it was done to, each with what is worth adding.
    objects: Vec<String>,
    /// What became of them.
    after: &'static str,
}

/// Turns decisions into lines; remembers what was said about Deployments, to say it once.
#[derive(Default)]
pub(super) struct Narrator {
    available: BTreeMap<String, u64>,
}

impl Narrator {
    /// The lines for decisions that were made together. What the same controller did several
    /// times in a row becomes one line.
    pub(super) fn lines(&mut self, decisions: &[Arc<Decision>]) -> Vec<Said> {
        let mut told: Vec<(String, Vec<Phrase>, String)> = Vec::new();
        for decision in decisions {
            let phrases = self.phrases(decision);
            if phrases.is_empty() {
                continue;
            }
            let (who, why) = (who(decision.controller), why(&decision.finished.report));
            match told.last_mut() {
                Some((last, before, last_why)) if *last == who && alike(before, &phrases) => {
                    for (phrase, more) in before.iter_mut().zip(phrases) {
                        phrase.objects.extend(more.objects);
                    }
                    *last_why = why;
                }
                _ => told.push((who, phrases, why)),
            }
        }
        let line = |(who, phrases, why): (String, Vec<Phrase>, String)| Said {
            // What kubelets see of their pods is no decision that needs a reason.
            why: if who == KUBELETS { String::new() } else { why },
            what: phrases.iter().map(words).collect::<Vec<_>>().join(", and "),
            who,
        };
        told.into_iter().map(line).collect()
    }

    fn phrases(&mut self, decision: &Decision) -> Vec<Phrase> {
        let mut phrases: Vec<Phrase> = Vec::new();
        for deed in &decision.deeds {
            let Some(phrase) = self.phrase(deed) else {
                continue;
            };
            match phrases.last_mut() {
                Some(last) if alike(std::slice::from_ref(last), std::slice::from_ref(&phrase)) => {
                    last.objects.extend(phrase.objects);
                }
                _ => phrases.push(phrase),
            }
        }
        phrases
    }

    fn phrase(&mut self, deed: &Deed) -> Option<Phrase> {
        let sent: Value = match &deed.sent {
            Some(body) => serde_json::from_str(body.json()).unwrap_or_default(),
            None => Value::Null,
        };
        let name = deed.object.name.to_string();
        let of_status = deed.subresource == Subresource::STATUS;
        let phrase = |verb, kind, object: String, after| {
            let objects = vec![object];
            Some(Phrase {
                verb,
                kind,
                objects,
                after,
            })
        };
        let replicas = || sent["spec"]["replicas"].as_u64().unwrap_or_default();
        if deed.error.is_some() {
            // A conflict is looked at afresh a moment later: nothing came of it.
            return None;
        }
        let kind = deed.kind.kind;
        match (deed.verb, deed.kind.plural) {
            ("create", "pods") if deed.subresource == Subresource::BINDING => {
                let node = sent["target"]["name"].as_str().unwrap_or_default();
                phrase("places", "pod", format!("{} on {node}", short(&name)), "")
            }
            // What waits for its dependents goes when its last finalizer does.
            ("patch", "replicasets" | "deployments")
                if sent["metadata"].get("finalizers").is_some() =>
            {
                phrase("lets", kind, name, " go")
            }
            ("delete", "replicasets") => phrase("deletes", kind, name, ""),
            ("create", "replicasets") => {
                let object = format!("{name} for {}", pods(replicas()));
                phrase("creates", "ReplicaSet", object, "")
            }
            ("patch" | "update", "replicasets") if !of_status => {
                let object = format!("{name} to {}", pods(replicas()));
                phrase("scales", "ReplicaSet", object, "")
            }
            ("create", "pods") => phrase("creates", "pod", short(&name), ""),
            ("delete", "pods") if deed.stage == "pods" => {
                phrase("report", "pod", short(&name), " stopped")
            }
            ("delete", "pods") => phrase("deletes", "pod", short(&name), ""),
            ("patch" | "update", "pods") if of_status => {
                let after = pod_news(&sent["status"])?;
                phrase("report", "pod", short(&name), after)
            }
            ("patch" | "update", "deployments") if of_status => {
                let available = sent["status"]["availableReplicas"].as_u64();
                let available = available.unwrap_or_default();
                let before = self.available.insert(name, available);
                if before.unwrap_or_default() == available {
                    return None;
                }
                phrase("reports", "", pods(available), " available")
            }
            _ => None,
        }
    }
}

/// A report without the counts of what there is none of and nobody waits for.
fn why(report: &Report) -> String {
    let beside_the_point = |(name, value): &(&str, String)| {
        value == "0" && ["gated", "unschedulable", "terminating", "old"].contains(name)
    };
    let mut report = report.clone();
    report.saw.retain(|seen| !beside_the_point(seen));
    report.to_string()
}

fn who(controller: &str) -> String {
    match controller {
        "simulated-pod-controller" => KUBELETS.to_owned(),
        other => other.to_owned(),
    }
}

/// Whether two lists of phrases differ in nothing but their objects.
fn alike(one: &[Phrase], other: &[Phrase]) -> bool {
    let same = |(a, b): (&Phrase, &Phrase)| {
        // Numbers that were reported do not add up to a list.
        a.verb != "reports" && (a.verb, a.kind, a.after) == (b.verb, b.kind, b.after)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

fn words(phrase: &Phrase) -> String {
    let Phrase {
        verb,
        kind,
        objects,
        after,
    } = phrase;
    let kind = match (*kind, objects.len()) {
        ("", _) => String::new(),
        (kind, 1) => format!("{kind} "),
        (kind, _) => format!("{kind}s "),
    };
    format!("{verb} {kind}{}{after}", objects.join(", "))
}

/// What a kubelet tells of a pod, if it is something new.
fn pod_news(status: &Value) -> Option<&'static str> {
    let conditions = status["conditions"].as_array().map(Vec::as_slice);
    let is =
        |condition: &Value, kind: &str| condition["type"] == kind && condition["status"] == "True";
    let has = |kind: &str| conditions.unwrap_or_default().iter().any(|c| is(c, kind));
    if has("Ready") {
        return Some(" ready");
    }
    let running = |container: &Value| !container["state"]["running"].is_null();
    let containers = status["containerStatuses"].as_array();
    match containers.is_some_and(|all| all.iter().any(running)) {
        true => Some(" running, not ready yet"),
        false => Some(" starting"),
    }
}

fn pods(count: u64) -> String {
    match count {
        1 => "1 pod".to_owned(),
        many => format!("{many} pods"),
    }
}

/// The last part of a pod's name, by which people tell pods of one set apart.
pub(super) fn short(name: &str) -> String {
    name.rsplit('-').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests;
