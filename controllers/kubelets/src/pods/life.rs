//! Life as data: where a pod is, how long it stays there, what comes next.
//!
//! ```text
//! Bound ─→ Creating ─→ (Initializing ─→) Started ─→ Ready ─→ Exited ─→ Started …   or Ended
//!             └→ PullFailed ─→ PullBackedOff            any of them, told to go ─→ Stopping
//! ```
//!
//! A pod goes on with the stage that is due first of those that fit it. A stage that says
//! [`Next::Stay`] hides all after it. Everything is read off the pod's status, so that a restart
//! of this program changes nothing.

use std::time::Duration;

use flyball_api::Timestamp;

use super::asks::{Asks, Behaviour};
use super::back_off::back_off;
use super::point::{Point, since};
use crate::views::{Pod, PodStatus};

/// Which pods a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// All of them.
    Always,
    /// Those that are to do nothing.
    AsksForNothing,
    /// Those whose image cannot be pulled.
    AsksForPullError,
    /// Those whose image can be pulled.
    CanPull,
    /// Those that are never to be ready.
    AsksForUnready,
    /// Those that are to end as failed.
    AsksToFail,
    /// Those that are to end well.
    AsksToSucceed,
    /// Those whose containers exit after a while.
    Exits,
    /// Those that never stop.
    IsStuck,
}

/// How long a pod stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Not at all.
    None,
    /// As long as it asks for before it starts.
    Start,
    /// As long as it asks for each init container to run.
    Init,
    /// As long as it asks for before it is ready.
    Ready,
    /// As long as its containers run.
    Run,
    /// As long as containers wait after their last crash.
    BackOff,
    /// As long as it asks for to stop.
    Stop,
    /// So long.
    Fixed(Duration),
}

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Stay,
    /// It is accepted.
    Accept,
    /// Its images cannot be pulled.
    FailPull,
    /// Its images are not tried again for a while.
    BackOffPull,
    /// Its next containers start.
    Start,
    /// The init container that runs ends well, and the next containers start.
    EndInit,
    /// Its containers become ready.
    BecomeReady,
    /// Its containers stop being ready.
    BecomeUnready,
    /// Its containers exit, and it ends or waits to start them again.
    Exit,
    /// It ends as its exit code says, whatever its restart policy.
    End,
    /// Its containers start again.
    Restart,
    /// Its containers stop, and it is taken away.
    Finish,
}

/// One stage: at this point, for these pods, after this delay, this comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Where the pod is.
    pub at: Point,
    /// Which pods it is for.
    pub when: When,
    /// How long it stays.
    pub delay: Delay,
    /// What comes next.
    pub next: Next,
}

const fn stage(at: Point, when: When, delay: Delay, next: Next) -> Stage {
    Stage {
        at,
        when,
        delay,
        next,
    }
}

/// The usual life.
pub const LIFE: &[Stage] = {
    use Delay as D;
    use Next as N;
    use Point as P;
    use When as W;
    // A pull that failed is shown as such first, and as waiting when it was seen.
    const SHOWN: Delay = Delay::Fixed(Duration::from_secs(10));
    &[
        stage(P::Stopping, W::IsStuck, D::None, N::Stay),
        stage(P::Stopping, W::Always, D::Stop, N::Finish),
        stage(P::Bound, W::AsksForNothing, D::None, N::Stay),
        stage(P::Creating, W::AsksForNothing, D::None, N::Stay),
        stage(P::PullFailed, W::AsksForNothing, D::None, N::Stay),
        stage(P::PullBackedOff, W::AsksForNothing, D::None, N::Stay),
        stage(P::Initializing, W::AsksForNothing, D::None, N::Stay),
        stage(P::Started, W::AsksForNothing, D::None, N::Stay),
        stage(P::Ready, W::AsksForNothing, D::None, N::Stay),
        stage(P::Exited, W::AsksForNothing, D::None, N::Stay),
        stage(P::Bound, W::Always, D::None, N::Accept),
        stage(P::Creating, W::AsksForPullError, D::Start, N::FailPull),
        stage(P::Creating, W::CanPull, D::Start, N::Start),
        stage(P::PullFailed, W::AsksForPullError, SHOWN, N::BackOffPull),
        stage(P::PullFailed, W::CanPull, D::None, N::Start),
        stage(P::PullBackedOff, W::CanPull, D::None, N::Start),
        stage(P::Initializing, W::Always, D::Init, N::EndInit),
        stage(P::Started, W::AsksToFail, D::Run, N::End),
        stage(P::Started, W::AsksToSucceed, D::Run, N::End),
        stage(P::Started, W::Exits, D::Run, N::Exit),
        stage(P::Started, W::AsksForUnready, D::None, N::Stay),
        stage(P::Started, W::Always, D::Ready, N::BecomeReady),
        stage(P::Ready, W::AsksToFail, D::Run, N::End),
        stage(P::Ready, W::AsksToSucceed, D::Run, N::End),
        stage(P::Ready, W::Exits, D::Run, N::Exit),
        stage(P::Ready, W::AsksForUnready, D::None, N::BecomeUnready),
        stage(P::Exited, W::Always, D::BackOff, N::Restart),
    ]
};

impl When {
    fn fits(self, asks: &Asks) -> bool {
        let asks_for = |behaviour| asks.behaviour == behaviour;
        match self {
            Self::Always => true,
            Self::AsksForNothing => asks_for(Behaviour::Nothing),
            Self::AsksForPullError => asks_for(Behaviour::ImagePullError),
            Self::CanPull => !asks_for(Behaviour::ImagePullError),
            Self::AsksForUnready => asks_for(Behaviour::NeverReady),
            Self::AsksToFail => asks_for(Behaviour::Fail),
            Self::AsksToSucceed => asks_for(Behaviour::Succeed),
            Self::Exits => asks.run.is_some(),
            Self::IsStuck => asks.stop.is_none(),
        }
    }
}

/// What comes next for a pod and when; `None` if it stays as it is until something changes.
pub(super) fn next(
    life: &[Stage],
    asks: &Asks,
    pod: &Pod,
    status: &PodStatus,
) -> Option<(Timestamp, Next)> {
    let point = Point::of(pod, status);
    let since = since(point, pod, status);
    let fitting = life
        .iter()
        .filter(|stage| stage.at == point && stage.when.fits(asks));
    fitting
        .take_while(|stage| stage.next != Next::Stay)
        .map(|stage| (due(since, delay(stage.delay, asks, status)), stage.next))
        .min_by_key(|(at, _)| *at)
}

/// Stamps are whole seconds, rounded down: only when the next second has begun is it certain that
/// a delay is over.
fn due(since: Timestamp, delay: Duration) -> Timestamp {
    match delay.is_zero() {
        true => since,
        false => since
            .saturating_add(Duration::from_secs(1))
            .saturating_add(delay),
    }
}

fn delay(delay: Delay, asks: &Asks, status: &PodStatus) -> Duration {
    match delay {
        Delay::None => Duration::ZERO,
        Delay::Start => asks.start_delay,
        Delay::Init => asks.init_delay,
        Delay::Ready => asks.ready_delay,
        Delay::Run => asks.run.unwrap_or_default(),
        Delay::Stop => asks.stop.unwrap_or_default(),
        Delay::Fixed(delay) => delay,
        Delay::BackOff => {
            let delays = status.container_statuses.iter().map(back_off);
            delays.max().unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_never_shorter_than_asked_for() {
        let since = Timestamp::from_unix_seconds(100);
        assert_eq!(due(since, Duration::ZERO), since);
        let half = Duration::from_millis(500);
        // The stamp may have been made at 100.999: half a second later it is 101.499.
        assert_eq!(due(since, half), Timestamp::from_unix_micros(101_500_000));
    }

    #[test]
    fn every_point_but_the_last_leads_on() {
        let leads = |point| {
            LIFE.iter()
                .any(|stage| stage.at == point && stage.next != Next::Stay)
        };
        use Point::*;
        for point in [
            Bound,
            Creating,
            PullFailed,
            PullBackedOff,
            Initializing,
            Started,
            Ready,
            Exited,
            Stopping,
        ] {
            assert!(leads(point), "{point:?}");
        }
        assert!(!leads(Ended));
    }
}
