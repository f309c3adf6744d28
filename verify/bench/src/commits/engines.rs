//! The embedded engines, each used as its documentation says for writes that must survive.

use std::path::Path;

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use redb::{ReadableDatabase as _, ReadableTableMetadata as _, TableDefinition};

use super::grouped::{Engine, Pair};

/// fjall: a log-structured merge tree with a journal.
pub(super) struct Fjall {
    database: Database,
    items: Keyspace,
}

impl Fjall {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let database = Database::builder(folder).open()?;
        let items = database.keyspace("items", KeyspaceCreateOptions::default)?;
        Ok(Fjall { database, items })
    }

    /// Reads everything, as a start would.
    pub(super) fn count(&self) -> Result<usize> {
        let mut count = 0;
        for guard in self.items.iter() {
            guard.into_inner()?;
            count += 1;
        }
        Ok(count)
    }
}

impl Engine for Fjall {
    fn commit(&mut self, pairs: Vec<Pair>) -> Result<()> {
        let mut batch = self
            .database
            .batch()
            .durability(Some(PersistMode::SyncData));
        for (key, value) in pairs {
            batch.insert(&self.items, key.as_str(), value);
        }
        Ok(batch.commit()?)
    }
}

const ITEMS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("items");

/// redb: copy-on-write B-trees in one file.
pub(super) struct Redb {
    database: redb::Database,
}

impl Redb {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let database = redb::Database::create(folder.join("items.redb"))?;
        Ok(Redb { database })
    }

    /// Reads everything, as a start would.
    pub(super) fn count(&self) -> Result<usize> {
        let reading = self.database.begin_read()?;
        let items = reading.open_table(ITEMS)?;
        let mut count = 0;
        let mut bytes = 0;
        for pair in items.range::<&str>(..)? {
            bytes += pair?.1.value().to_vec().len();
            count += 1;
        }
        anyhow::ensure!(bytes > 0 && items.len()? == count as u64, "redb miscounts");
        Ok(count)
    }
}

impl Engine for Redb {
    fn commit(&mut self, pairs: Vec<Pair>) -> Result<()> {
        // Durability::Immediate is the default.
        let writing = self.database.begin_write()?;
        {
            let mut items = writing.open_table(ITEMS)?;
            for (key, value) in &pairs {
                items.insert(key.as_str(), value.as_slice())?;
            }
        }
        Ok(writing.commit()?)
    }
}
