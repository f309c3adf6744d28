//! What is to be done about a namespace on its way out, from the first question to its end.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::Namespace;
use flyball_plan::{Action, Actions, Answer, Answers, Step, Target};

use super::content::{Portion, Stages};
use super::findings::{Findings, since};
use super::live::Live;
use super::observe::Observation;
use super::resources::{PORTION, Resources};
use super::{conditions, status};

/// How old an answer may be that is not about this namespace alone: it was left alone for longer
/// than that, so whatever is in it was there by then.
pub(super) const AGE_MAX: Duration = Duration::from_secs(1);

const PODS: Stages = Stages {
    survey: "pods anywhere",
    look: "pods",
    delete: "delete pods",
    each: "delete each pod",
    verify: "pods left",
};

/// More resources than all of these hold cannot be emptied, and the namespace does not go.
const OTHERS: [Stages; 4] = [
    Stages {
        survey: "anywhere",
        look: "content",
        delete: "delete content",
        each: "delete each",
        verify: "content left",
    },
    Stages {
        survey: "anywhere 2",
        look: "content 2",
        delete: "delete content 2",
        each: "delete each 2",
        verify: "content left 2",
    },
    Stages {
        survey: "anywhere 3",
        look: "content 3",
        delete: "delete content 3",
        each: "delete each 3",
        verify: "content left 3",
    },
    Stages {
        survey: "anywhere 4",
        look: "content 4",
        delete: "delete content 4",
        each: "delete each 4",
        verify: "content left 4",
    },
];

pub(super) fn step(seen: &Observation, answers: &Answers, now: Timestamp) -> Step {
    match decide(seen, answers, now) {
        Ok(step) | Err(step) => step,
    }
}

/// An early end and the last step are both steps; `?` leads to the former.
fn decide(seen: &Observation, answers: &Answers, now: Timestamp) -> Result<Step, Step> {
    let mut live = ask(seen, answers)?;
    if live.uid() != seen.namespace.metadata.uid {
        return Err(Step::rest(status::another()));
    }
    let Some(deleted_at) = live.deleted_at() else {
        return Err(Step::rest(status::stays()));
    };
    if live.phase() != "Terminating" {
        live.set_phase("Terminating");
        written(answers, "phase", &mut live, Live::update_status)?;
    }
    if live.is_finalized() {
        return Err(Step::rest(status::finalized()));
    }
    let found = empty(seen, &live, answers, since(deleted_at, now))?;
    if let Some(updated) = conditions::updated(live.conditions(), &found, now) {
        live.set_conditions(updated);
        written(answers, "conditions", &mut live, Live::update_status)?;
    }
    let report = status::found(&found);
    if found.has_failed() {
        return Err(Step::retry(found.error(), report));
    }
    if found.unfinished {
        return Err(Step::rest_for(Duration::ZERO, report));
    }
    if !found.remaining.is_empty() {
        return Err(Step::rest_for(found.pause(), report));
    }
    written(answers, "finalize", &mut live, Live::finalize)?;
    Ok(Step::rest(status::empty()))
}

/// The namespace as the server has it.
fn ask(seen: &Observation, answers: &Answers) -> Result<Live, Step> {
    let Some(round) = answers.stage("ask") else {
        let target = Target::of(Namespace::KIND, &seen.namespace.metadata);
        return Err(Step::Do(Actions::in_order(
            "ask",
            vec![Action::Ask { target }],
        )));
    };
    match round.answers.first() {
        Some(Answer::Read(found)) => {
            Live::read(found).map_err(|why| Step::retry(why, status::unreadable()))
        }
        Some(Answer::Failed(error)) if error.is_not_found() => Err(Step::rest(status::gone())),
        Some(Answer::Failed(error)) => Err(Step::retry(error, status::unreadable())),
        _ => Err(Step::retry("no answer", status::unreadable())),
    }
}

/// Makes a write to the namespace, unless it was made already in this sync.
fn written(
    answers: &Answers,
    stage: &'static str,
    live: &mut Live,
    write: fn(&Live) -> Action,
) -> Result<(), Step> {
    let Some(round) = answers.stage(stage) else {
        return Err(Step::Do(Actions::in_order(stage, vec![write(live)])));
    };
    match round.first_error() {
        Some(error) if error.is_not_found() => Err(Step::rest(status::gone())),
        Some(error) => Err(Step::retry(error, status::unwritten())),
        None => {
            if let Some(written) = round.written().next() {
                live.set_version(&written.resource_version);
            }
            Ok(())
        }
    }
}

/// Empties the namespace as far as that goes: pods first, everything else when there are none.
fn empty(
    seen: &Observation,
    live: &Live,
    answers: &Answers,
    since: Duration,
) -> Result<Findings, Step> {
    let Some(round) = answers.stage("discover") else {
        let discover = Action::Discover { age_max: AGE_MAX };
        return Err(Step::Do(Actions::in_order("discover", vec![discover])));
    };
    let resources = Resources::of(round.answers.first());
    let mut found = Findings {
        discovery_failure: resources.failure,
        parsing_failure: resources.malformed,
        ..Findings::default()
    };
    let pods = [(&PODS, resources.pods.as_slice())];
    let others = OTHERS.iter().zip(resources.others.chunks(PORTION));
    for (stages, resources) in pods.into_iter().chain(others) {
        let portion = Portion::new(live.name(), &seen.sparse, resources, stages, answers);
        if let Some(actions) = portion.next(since, &mut found) {
            return Err(Step::Do(actions));
        }
        // Nothing else is touched before it is certain that there is no pod any more.
        let is_pods = stages.look == PODS.look;
        let uncertain = resources.is_empty() && found.discovery_failure.is_some();
        let pods_stay = !found.remaining.is_empty() || !found.failures.is_empty() || uncertain;
        if (is_pods && pods_stay) || found.unfinished {
            return Ok(found);
        }
    }
    let seen = OTHERS.len() * PORTION;
    if resources.others.len() > seen {
        let (all, words) = (resources.others.len(), "more resources than can be emptied");
        found.failures.push(format!("{words}: {all}"));
    }
    Ok(found)
}
