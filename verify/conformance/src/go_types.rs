//! The tables of Go's types that `core/schema` embeds, made from upstream's own modules.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::upstream::Upstream;

/// Where the tables are kept.
const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../core/schema/src/go_types"
);

/// The tables, by the words for which upstream's types are asked.
const TABLES: [&str; 2] = ["decoded", "shown"];

/// Writes the tables, or says which of them are not current.
///
/// # Errors
/// When the program cannot be built or run, or when a table is not current and may not be written.
pub fn go_types(may_write: bool) -> Result<()> {
    let program = Upstream::types()?;
    for table in TABLES {
        let told = Command::new(&program).arg(table).output()?;
        if !told.status.success() {
            bail!("{}: {}", program.display(), told.status);
        }
        let path = Path::new(FOLDER).join(format!("{table}.txt"));
        let shown = path.display();
        if may_write {
            std::fs::write(&path, &told.stdout).with_context(|| format!("cannot write {shown}"))?;
        } else if std::fs::read(&path).with_context(|| format!("cannot read {shown}"))?
            != told.stdout
        {
            bail!("{shown} is not current: run `conformance go-types`");
        }
    }
    Ok(())
}
