//! Decisions as they are made, for whoever wants to follow: what was done to what, and why.
//!
//! Whoever follows gets them through a bounded buffer: one that reads too slowly loses the oldest
//! and is told how many, and no controller ever waits. While nobody follows, nothing is gathered.

use std::sync::Arc;

use flyball_api::{Kind, ObjectName};
use flyball_plan::{Action, Actions, Answer, Body, Finished, Outcome, Report, Subresource};
use tokio::sync::broadcast;

/// How many decisions a slow follower may be behind.
const BEHIND_MAX: usize = 1024;

/// One thing that a sync did.
#[derive(Clone, Debug)]
pub struct Deed {
    /// The stage of the sync, such as `scale`.
    pub stage: &'static str,
    /// What was done, as the API calls it.
    pub verb: &'static str,
    /// The kind it was done to.
    pub kind: Kind,
    /// The object, also where the server made up its name.
    pub object: ObjectName,
    /// Which part of it.
    pub subresource: Subresource,
    /// What was sent, if anything: an object, a patch, or the name of a node.
    pub sent: Option<Body>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// One sync from its start to its rest.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Who decided.
    pub controller: &'static str,
    /// About what.
    pub key: String,
    /// What was done, in order; live reads and events are left out.
    pub deeds: Vec<Deed>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub report: Report,
}

/// Where decisions are told; cheap to clone.
#[derive(Clone, Debug)]
pub struct Decisions(broadcast::Sender<Arc<Decision>>);

impl Default for Decisions {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND_MAX))
    }
}

impl Decisions {
    /// Follows what is decided from now on.
    pub fn follow(&self) -> broadcast::Receiver<Arc<Decision>> {
        self.0.subscribe()
    }

    /// Whether anybody follows.
    pub(crate) fn followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells how a sync ended.
    pub(crate) fn tell(&self, controller: &'static str, deeds: Vec<Deed>, finished: &Finished) {
        if !self.followed() {
            return;
        }
        let decision = Decision {
            controller,
            key: finished.key.clone(),
            deeds,
            outcome: finished.outcome.clone(),
            report: finished.report.clone(),
        };
        // Whoever stopped following in this moment misses nothing.
        drop(self.0.send(Arc::new(decision)));
    }
}

/// What was done in one stage of a sync.
pub(crate) fn deeds<'a>(
    actions: &'a Actions,
    answers: &'a [Answer],
) -> impl Iterator<Item = Deed> + 'a {
    let both = actions.items.iter().zip(answers);
    both.filter_map(|(action, answer)| deed(actions.stage, action, answer))
}

fn deed(stage: &'static str, action: &Action, answer: &Answer) -> Option<Deed> {
    let (kind, name, subresource, sent) = match action {
        Action::Create {
            kind,
            namespace,
            body,
        } => {
            let made = match answer {
                Answer::Done(written) => written.name.clone(),
                _ => Default::default(),
            };
            let name = ObjectName {
                namespace: namespace.clone(),
                name: made,
            };
            (*kind, name, Subresource::None, Some(body.clone()))
        }
        Action::Patch {
            target,
            subresource,
            body,
            ..
        }
        | Action::Update {
            target,
            subresource,
            body,
            ..
        } => (
            target.kind,
            target.name.clone(),
            *subresource,
            Some(body.clone()),
        ),
        Action::Merge { target, body, .. } => (
            target.kind,
            target.name.clone(),
            Subresource::None,
            Some(body.clone()),
        ),
        Action::Delete { target, .. } => {
            (target.kind, target.name.clone(), Subresource::None, None)
        }
        Action::Bind { target, node, .. } => {
            let node = Body::of(&node.as_str());
            (
                target.kind,
                target.name.clone(),
                Subresource::None,
                Some(node),
            )
        }
        Action::DeleteCollection {
            kind, namespace, ..
        } => {
            // All of them, whatever they are called.
            let name = ObjectName::new(namespace, "");
            (*kind, name, Subresource::None, None)
        }
        Action::Ask { .. }
        | Action::Confirm { .. }
        | Action::List { .. }
        | Action::Survey { .. }
        | Action::Discover { .. }
        | Action::Record(_) => return None,
    };
    if matches!(answer, Answer::Skipped) {
        return None;
    }
    Some(Deed {
        stage,
        verb: action.verb(),
        kind,
        object: name,
        subresource,
        sent,
        error: answer.error().map(ToString::to_string),
    })
}
