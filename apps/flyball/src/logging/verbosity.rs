//! `-v` and `--vmodule`: what is printed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};

/// How much is printed; shared, and changeable while the program runs.
#[derive(Clone, Debug)]
pub struct Verbosity {
    level: Arc<AtomicU32>,
    modules: Arc<[(String, u32)]>,
}

impl Verbosity {
    pub(super) fn new(level: u32, modules: &[(String, u32)]) -> Self {
        Self {
            level: Arc::new(AtomicU32::new(level)),
            modules: modules.into(),
        }
    }

    /// The level of `-v`.
    pub fn get(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    /// Changes the level of `-v` for every message from now on.
    pub fn set(&self, level: u32) {
        self.level.store(level, Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// Whether messages from this place are printed: at the level of `-v`, or of the first pattern
    /// of `--vmodule` that matches their source file if that is higher.
    pub(super) fn prints(&self, metadata: &Metadata<'_>) -> bool {
        let threshold = threshold(metadata);
        threshold <= self.get()
            || self
                .module_level(metadata.file())
                .is_some_and(|level| threshold <= level)
    }

    /// The most detailed level any place may be printed at.
    pub(super) fn level_max(&self) -> LevelFilter {
        let modules = self.modules.iter().map(|(_, level)| *level);
        match modules.fold(self.get(), u32::max) {
            0..2 => LevelFilter::INFO,
            2..4 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        }
    }

    fn module_level(&self, file: Option<&str>) -> Option<u32> {
        let file = file?;
        self.modules
            .iter()
            .find(|(pattern, _)| matches_file(pattern, file))
            .map(|(_, level)| *level)
    }
}

/// The verbosity from which messages of this place are printed; the table is in [`super`].
pub(super) fn threshold(metadata: &Metadata<'_>) -> u32 {
    let ours = metadata.target().starts_with("flyball");
    match (*metadata.level(), ours) {
        (Level::ERROR | Level::WARN, _) | (Level::INFO, true) => 0,
        (Level::INFO, false) | (Level::DEBUG, true) => 2,
        (Level::TRACE, true) => 4,
        (Level::DEBUG, false) => 8,
        (Level::TRACE, false) => 10,
    }
}

/// Whether a pattern with `*` and `?` matches a source file: its name without `.rs`, or, if the
/// pattern has a slash, the end of its path. A `mod.rs` goes by the name of its folder.
fn matches_file(pattern: &str, file: &str) -> bool {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let ends = std::iter::once(path).chain(path.match_indices('/').map(|(at, _)| &path[at + 1..]));
    if pattern.contains('/') {
        return ends
            .into_iter()
            .any(|end| matches(pattern.as_bytes(), end.as_bytes()));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    matches(pattern.as_bytes(), name.as_bytes())
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
        (Some((b'?', rest)), Some((_, tail))) => matches(rest, tail),
        (Some((want, rest)), Some((have, tail))) => want == have && matches(rest, tail),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches_file;

    #[test]
    fn patterns_match_file_names_and_ends_of_paths() {
        let file = "controllers/workloads/src/deployment/rolling.rs";
        for pattern in [
            "rolling",
            "roll*",
            "*ing",
            "r?lling",
            "deployment/rolling",
            "deployment/*",
            "*/src/*",
        ] {
            assert!(matches_file(pattern, file), "{pattern}");
        }
        for pattern in [
            "deployment",
            "rollin",
            "rolling.rs",
            "loyment/rolling",
            "src/rolling",
        ] {
            assert!(!matches_file(pattern, file), "{pattern}");
        }
        assert!(matches_file(
            "deployment",
            "controllers/workloads/src/deployment/mod.rs"
        ));
    }
}
