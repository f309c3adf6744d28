//! Contact with the server: since when no request has been answered.

use std::time::Duration;

use flyball_api::Object;

use super::{Input, Reflector, State};

/// Since when a reflector has had no accepted watch and no answered list.
///
/// The orderly end of a watch loses nothing: contact is lost when the next request fails.
#[derive(Default)]
pub(super) struct Contact {
    lost_at: Option<Duration>,
    /// When contact was lost before the present watch was accepted, until that watch brings a line.
    lost_before: Option<Duration>,
}

impl Contact {
    /// Notes that a request failed. The first failure in a row counts.
    pub(super) fn lose(&mut self, now: Duration) {
        self.lost_at.get_or_insert(now);
        self.lost_before = None;
    }

    /// Notes that a request was answered.
    pub(super) fn regain(&mut self) {
        self.lost_at = None;
        self.lost_before = None;
    }

    /// Notes that a watch was accepted. It may be the page of a proxy: the first line shows it.
    fn accept(&mut self) {
        self.lost_before = self.lost_at.take();
    }

    /// Notes that a line of a watch cannot be read: what accepted the watch was no API server.
    pub(super) fn refute(&mut self, now: Duration) {
        let since = self.lost_before.take().unwrap_or(now);
        self.lost_at.get_or_insert(since);
    }
}

impl<T: Object> Reflector<T> {
    /// For how long there has been no contact with the server; `None` if there is contact, and
    /// before the start.
    pub(crate) fn out_of_touch(&self, now: Duration) -> Option<Duration> {
        let lost_at = self.contact.lost_at?;
        Some(now.saturating_sub(lost_at))
    }

    /// Notes what an input shows about the contact. A page and a line count once they have been
    /// read: any proxy can answer with a page of its own.
    pub(super) fn note_contact(&mut self, input: &Input<'_>, is_due: bool, now: Duration) {
        match (&self.state, input) {
            (State::Idle, Input::Start) => self.contact.lose(now),
            (State::Watching(_), Input::WatchStarted) => self.contact.accept(),
            (State::Listing(_) | State::Watching(_), Input::Failed(_)) => self.contact.lose(now),
            (State::Listing(_) | State::Watching(_), Input::Elapsed) if is_due => {
                self.contact.lose(now);
            }
            _ => {}
        }
    }
}
