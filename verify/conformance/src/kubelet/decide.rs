//! What to do about a pod, from its view and from what was last reported of it.

use std::time::Duration;

use super::view::Pod;

/// Annotation: what the pod does. `ready` (the default), `never-ready` (Running, not Ready), `pending` (nothing),
/// `fail` (phase Failed), `succeed` (phase Succeeded). Changing it on a living pod changes the pod.
pub const BEHAVIOUR: &str = "kubelet.flyball.dev/behaviour";
/// Annotation: milliseconds until the pod does it.
pub const READY_DELAY_MS: &str = "kubelet.flyball.dev/ready-delay-ms";
/// Annotation: `stuck` leaves the pod terminating for ever; a number is the milliseconds until it is gone.
pub const TERMINATION: &str = "kubelet.flyball.dev/termination";

/// The state of a pod as the kubelet last reported it, or is about to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reported {
    Running { ready: bool },
    Failed,
    Succeeded,
    Finished,
}

/// One pod's next report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) uid: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) delay: Duration,
    pub(super) work: Work,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    /// Bind if asked to, then patch the status. Containers are name and image.
    Report {
        bind: bool,
        state: Reported,
        containers: Vec<(String, String)>,
    },
    /// The containers have stopped: remove the object.
    Finish,
}

impl Job {
    pub(super) fn reports(&self) -> Reported {
        match &self.work {
            Work::Report { state, .. } => *state,
            Work::Finish => Reported::Finished,
        }
    }

    pub(super) fn is_finish(&self) -> bool {
        self.work == Work::Finish
    }
}

pub(super) fn decide(pod: &Pod<'_>, bind: bool, known: Option<Reported>) -> Option<Job> {
    let annotation = |name: &str| pod.metadata.annotations.get(name).map(AsRef::as_ref);
    let millis = |text: Option<&str>| {
        Duration::from_millis(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    };
    let job = |delay: Duration, work: Work| {
        Some(Job {
            uid: pod.metadata.uid.to_string(),
            namespace: pod.metadata.namespace.to_string(),
            name: pod.metadata.name.to_string(),
            delay,
            work,
        })
    };

    if pod.metadata.deletion_timestamp.is_some() {
        let termination = annotation(TERMINATION);
        if known == Some(Reported::Finished) || termination == Some("stuck") {
            return None;
        }
        return job(millis(termination), Work::Finish);
    }
    let ended = matches!(pod.status.phase.as_ref(), "Failed" | "Succeeded");
    // A gated pod is not yet for the scheduler, and the server refuses to bind it.
    if ended || !pod.spec.scheduling_gates.is_empty() {
        return None;
    }
    let state = match annotation(BEHAVIOUR) {
        None | Some("ready") => Reported::Running { ready: true },
        Some("never-ready") => Reported::Running { ready: false },
        Some("fail") => Reported::Failed,
        Some("succeed") => Reported::Succeeded,
        // `pending`, and words nobody defined: the pod stays as it is.
        Some(_) => return None,
    };
    // After a restart the kubelet believes what the server says.
    let running = pod.status.phase == "Running";
    let known = known.or(running.then(|| Reported::Running {
        ready: pod.status.is_ready(),
    }));
    if known == Some(state) {
        return None;
    }
    let containers = pod.spec.containers.iter().flatten();
    let containers = containers
        .map(|one| (one.name.to_string(), one.image.to_string()))
        .collect();
    let bind = bind && pod.spec.node_name.is_empty();
    job(
        millis(annotation(READY_DELAY_MS)),
        Work::Report {
            bind,
            state,
            containers,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::view::Event;
    use super::*;

    fn check(object: &str, known: Option<Reported>) -> Option<Job> {
        let line = format!(r#"{{"type":"MODIFIED","object":{object}}}"#);
        let event: Event = serde_json::from_str(&line).unwrap();
        decide(&event.object, true, known)
    }

    fn pod(annotations: &str, rest: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"p","namespace":"n","uid":"u","annotations":{annotations}}}{rest}}}"#
        )
    }

    #[test]
    fn a_new_pod_is_bound_and_reported_ready() {
        let spec = r#","spec":{"containers":[{"name":"app","image":"app:v1"}]}"#;
        let job = check(&pod("{}", spec), None).unwrap();
        let containers = vec![("app".to_owned(), "app:v1".to_owned())];
        let state = Reported::Running { ready: true };
        assert_eq!(
            job.work,
            Work::Report {
                bind: true,
                state,
                containers
            }
        );
    }

    #[test]
    fn what_was_reported_is_not_reported_again() {
        let known = Some(Reported::Running { ready: true });
        assert_eq!(check(&pod("{}", ""), known), None);
    }

    #[test]
    fn after_a_restart_the_servers_word_counts() {
        let ready =
            r#","status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}"#;
        assert_eq!(check(&pod("{}", ready), None), None);
        let unready = r#","status":{"phase":"Running"}"#;
        assert!(check(&pod("{}", unready), None).is_some());
    }

    #[test]
    fn a_changed_behaviour_changes_a_living_pod() {
        let annotations = format!(r#"{{"{BEHAVIOUR}":"never-ready"}}"#);
        let job = check(
            &pod(&annotations, ""),
            Some(Reported::Running { ready: true }),
        )
        .unwrap();
        assert_eq!(job.reports(), Reported::Running { ready: false });
    }

    #[test]
    fn a_gated_pod_and_an_ended_pod_are_left_alone() {
        assert_eq!(
            check(
                &pod("{}", r#","spec":{"schedulingGates":[{"name":"g"}]}"#),
                None
            ),
            None
        );
        assert_eq!(
            check(&pod("{}", r#","status":{"phase":"Failed"}"#), None),
            None
        );
    }

    #[test]
    fn deletions_are_finished_once_and_not_if_stuck() {
        let deleted = |annotations: &str| {
            format!(
                r#"{{"metadata":{{"uid":"u","deletionTimestamp":"t","annotations":{annotations}}}}}"#
            )
        };
        let running = Some(Reported::Running { ready: true });
        assert!(check(&deleted("{}"), running).unwrap().is_finish());
        assert_eq!(check(&deleted("{}"), Some(Reported::Finished)), None);
        assert_eq!(
            check(
                &deleted(&format!(r#"{{"{TERMINATION}":"stuck"}}"#)),
                running
            ),
            None
        );
        let slow = check(&deleted(&format!(r#"{{"{TERMINATION}":"250"}}"#)), running).unwrap();
        assert_eq!(slow.delay, Duration::from_millis(250));
    }

    #[test]
    fn an_error_event_is_read_without_complaint() {
        let line = r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410}}"#;
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(event.kind, "ERROR");
    }

    #[test]
    fn a_bookmark_is_read_without_complaint() {
        let line = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7"},"spec":{"containers":null},"status":{}}}"#;
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(event.kind, "BOOKMARK");
    }
}
