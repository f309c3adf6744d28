//! Nodes with more left are better, and nodes that are used evenly.
//!
//! Upstream: `plugins/noderesources/least_allocated.go` and `balanced_allocation.go`, with the
//! default resources CPU and memory, each of weight 1.

use super::normalize::SCORE_MAX;

/// CPU and memory.
pub(crate) type Pair = (i64, i64);

/// How much is left when so much is requested, from 0 to 100; a resource that the node does not
/// have is not looked at.
pub(crate) fn least_allocated(requested: Pair, allocatable: Pair) -> i64 {
    let of = |requested: i64, allocatable: i64| match allocatable {
        0 => None,
        has if requested > has => Some(0),
        has => Some(has.saturating_sub(requested).saturating_mul(SCORE_MAX) / has),
    };
    let scores = [
        of(requested.0, allocatable.0),
        of(requested.1, allocatable.1),
    ];
    let (sum, count) = scores
        .iter()
        .flatten()
        .fold((0, 0), |(sum, count), score| (sum + score, count + 1));
    if count == 0 { 0 } else { sum / count }
}

/// Whether a pod makes the use of CPU and memory more even: 75 if it makes no difference, up to
/// 100 if it does, down to 50 if it makes it worse.
pub(crate) fn balanced(asked: Pair, used: Pair, allocatable: Pair) -> i64 {
    let with = (
        used.0.saturating_add(asked.0),
        used.1.saturating_add(asked.1),
    );
    let half = SCORE_MAX / 2;
    half + (half + evenness(with, allocatable) - evenness(used, allocatable)) / 2
}

fn evenness(requested: Pair, allocatable: Pair) -> i64 {
    if allocatable.0 == 0 || allocatable.1 == 0 {
        return SCORE_MAX;
    }
    let fraction = |requested: i64, has: i64| (requested as f64 / has as f64).min(1.0);
    let cpu = fraction(requested.0, allocatable.0);
    let memory = fraction(requested.1, allocatable.1);
    let deviation = ((cpu - memory) / 2.0).abs();
    ((1.0 - deviation) * SCORE_MAX as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from upstream's `plugins/noderesources/least_allocated_test.go`: the score of the
    /// named situations there.
    #[test]
    fn the_emptier_node_scores_higher() {
        let cases = [
            (
                "nothing scheduled, nothing requested",
                (0, 0),
                (4000, 10000),
                100,
            ),
            (
                "resources requested, differently sized nodes",
                (3000, 5000),
                (4000, 10000),
                37,
            ),
            (
                "the same on the larger node",
                (3000, 5000),
                (6000, 10000),
                50,
            ),
            ("cpu is overcommitted", (6000, 5000), (4000, 10000), 25),
            ("no memory on the node", (3000, 5000), (4000, 0), 25),
            ("nothing on the node", (3000, 5000), (0, 0), 0),
        ];
        for (what, requested, allocatable, expected) in cases {
            assert_eq!(least_allocated(requested, allocatable), expected, "{what}");
        }
    }

    /// Ideas from upstream's `plugins/noderesources/balanced_allocation_test.go`.
    #[test]
    fn what_makes_use_more_even_scores_higher() {
        assert_eq!(balanced((0, 0), (3000, 5000), (6000, 10000)), 75);
        let better = balanced((0, 5000), (5000, 0), (10000, 10000));
        let worse = balanced((5000, 0), (5000, 0), (10000, 10000));
        assert_eq!((better, worse), (87, 62));
        assert_eq!(balanced((1000, 0), (0, 0), (4000, 0)), 75);
    }
}
