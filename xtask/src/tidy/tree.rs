//! The repository's files as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Every file and folder of the repository, with paths relative to its top folder and separated by `/`.
///
/// Build output and version-control data are left out. Files that are not UTF-8 are known by path only.
#[derive(Debug, Default)]
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the tree under `root`.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree of the given files, for tests of checks.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            let folders = path
                .match_indices('/')
                .map(|(end, _)| path[..end].to_owned());
            tree.paths.extend(folders);
            tree.paths.insert((*path).to_owned());
            tree.texts.insert((*path).to_owned(), (*text).to_owned());
        }
        tree
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), String> {
        let broken = |error| format!("cannot read {}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(broken)? {
            let entry = entry.map_err(broken)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if matches!(name.as_str(), "target" | ".git") {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type().map_err(broken)?.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                self.texts.insert(path.clone(), text);
            }
            self.paths.insert(path);
        }
        Ok(())
    }

    /// The text files, in order of path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every file and folder, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Whether there is a file or folder of that path. The top folder is the empty path.
    pub(super) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }
}

/// The folder of `path`, without a trailing slash; empty for a file at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of `path`.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// `folder/name`, where the empty folder is the top.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
