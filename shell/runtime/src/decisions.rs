//! Decisions as they are made, for those who follow: what was done to what, and why.
//!
//! A follower gets them through a bounded buffer. One that reads too slowly loses the oldest and
//! learns how many; no controller ever waits. Without a follower nothing is gathered.

use std::sync::Arc;

use flyball_api::{Kind, ObjectName};
use flyball_plan::{Action, Actions, Answer, Body, Finished, Subresource};
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
    /// The object, also where the server generated its name.
    pub object: ObjectName,
    /// Its subresource.
    pub subresource: Subresource,
    /// What was sent, if anything: an object or a patch.
    pub sent: Option<Body>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// One sync from its start to its rest.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The controller that decided.
    pub controller: &'static str,
    /// What was done, in order; live reads and events are left out.
    pub deeds: Vec<Deed>,
    /// How it ended, and why.
    pub finished: Finished,
}

/// The way to the followers; cheap to clone.
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

    /// Whether there is a follower.
    pub(crate) fn followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Passes on how a sync ended.
    pub(crate) fn tell(&self, controller: &'static str, deeds: Vec<Deed>, finished: &Finished) {
        if !self.followed() {
            return;
        }
        let decision = Decision {
            controller,
            deeds,
            finished: finished.clone(),
        };
        // A follower that left in this moment misses nothing.
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
    let write = action.write()?;
    let mut object = write.target.name.clone();
    // The name that the server generated.
    if let (Answer::Done(written), true) = (answer, write.is_create()) {
        object.name = written.name.clone();
    }
    if matches!(answer, Answer::Skipped) {
        return None;
    }
    Some(Deed {
        stage,
        verb: action.verb(),
        kind: write.target.kind,
        object,
        subresource: write.subresource,
        sent: (!write.body.json().is_empty()).then(|| write.body.clone()),
        error: answer.error().map(ToString::to_string),
    })
}
