//! How long a container that crashes waits before it is started again.

use std::time::Duration;

use crate::views::ContainerStatus;

/// The first wait of a container that crashed twice. Upstream, `pkg/kubelet/kubelet.go`.
const BACK_OFF_FIRST: Duration = Duration::from_secs(10);

/// The longest wait of a container that crashes.
const BACK_OFF_MAX: Duration = Duration::from_secs(300);

/// A container that ran for so long has recovered: its next crash counts as the first.
const RECOVERED_AFTER: Duration = Duration::from_secs(600);

/// How long a container that exited waits until it is started again: not at all the first time,
/// then 10 s, 20 s, 40 s, up to 5 min.
pub(super) fn back_off(container: &ContainerStatus) -> Duration {
    let recovered = container.last_state.as_ref().is_some_and(|last| {
        let (Some(from), Some(to)) = (last.started_at, last.finished_at) else {
            return false;
        };
        to.saturating_since(from) >= RECOVERED_AFTER
    });
    let restarts = u32::try_from(container.restart_count).unwrap_or(0);
    match (recovered, restarts) {
        (true, _) | (_, 0) => Duration::ZERO,
        (false, restarts) => {
            let doubled = 2_u32.saturating_pow(restarts - 1);
            BACK_OFF_FIRST.saturating_mul(doubled).min(BACK_OFF_MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Timestamp;

    use super::*;
    use crate::views::Terminated;

    fn crashed(restarts: i32, ran_seconds: i64) -> ContainerStatus {
        let mut container = ContainerStatus::waiting("app", "CrashLoopBackOff");
        container.restart_count = restarts;
        container.last_state = Some(Terminated {
            exit_code: 1,
            started_at: Some(Timestamp::from_unix_seconds(0)),
            finished_at: Some(Timestamp::from_unix_seconds(ran_seconds)),
        });
        container
    }

    #[test]
    fn the_back_off_doubles_up_to_five_minutes_and_ends_with_recovery() {
        let seconds = |restarts, ran| back_off(&crashed(restarts, ran)).as_secs();
        let delays: Vec<u64> = (0..9).map(|restarts| seconds(restarts, 0)).collect();
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(seconds(i32::MAX, 599), 300);
        assert_eq!(seconds(5, 600), 0);
        assert_eq!(seconds(-1, 0), 0);
    }
}
