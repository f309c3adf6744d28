//! Annotations: how a node or a pod asks for something other than the usual.
//!
//! | on | annotation (`kubelet.flyball.dev/…`) | asks for |
//! |---|---|---|
//! | Node | `simulated` | `true`: simulate it; written on every node that is created here |
//! | Node | `lost` | `true`: no heartbeats, and its pods stay as they are |
//! | Pod | `behaviour` | `ready` (as usual), `never-ready`, `pending`, `fail`, `succeed`, `crash-loop`, `image-pull-error`; another word leaves the pod as it is |
//! | Pod | `start-delay-ms` | how long it takes until its first container starts |
//! | Pod | `init-delay-ms` | how long each init container runs |
//! | Pod | `ready-delay-ms` | how long a started pod takes to become ready (or to `fail` or `succeed`) |
//! | Pod | `run-ms` | how long its containers run before they exit |
//! | Pod | `exit-code` | what they exit with |
//! | Pod | `termination` | `stuck`: never stops; a number: how many milliseconds it takes |
//!
//! A value that cannot be read counts as absent. Objects are stamped in whole seconds, so a delay
//! is never shorter than asked for and up to one second longer.

use std::time::Duration;

use flyball_api::Labels;

/// The prefix of all annotations that are read here.
pub const PREFIX: &str = "kubelet.flyball.dev/";
/// On a Node: `true` makes it one of ours.
pub const SIMULATED: &str = "kubelet.flyball.dev/simulated";
/// On a Node: `true` cuts it off.
pub const LOST: &str = "kubelet.flyball.dev/lost";
/// On a Pod: what it does.
pub const BEHAVIOUR: &str = "kubelet.flyball.dev/behaviour";
/// On a Pod: milliseconds until it starts.
pub const START_DELAY_MS: &str = "kubelet.flyball.dev/start-delay-ms";
/// On a Pod: milliseconds that each init container runs.
pub const INIT_DELAY_MS: &str = "kubelet.flyball.dev/init-delay-ms";
/// On a Pod: milliseconds until it is ready once started.
pub const READY_DELAY_MS: &str = "kubelet.flyball.dev/ready-delay-ms";
/// On a Pod: milliseconds that its containers run.
pub const RUN_MS: &str = "kubelet.flyball.dev/run-ms";
/// On a Pod: what its containers exit with.
pub const EXIT_CODE: &str = "kubelet.flyball.dev/exit-code";
/// On a Pod: how it stops.
pub const TERMINATION: &str = "kubelet.flyball.dev/termination";

/// Whether an annotation says `true`.
pub(crate) fn is_true(annotations: &Labels, name: &str) -> bool {
    annotations.get(name) == Some("true")
}

/// The number of milliseconds that an annotation says, if it does.
pub(crate) fn millis(annotations: &Labels, name: &str) -> Option<Duration> {
    let text = annotations.get(name)?;
    text.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_counts_as_absent() {
        let asks = |value: &str| millis(&Labels::from_iter([(RUN_MS, value)]), RUN_MS);
        assert_eq!(asks("250"), Some(Duration::from_millis(250)));
        for odd in ["", "-1", "1.5", "soon", "99999999999999999999999"] {
            assert_eq!(asks(odd), None, "{odd:?}");
        }
        assert_eq!(millis(&Labels::default(), RUN_MS), None);
    }
}
