//! What is right and wrong about a transcript.

use super::plain::{plain, squeezed};
use super::play::{Played, Transcript};
use super::script::{ClientScript, Step};

/// The verdict on one transcript.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What was not as it must be, with the step and its output.
    pub(super) faults: Vec<String>,
    /// How many steps the script says to be apart from the reference.
    pub(super) apart: usize,
}

/// Holds a transcript against its script and, where there is one, against the reference's.
pub(super) fn judge(
    script: &ClientScript,
    ours: &Transcript,
    theirs: Option<&Transcript>,
) -> Verdict {
    let mut verdict = Verdict::default();
    for (number, (step, played)) in script.steps.iter().zip(&ours.steps).enumerate() {
        let mut wrong = expectations(step, played);
        if let Some(reference) = theirs.and_then(|theirs| theirs.steps.get(number)) {
            match &step.apart {
                Some(_) => verdict.apart += 1,
                None => wrong.extend(differences(played, reference)),
            }
        }
        if !wrong.is_empty() {
            verdict
                .faults
                .push(report(number, step, played, &wrong.join("\n")));
        }
    }
    verdict
}

fn expectations(step: &Step, played: &Played) -> Vec<String> {
    let mut wrong = Vec::new();
    match played.code {
        Some(code) if code == step.exit => {}
        Some(code) => wrong.push(format!("ended with {code} instead of {}", step.exit)),
        None => wrong.push(format!("did not end within {} s", step.seconds)),
    }
    let output = squeezed(&played.output);
    let contains = |words: &str| output.contains(squeezed(words).trim_end());
    for words in step.says.each() {
        if !contains(words) {
            wrong.push(format!("does not say {words:?}"));
        }
    }
    for words in step.lacks.each() {
        if contains(words) {
            wrong.push(format!("says {words:?}"));
        }
    }
    wrong
}

/// The lines that only one side has, in order; a side's repetitions count.
fn differences(ours: &Played, theirs: &Played) -> Vec<String> {
    const SHOWN_MAX: usize = 12;
    let mut found = Vec::new();
    if ours.code != theirs.code {
        found.push(format!(
            "the reference ends with {:?}, ours with {:?}",
            theirs.code, ours.code
        ));
    }
    let (ours, theirs) = (plain(&ours.output), plain(&theirs.output));
    if ours == theirs {
        return found;
    }
    let only = |these: &str, those: &str, sign: &str| -> Vec<String> {
        let mut others: Vec<&str> = those.lines().collect();
        let mut only = Vec::new();
        for line in these.lines() {
            match others.iter().position(|other| *other == line) {
                Some(place) => {
                    others.swap_remove(place);
                }
                None => only.push(format!("{sign} {line}")),
            }
        }
        only
    };
    let mut lines = only(&theirs, &ours, "reference:");
    lines.extend(only(&ours, &theirs, "ours:     "));
    if lines.is_empty() {
        lines.push("the same lines in another order".to_owned());
    }
    let more = lines.len().saturating_sub(SHOWN_MAX);
    lines.truncate(SHOWN_MAX);
    if more > 0 {
        lines.push(format!("… and {more} lines more"));
    }
    found.extend(lines);
    found
}

fn report(number: usize, step: &Step, played: &Played, wrong: &str) -> String {
    const OUTPUT_LINES_MAX: usize = 15;
    let mut text = format!("step {}: {}\n", number + 1, step.run.trim());
    for line in wrong.lines() {
        text.push_str(&format!("    ! {line}\n"));
    }
    for line in played.output.lines().take(OUTPUT_LINES_MAX) {
        text.push_str(&format!("    | {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn verdict(step: &str, ours: (Option<i32>, &str), theirs: Option<&str>) -> Vec<String> {
        let script: ClientScript =
            serde_saphyr::from_str(&format!("story: s\nsteps:\n- {step}")).unwrap();
        let transcript = |code, output: &str| Transcript {
            script: String::new(),
            steps: vec![Played {
                code,
                output: output.to_owned(),
            }],
            took: Duration::ZERO,
        };
        let theirs = theirs.map(|output| transcript(Some(0), output));
        judge(&script, &transcript(ours.0, ours.1), theirs.as_ref()).faults
    }

    #[test]
    fn code_and_words_must_be_as_the_script_says() {
        let step = "{run: x, says: a b, lacks: c}";
        assert!(verdict(step, (Some(0), "a   b"), None).is_empty());
        for (ours, complaint) in [
            ((Some(1), "a b"), "ended with 1 instead of 0"),
            ((None, "a b"), "did not end within 30 s"),
            ((Some(0), "a"), "does not say \"a b\""),
            ((Some(0), "a b c"), "says \"c\""),
        ] {
            let faults = verdict(step, ours, None);
            assert!(faults[0].contains(complaint), "{faults:?}");
        }
    }

    #[test]
    fn the_reference_must_say_the_same_unless_the_script_knows_why_not() {
        let ours = (Some(0), "created 3s ago\nb");
        assert!(verdict("{run: x}", ours, Some("created 5s ago\nb")).is_empty());
        let faults = verdict("{run: x}", ours, Some("created 5s ago\nc"));
        assert!(faults[0].contains("reference: c"), "{faults:?}");
        assert!(faults[0].contains("ours:      b"), "{faults:?}");
        assert!(verdict("{run: x, apart: why}", ours, Some("c")).is_empty());
    }
}
