//! Which pods are garbage.

use std::sync::Arc;

use flyball_api::views::{Node, Phase, Pod, PodReason};

/// The taint by which an administrator says that a node will not come back.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Whether a pod has come to its end, or to a phase that nobody knows.
pub(super) fn has_finished(pod: &Pod) -> bool {
    !matches!(
        pod.status.phase,
        Phase::Pending | Phase::Running | Phase::Unknown
    )
}

/// Whether nothing runs on a node any more, and somebody vouches for it.
pub(super) fn is_out_of_service(node: &Node) -> bool {
    !node.is_ready() && node.has_taint(OUT_OF_SERVICE)
}

/// Whether only finalizers hold a pod: asking it to go once more changes nothing.
pub(super) fn is_held(pod: &Pod) -> bool {
    pod.metadata.is_deleting() && pod.metadata.deletion_grace_period_seconds == Some(0)
}

/// The finished pods that are too many: those that were evicted first, since nobody made them in
/// place of anything, then the oldest.
pub(super) fn excess(mut finished: Vec<Arc<Pod>>, threshold: i64) -> Vec<Arc<Pod>> {
    let kept = match usize::try_from(threshold) {
        Ok(kept) if kept > 0 => kept,
        _ => return Vec::new(),
    };
    let too_many = finished.len().saturating_sub(kept);
    if too_many == 0 {
        return Vec::new();
    }
    finished.sort_by_cached_key(|pod| {
        let meta = &pod.metadata;
        (
            pod.status.reason != PodReason::Evicted,
            meta.creation_timestamp,
            meta.name.clone(),
            meta.namespace.clone(),
        )
    });
    finished.truncate(too_many);
    finished
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    fn pod(name: &str, created: &str, reason: &str) -> Arc<Pod> {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","creationTimestamp":"2026-01-01T00:00:{created}Z"}},
                 "status":{{"phase":"Failed","reason":"{reason}"}}}}"#
        );
        Arc::new(Pod::decode(json.as_bytes()).unwrap())
    }

    #[test]
    fn evicted_pods_go_first_then_the_oldest_then_by_name() {
        let pods = || {
            vec![
                pod("young", "09", ""),
                pod("b", "01", ""),
                pod("a", "01", "Shutdown"),
                pod("evicted", "05", "Evicted"),
            ]
        };
        for (threshold, gone) in [
            (4, ""),
            (3, "evicted"),
            (2, "evicted a"),
            (1, "evicted a b"),
            (0, ""),
            (-1, ""),
        ] {
            let names: Vec<_> = excess(pods(), threshold)
                .iter()
                .map(|pod| pod.metadata.name.to_string())
                .collect();
            assert_eq!(names.join(" "), gone, "threshold {threshold}");
        }
    }

    #[test]
    fn a_pod_in_a_phase_that_nobody_knows_has_finished() {
        let phases = [
            ("Pending", false),
            ("Running", false),
            ("Unknown", false),
            ("Succeeded", true),
            ("Failed", true),
            ("", true),
        ];
        for (phase, finished) in phases {
            let json = format!(r#"{{"metadata":{{"name":"a"}},"status":{{"phase":"{phase}"}}}}"#);
            let pod = Pod::decode(json.as_bytes()).unwrap();
            assert_eq!(has_finished(&pod), finished, "{phase}");
        }
    }
}
