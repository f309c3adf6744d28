//! Scores are brought to a common scale before they are weighed against each other.
//!
//! Upstream: `plugins/helper/normalize_score.go`.

/// The best score of a rule.
pub(crate) const SCORE_MAX: i64 = 100;

/// Scales scores so that the highest is 100, and turns them round if less is better. If all are
/// nothing they stay so, or are all best when turned round.
pub(crate) fn normalize(scores: &mut [i64], less_is_better: bool) {
    let highest = scores.iter().copied().max().unwrap_or(0);
    for score in scores {
        let scaled = if highest == 0 {
            0
        } else {
            SCORE_MAX * *score / highest
        };
        *score = if less_is_better {
            SCORE_MAX - scaled
        } else {
            scaled
        };
    }
}

/// Spreads scores between the lowest and the highest over 0 to 100; equal ones are nothing.
/// Upstream: `plugins/interpodaffinity/scoring.go`, where scores may be negative.
pub(crate) fn stretch(scores: &mut [i64]) {
    let lowest = scores.iter().copied().min().unwrap_or(0);
    let range = scores.iter().copied().max().unwrap_or(0) - lowest;
    for score in scores {
        *score = if range == 0 {
            0
        } else {
            (SCORE_MAX as f64 * ((*score - lowest) as f64 / range as f64)) as i64
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from upstream's `plugins/helper/normalize_score_test.go`.
    #[test]
    fn scales_to_the_highest() {
        let cases: [(&[i64], bool, &[i64]); 5] = [
            (&[1, 2, 3, 4], false, &[25, 50, 75, 100]),
            (&[1, 2, 3, 4], true, &[75, 50, 25, 0]),
            (&[1000, 10, 20, 30], false, &[100, 1, 2, 3]),
            (&[0, 0], false, &[0, 0]),
            (&[0, 0], true, &[100, 100]),
        ];
        for (scores, less_is_better, expected) in cases {
            let mut scores = scores.to_vec();
            normalize(&mut scores, less_is_better);
            assert_eq!(scores, expected);
        }
    }

    #[test]
    fn stretches_between_the_ends() {
        let mut scores = [-5, 0, 5];
        stretch(&mut scores);
        assert_eq!(scores, [0, 50, 100]);
        let mut equal = [7, 7];
        stretch(&mut equal);
        assert_eq!(equal, [0, 0]);
    }
}
