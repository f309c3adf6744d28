//! Tells what upstream answers by chance: it is asked again.
//!
//! Some answers of upstream depend on the order of a Go map, or on whether its cache has seen the last write. A
//! difference is such a one if the same sequence, sent once more, gets another answer from upstream in that place, and
//! that answer is ours. An answer that upstream repeats stays a difference.

use anyhow::Result;

use super::Run;
use super::compare::Difference;
use super::replay::{Asked, Replayed, Trail};

/// How often upstream is asked again: an order of two is the other one but for one time in 64.
const TIMES: usize = 6;

/// What these differences are called.
pub(super) const TITLE: &str = "What upstream answers by chance";

impl Run<'_> {
    /// Takes out the differences that are upstream's chance; gives how many they are.
    pub(super) async fn take_chance(
        &mut self,
        trail: &Trail<'_>,
        differences: &mut Vec<Difference>,
    ) -> Result<usize> {
        let found = differences.len();
        let before: Vec<&Asked> = trail.before.iter().collect();
        for time in 0..TIMES {
            let replayed = self.replay(trail, &before, &format!("a{time}")).await?;
            differences.retain(|one| !is_chance(one, &replayed));
            if differences.is_empty() {
                break;
            }
        }
        Ok(found - differences.len())
    }
}

/// Whether upstream has answered as we do, and otherwise than before, to the same requests.
fn is_chance(difference: &Difference, replayed: &Replayed) -> bool {
    let is_in = |all: &[Difference]| all.iter().any(|one| one.place == difference.place);
    let is_same_sequence = replayed.agreed && replayed.repeated;
    is_same_sequence && is_in(&replayed.changes) && !is_in(&replayed.differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &str) -> Difference {
        Difference {
            place: place.to_owned(),
            theirs: "1".to_owned(),
            ours: "2".to_owned(),
        }
    }

    #[test]
    fn chance_is_what_upstream_changes_into_our_answer() {
        let replayed = |differences: &[&str], changes: &[&str]| Replayed {
            agreed: true,
            repeated: true,
            differences: differences.iter().map(|place| at(place)).collect(),
            changes: changes.iter().map(|place| at(place)).collect(),
        };
        let chance = |replayed: &Replayed| is_chance(&at("body.a"), replayed);
        assert!(chance(&replayed(&[], &["body.a"])));
        assert!(!chance(&replayed(&[], &["body.b"])));
        assert!(!chance(&replayed(&["body.a"], &["body.a"])));
        assert!(!chance(&Replayed {
            repeated: false,
            ..replayed(&[], &["body.a"])
        }));
    }
}
