//! The data folder.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Where state is kept unless a folder is named: in the user's data folder.
pub(super) fn by_default() -> anyhow::Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = given("XDG_DATA_HOME") {
        return Ok(PathBuf::from(folder).join("flyball"));
    }
    let home = given("HOME").context(
        "there is no data folder: neither XDG_DATA_HOME nor HOME is set; name one with --data-dir, or use --ephemeral",
    )?;
    Ok(PathBuf::from(home).join(".local/share/flyball"))
}

/// Whether a plane was here before.
pub(super) fn was_used(folder: &Path) -> bool {
    folder.join("store").exists()
}
