//! The Deployment as a sync means to leave it, written at most once, at its end.
//!
//! Upstream writes the status from several places, and often twice in one sync with the version of
//! the first read, so that the second write meets a conflict. Here every part of the plan puts
//! what it has to say into the draft. The revision rides along: the server takes annotations
//! through the status subresource, and controllers may not update Deployments in any other way.

use flyball_api::views::{Deployment, DeploymentStatus};
use flyball_api::{Condition, Lossless, Meta, Object, Text};
use flyball_plan::rules::status::{put, write_own};
use flyball_plan::{Action, Answer, Flow, Round};

use super::Sync;
use super::annotations::REVISION;
use super::conditions;

/// What the Deployment's status and revision are to become.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The status to be.
    pub(super) status: Lossless<DeploymentStatus>,
    revision: Option<Text>,
    stored: Lossless<DeploymentStatus>,
    meta: Meta,
}

impl Draft {
    /// The Deployment as it is.
    pub(super) fn of(deployment: &Deployment) -> Self {
        Self {
            status: deployment.status.clone(),
            revision: None,
            stored: deployment.status.clone(),
            meta: deployment.metadata.clone(),
        }
    }

    /// The condition to be of this type.
    pub(super) fn condition(&self, kind: &str) -> Option<&Condition> {
        conditions::get(&self.status, kind)
    }

    /// The Deployment's template belongs to this revision.
    pub(super) fn set_revision(&mut self, revision: &str) {
        self.revision = Some(revision.into());
    }

    /// Whether there is anything to write.
    pub(super) fn differs(&self) -> bool {
        let revision_differs = self
            .revision
            .as_deref()
            .is_some_and(|revision| self.meta.annotations.get(REVISION) != Some(revision));
        revision_differs || self.status != self.stored
    }

    /// The write.
    pub(super) fn update(&self) -> Action {
        let mut metadata = self.meta.clone();
        if let Some(revision) = &self.revision {
            metadata.annotations = metadata.annotations.with(REVISION, revision);
        }
        put(Deployment::KIND, &metadata, &self.status)
    }

    /// Writes the draft at once, and goes on from what is stored then.
    pub(super) fn write_now(&mut self, sync: &Sync<'_>, stage: &'static str) -> Flow<()> {
        let round = write_own(sync, stage, Deployment::KIND, &self.meta, || self.update())?;
        self.go_on_from(round);
        Ok(())
    }

    /// Goes on from a write of this draft that took effect: what was sent is what is stored now.
    fn go_on_from(&mut self, round: &Round) {
        let sent = round.actions.items.first().and_then(Action::write);
        let sent = sent.and_then(|write| Deployment::decode(write.body.json().as_bytes()).ok());
        let written = match round.answers.first() {
            Some(Answer::Done(written)) => Some(written),
            _ => None,
        };
        if let (Some(sent), Some(written)) = (sent, written) {
            self.status = sent.status.clone();
            self.stored = sent.status;
            self.meta.annotations = sent.metadata.annotations.clone();
            self.meta.resource_version = written.resource_version.clone();
        }
    }

    /// Writes the draft if it differs from what is stored, and tells whether it did.
    pub(super) fn write(&self, sync: &Sync<'_>) -> Flow<bool> {
        const STAGE: &str = "status";
        if sync.has_run(STAGE).is_none() && !self.differs() {
            return Ok(false);
        }
        write_own(sync, STAGE, Deployment::KIND, &self.meta, || self.update())?;
        Ok(true)
    }
}
