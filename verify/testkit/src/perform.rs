//! Carries out the actions of a stage, at the pace they ask for.

use flyball_plan::{Action, Actions, Answer, Pace};

use crate::World;

/// Is told of each action before it is tried (`None`) and afterwards (its answer).
pub(crate) type Watch<'a> =
    &'a mut dyn FnMut(&World, &Action, Option<&Answer>) -> Result<(), String>;

/// Runs all actions of a stage; an error from `watch` stops everything at once, as a crash would.
pub(crate) fn perform(
    world: &mut World,
    actions: &Actions,
    watch: Watch<'_>,
) -> Result<Vec<Answer>, String> {
    let mut answers = Vec::new();
    let mut batch = match actions.pace {
        Pace::InOrder | Pace::SlowStart => 1,
        Pace::Together => actions.items.len(),
    };
    let mut rest = actions.items.as_slice();
    let mut failed = false;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let skip = failed;
        for action in now {
            let answer = if skip {
                Answer::Skipped
            } else {
                watch(world, action, None)?;
                world.apply(action)
            };
            failed |= answer.error().is_some();
            watch(world, action, Some(&answer))?;
            answers.push(answer);
        }
        if actions.pace == Pace::SlowStart {
            batch *= 2;
        }
        rest = later;
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use flyball_api::views::Pod;
    use flyball_plan::{Body, Write};
    use serde_json::json;

    use super::*;
    use crate::Fault;

    /// Runs seven creates of which the third is refused; one letter per answer.
    fn fates(pace: Pace) -> String {
        let body = Body::of(&json!({"metadata": {"generateName": "a-"}}));
        let create: Action = Write::create(Pod::KIND, "default", body).into();
        let mut world = World::default();
        world.fail(
            2,
            Fault::Refused(flyball_api::ApiError::transport("refused")),
        );
        let actions = Actions {
            stage: "pods",
            index: 0,
            items: vec![create; 7],
            pace,
        };
        let answers = perform(&mut world, &actions, &mut |_, _, _| Ok(())).unwrap();
        let letter = |answer: &Answer| match answer {
            Answer::Done(_) => 'd',
            Answer::Skipped => '-',
            _ => 'f',
        };
        answers.iter().map(letter).collect()
    }

    #[test]
    fn a_failure_skips_what_the_pace_says() {
        assert_eq!(fates(Pace::InOrder), "ddf----");
        assert_eq!(fates(Pace::SlowStart), "ddf----");
        assert_eq!(fates(Pace::Together), "ddfdddd");
    }

    #[test]
    fn slow_start_finishes_the_batch_of_the_failure() {
        let body = Body::of(&json!({"metadata": {"generateName": "a-"}}));
        let create: Action = Write::create(Pod::KIND, "default", body).into();
        let mut world = World::default();
        world.fail(
            3,
            Fault::Refused(flyball_api::ApiError::transport("refused")),
        );
        let actions = Actions::slow_start("pods", vec![create; 9]);
        let answers = perform(&mut world, &actions, &mut |_, _, _| Ok(())).unwrap();
        let done = answers
            .iter()
            .filter(|answer| matches!(answer, Answer::Done(_)))
            .count();
        assert_eq!(done, 6, "1 + 2 + 3 of 4; the last two are skipped");
    }
}
