//! "Did you mean …?": the known names closest to a mistyped one.

/// At most three candidates within a third of the word's length in edits, closest first; the others
/// are no further off than one edit more than the closest.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let wanted: Vec<char> = word.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    let mut close: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|name| {
            (
                edits(&wanted, &name.to_lowercase().chars().collect::<Vec<_>>()),
                name,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    close.sort();
    close.dedup();
    let best = close.first().map_or(0, |(distance, _)| *distance);
    let alike = close
        .into_iter()
        .filter(|(distance, _)| *distance <= best + 1);
    alike.take(3).map(|(_, name)| name).collect()
}

/// The suggestion to append to an error, or nothing if no name is close.
pub(super) fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, candidates)[..] {
        [] => String::new(),
        ref names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// The number of single-character insertions, deletions and replacements between two words.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_differs_by_a_few_letters_and_nothing_else() {
        let names = [
            "deployment-controller",
            "replicaset-controller",
            "job-controller",
        ];
        assert_eq!(
            nearest("deploymnet-controller", names),
            ["deployment-controller"]
        );
        assert_eq!(nearest("zebra", names), Vec::<&str>::new());
        assert_eq!(suggestion("zebra", names), "");
    }
}
