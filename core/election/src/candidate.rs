//! A candidate as an API server sees it: what the election wants as requests, answers as what was
//! heard.

use std::time::Duration;

use flyball_api::request::{Method, Request};
use flyball_api::views::{Lease, LeaseSpec};
use flyball_api::{ApiError, Class, Meta, Object, Timestamp, Uid};
use serde_json::json;

use crate::{BadSettings, Command, Election, Heard, Settings};

/// Takes part in the election on one Lease.
#[derive(Debug)]
pub struct Candidate {
    namespace: String,
    name: String,
    election: Election,
    /// The metadata of the Lease as last seen, to be given back unchanged with each write.
    metadata: Option<Meta>,
}

impl Candidate {
    /// A candidate that tries at once.
    pub fn new(namespace: &str, name: &str, settings: Settings) -> Result<Self, BadSettings> {
        Ok(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            election: Election::new(settings)?,
            metadata: None,
        })
    }

    /// The state of the election.
    pub fn election(&self) -> &Election {
        &self.election
    }

    /// What to do now; see [`Election::next`].
    pub fn next(&self, now: Duration, wall: Timestamp) -> Command {
        self.election.next(now, wall)
    }

    /// When to look again while waiting until `at`: when the term ends, should that be earlier. A
    /// term that has ended already is nothing to wait for.
    pub fn look_again_at(&self, at: Duration, now: Duration) -> Duration {
        match self.election.leads_until() {
            Some(until) if now < until => at.min(until),
            _ => at,
        }
    }

    /// What tells terms apart: the Lease itself, and how often it had changed hands.
    pub fn term(&self) -> Option<(Uid, i32)> {
        let uid = self.metadata.as_ref()?.uid.clone();
        Some((uid, self.election.transitions()?))
    }

    /// Brings the next renewal forward; see [`Election::renew_at`].
    pub fn renew_at(&mut self, at: Duration) {
        self.election.renew_at(at);
    }

    /// Has the Lease read before anything else; see [`Election::read_at`].
    pub fn read_at(&mut self, at: Duration) {
        self.election.read_at(at);
    }

    /// The command that gives the Lease up; see [`Election::release`].
    pub fn release(&mut self, wall: Timestamp) -> Option<Command> {
        self.election.release(wall)
    }

    /// The request that carries a command out; waiting for something is reading at its end.
    pub fn request(&self, command: &Command) -> Request {
        match command {
            Command::Read | Command::WaitUntil(_) => Request::get(self.path()),
            Command::Create(spec) => {
                let path = Lease::KIND.collection_path(&self.namespace);
                Request::with(Method::Post, path, self.body(spec, None))
            }
            Command::Update(spec, version) => {
                Request::with(Method::Put, self.path(), self.body(spec, Some(version)))
            }
        }
    }

    /// What the answer to a request that was sent at `sent_at` means.
    pub fn heard_of(
        command: &Command,
        sent_at: Duration,
        answer: Result<&[u8], &ApiError>,
    ) -> Heard {
        let writes = matches!(command, Command::Create(_) | Command::Update(..));
        match answer.map(Lease::decode) {
            Ok(Ok(lease)) if writes => Heard::Written(lease, sent_at),
            Ok(Ok(lease)) => Heard::Lease(lease),
            Err(error) if error.class() == Class::NotFound && !writes => Heard::Absent,
            Ok(Err(_)) | Err(_) => Heard::Failed,
        }
    }

    /// Takes in what was heard; see [`Election::heard`].
    pub fn hear(&mut self, heard: Heard, now: Duration, jitter: f64) {
        match &heard {
            Heard::Told(lease) if self.is_older(&lease.metadata) => {}
            Heard::Lease(lease) | Heard::Told(lease) | Heard::Written(lease, _) => {
                self.metadata = Some(lease.metadata.clone());
            }
            Heard::Absent | Heard::Failed => {}
        }
        self.election.heard(heard, now, jitter);
    }

    /// The path of the Lease.
    pub fn path(&self) -> String {
        Lease::KIND.object_path(&self.namespace, &self.name)
    }

    /// Whether we know something newer: a watch may lag.
    fn is_older(&self, told: &Meta) -> bool {
        let version = |meta: &Meta| meta.resource_version.parse::<u64>().ok();
        let known = self.metadata.as_ref().and_then(version);
        known
            .zip(version(told))
            .is_some_and(|(known, told)| told < known)
    }

    /// The Lease with another record. All else stays as it was seen, or the write would remove it.
    fn body(&self, spec: &LeaseSpec, version: Option<&str>) -> String {
        let seen = self.metadata.clone().filter(|_| version.is_some());
        let mut metadata = seen.unwrap_or_default();
        metadata.name = self.name.as_str().into();
        metadata.namespace = self.namespace.as_str().into();
        metadata.resource_version = version.unwrap_or_default().into();
        let lease = Lease {
            metadata,
            spec: spec.clone(),
        };
        let mut lease = json!(lease);
        lease["apiVersion"] = Lease::KIND.api_version().into();
        lease["kind"] = Lease::KIND.kind.into();
        lease.to_string()
    }
}

/// The Lease that a line of a watch tells of, if it tells of one that is there.
pub fn told(line: &[u8]) -> Option<Lease> {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
        #[serde(borrow)]
        object: &'a serde_json::value::RawValue,
    }
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    matches!(line.kind, "ADDED" | "MODIFIED")
        .then(|| Lease::decode(line.object.get().as_bytes()).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> Candidate {
        let settings = Settings {
            identity: "me".into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        };
        Candidate::new("kube-system", "leader", settings).unwrap()
    }

    #[test]
    fn a_write_gives_back_what_others_have_put_on_the_lease() {
        let mut candidate = candidate();
        let lease = br#"{"metadata":{"name":"leader","namespace":"kube-system","uid":"u",
            "resourceVersion":"7","labels":{"team":"a"}},"spec":{}}"#;
        let heard = Candidate::heard_of(&Command::Read, Duration::ZERO, Ok(lease));
        candidate.hear(heard, Duration::ZERO, 0.0);
        let command = candidate.next(Duration::ZERO, Timestamp::UNIX_EPOCH);
        let request = candidate.request(&command);
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["metadata"]["labels"]["team"], "a");
        assert_eq!(body["metadata"]["resourceVersion"], "7");
        assert_eq!(body["spec"]["holderIdentity"], "me");
    }

    #[test]
    fn a_term_is_waited_for_only_as_long_as_it_lasts() {
        let mut candidate = candidate();
        let seconds = Duration::from_secs;
        assert_eq!(candidate.look_again_at(seconds(2), seconds(0)), seconds(2));
        let lease =
            br#"{"metadata":{"name":"leader","namespace":"kube-system","resourceVersion":"7"},
            "spec":{"holderIdentity":"me"}}"#;
        let update = Command::Update(LeaseSpec::default(), "1".into());
        let written = Candidate::heard_of(&update, Duration::ZERO, Ok(lease));
        candidate.hear(written, Duration::ZERO, 0.0);
        let ends = candidate.election().leads_until().unwrap();
        let later = ends + seconds(9);
        assert_eq!(candidate.look_again_at(later, seconds(1)), ends);
        assert_eq!(candidate.look_again_at(later, ends), later);
    }

    #[test]
    fn only_a_read_can_find_that_there_is_no_lease() {
        let gone = ApiError::from_response(404, None, b"");
        let read = Candidate::heard_of(&Command::Read, Duration::ZERO, Err(&gone));
        assert!(matches!(read, Heard::Absent));
        let update = Command::Update(LeaseSpec::default(), "1".into());
        let wrote = Candidate::heard_of(&update, Duration::ZERO, Err(&gone));
        assert!(matches!(wrote, Heard::Failed));
    }

    #[test]
    fn a_watch_tells_of_leases_that_are_there() {
        let line =
            |kind| format!(r#"{{"type":"{kind}","object":{{"metadata":{{"name":"leader"}}}}}}"#);
        assert!(told(line("MODIFIED").as_bytes()).is_some());
        assert!(told(line("DELETED").as_bytes()).is_none());
        assert!(told(b"{").is_none());
    }
}
