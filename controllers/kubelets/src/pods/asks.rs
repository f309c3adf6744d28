//! What a pod asks for: by its annotations, by its images and commands, by its owner and by its restart policy.

use std::time::Duration;

use super::images;
use crate::Settings;
use crate::annotations::{
    BEHAVIOUR, EXIT_CODE, INIT_DELAY_MS, READY_DELAY_MS, RUN_MS, START_DELAY_MS, TERMINATION,
    millis,
};
use crate::views::{Pod, Program};

/// What a pod is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Ready,
    NeverReady,
    Fail,
    Succeed,
    CrashLoop,
    ImagePullError,
    /// Nothing, or a word that nobody defined.
    Nothing,
}

/// All that a pod asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asks {
    pub(super) behaviour: Behaviour,
    pub(super) start_delay: Duration,
    pub(super) init_delay: Duration,
    pub(super) ready_delay: Duration,
    /// How long its containers run; `None` for ever.
    pub(super) run: Option<Duration>,
    pub(super) exit_code: i32,
    /// How long it takes to stop; `None` for ever.
    pub(super) stop: Option<Duration>,
}

impl Asks {
    pub(super) fn of(settings: &Settings, pod: &Pod) -> Self {
        let annotations = &pod.metadata.annotations;
        let word = annotations.get(BEHAVIOUR);
        let behaviour = match word {
            None if !has_images(pod) => Behaviour::ImagePullError,
            None | Some("ready") => Behaviour::Ready,
            Some("never-ready") => Behaviour::NeverReady,
            Some("fail") => Behaviour::Fail,
            Some("succeed") => Behaviour::Succeed,
            Some("crash-loop") => Behaviour::CrashLoop,
            Some("image-pull-error") => Behaviour::ImagePullError,
            Some(_) => Behaviour::Nothing,
        };
        let run = millis(annotations, RUN_MS);
        let ready_delay = millis(annotations, READY_DELAY_MS);
        let exit_code = annotations
            .get(EXIT_CODE)
            .and_then(|code| code.parse().ok());
        // Whoever says what a pod does is taken at his word, also for a pod that usually ends.
        let usually_ends = pod.metadata.is_of_job || !pod.restarts_after(0);
        let ends = exit_code.is_some() || (word.is_none() && usually_ends);
        let says_nothing = word.is_none() && run.is_none() && exit_code.is_none();
        let programs = says_nothing.then(|| of_programs(pod)).flatten();
        let run = match (behaviour, programs) {
            // A program that ends at once is seen to run all the same.
            (Behaviour::Ready, Some((known, _))) => known.map(|known| known.max(settings.job_run)),
            // Those who say nothing of a run mean the delay of whatever the pod does.
            (Behaviour::Fail | Behaviour::Succeed, _) => {
                run.or(ready_delay).or(Some(Duration::ZERO))
            }
            (Behaviour::CrashLoop, _) => run.or(Some(Duration::ZERO)),
            _ => run.or(ends.then_some(settings.job_run)),
        };
        let exit_code_usual = match (behaviour, programs) {
            (Behaviour::Fail | Behaviour::CrashLoop, _) => 1,
            (_, Some((_, code))) => code,
            _ => 0,
        };
        let stop = match annotations.get(TERMINATION) {
            Some("stuck") => None,
            _ => Some(millis(annotations, TERMINATION).unwrap_or_default()),
        };
        Self {
            behaviour,
            start_delay: millis(annotations, START_DELAY_MS).unwrap_or_default(),
            init_delay: millis(annotations, INIT_DELAY_MS).unwrap_or_default(),
            ready_delay: ready_delay.unwrap_or_default(),
            run,
            exit_code: exit_code.unwrap_or(exit_code_usual),
            stop,
        }
    }
}

/// How long its containers run and what they exit with, if all commands are known. Containers end together here: with
/// the last of them, and badly if one of them does.
fn of_programs(pod: &Pod) -> Option<(Option<Duration>, i32)> {
    let (mut run, mut exit_code) = (Some(Duration::ZERO), 0);
    for container in &pod.spec.containers {
        match container.program {
            Program::Unknown => return None,
            Program::Runs => run = None,
            Program::Exits { after, code } => {
                run = run.map(|run| run.max(after));
                if exit_code == 0 {
                    exit_code = code;
                }
            }
        }
    }
    (!pod.spec.containers.is_empty()).then_some((run, exit_code))
}

/// Whether all its images can be pulled.
fn has_images(pod: &Pod) -> bool {
    let all = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    all.map(|container| container.image.as_str())
        .all(images::exists)
}

#[cfg(test)]
mod tests {
    use flyball_api::Labels;

    use super::*;
    use crate::views::Container;

    fn asks(pairs: &[(&str, &str)], policy: &str, is_of_job: bool) -> Asks {
        let mut pod = Pod::default();
        pod.metadata.annotations = Labels::from_iter(pairs.iter().copied());
        pod.metadata.is_of_job = is_of_job;
        pod.spec.restart_policy = policy.into();
        Asks::of(&Settings::default(), &pod)
    }

    #[test]
    fn a_pod_ends_if_a_job_or_its_restart_policy_or_an_annotation_says_so() {
        let second = Some(Duration::from_secs(1));
        let ms = |ms| Some(Duration::from_millis(ms));
        /// Annotations, restart policy, whether a Job owns it; run time and exit code.
        type Case<'a> = (
            &'a [(&'a str, &'a str)],
            &'a str,
            bool,
            Option<Duration>,
            i32,
        );
        let failing = [(BEHAVIOUR, "fail"), (READY_DELAY_MS, "40")];
        let cases: &[Case<'_>] = &[
            (&[], "Always", false, None, 0),
            (&[], "", false, None, 0),
            (&[], "OnFailure", false, second, 0),
            (&[], "Never", false, second, 0),
            (&[], "Always", true, second, 0),
            (&[(BEHAVIOUR, "ready")], "Never", true, None, 0),
            (&[(RUN_MS, "70")], "Always", false, ms(70), 0),
            (&[(EXIT_CODE, "3")], "Always", false, second, 3),
            (&[(BEHAVIOUR, "crash-loop")], "Always", false, ms(0), 1),
            (&failing, "Always", false, ms(40), 1),
            (&[(BEHAVIOUR, "succeed")], "Always", false, ms(0), 0),
        ];
        for (pairs, policy, of_job, run, code) in cases {
            let asks = asks(pairs, policy, *of_job);
            assert_eq!(
                (asks.run, asks.exit_code),
                (*run, *code),
                "{pairs:?} {policy}"
            );
        }
    }

    #[test]
    fn a_stuck_pod_never_stops_and_an_odd_word_stops_at_once() {
        let stop = |value| asks(&[(TERMINATION, value)], "", false).stop;
        assert_eq!(stop("stuck"), None);
        assert_eq!(stop("250"), Some(Duration::from_millis(250)));
        assert_eq!(stop("soon"), Some(Duration::ZERO));
    }

    #[test]
    fn an_image_that_does_not_exist_is_not_pulled_unless_the_pod_says_what_it_does() {
        let behaviour = |word: Option<&str>, image: &str| {
            let mut pod = Pod::default();
            let word = word.map(|word| (BEHAVIOUR, word));
            pod.metadata.annotations = Labels::from_iter(word);
            pod.spec.containers = Box::new([Container {
                image: image.into(),
                ..Container::default()
            }]);
            Asks::of(&Settings::default(), &pod).behaviour
        };
        assert_eq!(behaviour(None, "web:404"), Behaviour::ImagePullError);
        assert_eq!(behaviour(None, "web:v1"), Behaviour::Ready);
        assert_eq!(behaviour(Some("ready"), "web:404"), Behaviour::Ready);
    }

    #[test]
    fn known_commands_say_how_long_a_pod_runs_and_what_it_exits_with() {
        let exits = |seconds, code| Program::Exits {
            after: Duration::from_secs(seconds),
            code,
        };
        let second = Duration::from_secs(1);
        let asks = |pairs: &[(&str, &str)], programs: &[Program]| {
            let mut pod = Pod::default();
            pod.metadata.annotations = Labels::from_iter(pairs.iter().copied());
            pod.spec.restart_policy = "Never".into();
            let container = |program: &Program| Container {
                program: *program,
                ..Container::default()
            };
            pod.spec.containers = programs.iter().map(container).collect();
            let asks = Asks::of(&Settings::default(), &pod);
            (asks.run, asks.exit_code)
        };
        let run_ms = [(RUN_MS, "40")];
        let exit_code = [(EXIT_CODE, "9")];
        let ready = [(BEHAVIOUR, "ready")];
        for (pairs, programs, expected) in [
            (&[][..], &[exits(30, 3)][..], (Some(30 * second), 3)),
            (&[], &[exits(0, 0)], (Some(second), 0)),
            (&[], &[Program::Runs], (None, 0)),
            (&[], &[exits(2, 0), exits(5, 1)], (Some(5 * second), 1)),
            (&[], &[exits(2, 1), Program::Runs], (None, 1)),
            (&[], &[exits(2, 1), Program::Unknown], (Some(second), 0)),
            (&run_ms, &[exits(2, 1)], (Some(second / 25), 0)),
            (&exit_code, &[exits(2, 1)], (Some(second), 9)),
            (&ready, &[exits(2, 1)], (None, 0)),
        ] {
            assert_eq!(asks(pairs, programs), expected, "{pairs:?} {programs:?}");
        }
    }

    #[test]
    fn a_word_that_nobody_defined_asks_for_nothing() {
        let behaviour = |value| asks(&[(BEHAVIOUR, value)], "", false).behaviour;
        assert_eq!(behaviour("pending"), Behaviour::Nothing);
        assert_eq!(behaviour("dance"), Behaviour::Nothing);
        assert_eq!(behaviour("ready"), Behaviour::Ready);
    }
}
