//! Warnings, cut as upstream cuts them: each at 256 characters and all at 4,096 once they are too long together.
//!
//! Upstream: `apiserver/pkg/endpoints/filters/warning.go`.

use std::collections::HashSet;

/// The characters that all warnings of an answer may have before they are cut.
const TOTAL_MAX: usize = 4 * 1024;
/// The characters of a warning that is cut.
const ITEM_MAX: usize = 256;

/// Makes warnings what is sent of them: each text once, none that is empty, cut if they are too long together.
pub(crate) fn cut(warnings: &mut Vec<String>) {
    if warnings.is_empty() {
        return;
    }
    let mut seen = HashSet::new();
    warnings.retain(|warning| !warning.is_empty() && seen.insert(warning.clone()));
    let (mut whole, mut cut, mut count) = (0, 0, 0);
    for warning in warnings.iter() {
        // The one that goes beyond the total is the first that is cut, and is sent.
        if whole > TOTAL_MAX && cut >= TOTAL_MAX {
            break;
        }
        let length = warning.chars().count();
        whole += length;
        cut += length.min(ITEM_MAX);
        count += 1;
    }
    if whole <= TOTAL_MAX {
        return;
    }
    warnings.truncate(count);
    for warning in warnings {
        if let Some((end, _)) = warning.char_indices().nth(ITEM_MAX) {
            warning.truncate(end);
        }
    }
}

/// The room that is left for warnings: what would be cut need not be found. For rules that warn of pairs of entries.
#[derive(Default)]
pub(crate) struct Room {
    taken: usize,
}

impl Room {
    /// Takes note of a warning.
    pub(crate) fn take(&mut self, warning: &str) {
        self.taken += warning.chars().take(ITEM_MAX).count();
    }

    /// Whether no further warning of the same rule can be in an answer.
    pub(crate) fn is_full(&self) -> bool {
        self.taken > TOTAL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::{ITEM_MAX, TOTAL_MAX};

    fn cut(mut warnings: Vec<String>) -> Vec<String> {
        super::cut(&mut warnings);
        warnings
    }

    fn texts(count: usize, length: usize) -> Vec<String> {
        (0..count).map(|at| format!("{at:0length$}")).collect()
    }

    #[test]
    fn what_fits_is_sent_whole_and_once() {
        let long = "x".repeat(TOTAL_MAX);
        assert_eq!(cut(vec![long.clone(), String::new(), long.clone()]), [long]);
        assert_eq!(cut(texts(16, ITEM_MAX)), texts(16, ITEM_MAX));
    }

    #[test]
    fn what_is_too_long_together_is_cut() {
        let long = "ä".repeat(1 << 20);
        assert_eq!(cut(vec![long]), ["ä".repeat(256)]);
        let warnings = cut(texts(1_000, 300));
        assert_eq!(warnings.len(), 16);
        assert!(warnings.iter().all(|warning| warning.len() == 256));
        assert_eq!(warnings.iter().map(String::len).sum::<usize>(), 4_096);
        // The one that goes beyond the total is the last.
        assert_eq!(cut(texts(1_000, 250)).len(), 17);
    }
}
