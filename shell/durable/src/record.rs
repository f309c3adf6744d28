//! Commits and items as bytes. Numbers are little-endian; texts and values follow their length.

use bytes::Bytes;
use flyball_storage::{Item, Key, Revision};

use crate::{Commit, Write};

const DELETE: u8 = 0;
const PUT: u8 = 1;

/// How many bytes a commit takes.
pub(crate) fn commit_length(commit: &Commit) -> usize {
    let write_length = |write: &Write| match write {
        Write::Put { key, bytes, .. } => 1 + 4 + key.len() + 8 + 8 + 4 + bytes.len(),
        Write::Delete { key } => 1 + 4 + key.len(),
    };
    8 + 4 + commit.writes.iter().map(write_length).sum::<usize>()
}

/// Writes a commit. Frames are bounded, so lengths fit into 32 bits.
pub(crate) fn put_commit(buffer: &mut Vec<u8>, commit: &Commit) {
    put_u64(buffer, commit.revision.0);
    put_u32(buffer, commit.writes.len());
    for write in &commit.writes {
        match write {
            Write::Put {
                key,
                created,
                version,
                bytes,
            } => {
                buffer.push(PUT);
                put_bytes(buffer, key.as_bytes());
                put_u64(buffer, created.0);
                put_u64(buffer, *version);
                put_bytes(buffer, bytes);
            }
            Write::Delete { key } => {
                buffer.push(DELETE);
                put_bytes(buffer, key.as_bytes());
            }
        }
    }
}

/// Writes an item.
pub(crate) fn put_item(buffer: &mut Vec<u8>, item: &Item<impl AsRef<[u8]>>) {
    put_bytes(buffer, item.key.as_bytes());
    put_u64(buffer, item.created.0);
    put_u64(buffer, item.modified.0);
    put_u64(buffer, item.version);
    put_bytes(buffer, item.value.as_ref());
}

pub(crate) fn put_u64(buffer: &mut Vec<u8>, number: u64) {
    buffer.extend_from_slice(&number.to_le_bytes());
}

fn put_u32(buffer: &mut Vec<u8>, number: usize) {
    buffer.extend_from_slice(&(number as u32).to_le_bytes());
}

fn put_bytes(buffer: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(buffer, bytes.len());
    buffer.extend_from_slice(bytes);
}

/// Reads records from the body of a frame. `None` means that the body ends early or says something
/// that is never written; checksums held, so this is not damage but another program's doing.
pub(crate) struct Reader<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Reader { body, at: 0 }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.body.len()
    }

    /// Reads a commit. Values are copied, so that none keeps the whole frame in memory.
    pub(crate) fn commit(&mut self) -> Option<Commit> {
        let mut writes = Vec::new();
        let revision = self.each_write(|write, _| writes.push(write))?;
        Some(Commit { revision, writes })
    }

    /// Reads a commit, write by write; with each comes where its value begins in the body.
    pub(crate) fn each_write(&mut self, mut take: impl FnMut(Write, usize)) -> Option<Revision> {
        let revision = Revision(self.u64()?);
        for _ in 0..self.u32()? {
            let is_put = match self.take(1)? {
                [DELETE] => false,
                [PUT] => true,
                _ => return None,
            };
            let key = self.key()?;
            if !is_put {
                take(Write::Delete { key }, self.at);
                continue;
            }
            let created = Revision(self.u64()?);
            let version = self.u64()?;
            let bytes = self.bytes()?;
            let value_at = self.at - bytes.len();
            let write = Write::Put {
                key,
                created,
                version,
                bytes: Bytes::copy_from_slice(bytes),
            };
            take(write, value_at);
        }
        Some(revision)
    }

    /// Reads an item.
    pub(crate) fn item(&mut self) -> Option<Item<Bytes>> {
        Some(Item {
            key: self.key()?,
            created: Revision(self.u64()?),
            modified: Revision(self.u64()?),
            version: self.u64()?,
            value: Bytes::copy_from_slice(self.bytes()?),
        })
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn key(&mut self) -> Option<Key> {
        let text = std::str::from_utf8(self.bytes()?).ok()?;
        Some(text.into())
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.body.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write() -> impl Strategy<Value = Write> {
        let key = "[a-z/é]{0,20}".prop_map(|key| Key::from(key.as_str()));
        let bytes = prop::collection::vec(any::<u8>(), 0..50).prop_map(Bytes::from);
        prop_oneof![
            key.clone().prop_map(|key| Write::Delete { key }),
            (key, any::<u64>(), any::<u64>(), bytes).prop_map(|(key, created, version, bytes)| {
                Write::Put {
                    key,
                    created: Revision(created),
                    version,
                    bytes,
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_commit_is_read_back_and_no_part_of_it_is_a_whole_one(
            revision in any::<u64>(),
            writes in prop::collection::vec(write(), 0..5),
        ) {
            let commit = Commit { revision: Revision(revision), writes };
            let mut buffer = Vec::new();
            put_commit(&mut buffer, &commit);
            prop_assert_eq!(buffer.len(), commit_length(&commit));
            let mut reader = Reader::new(&buffer);
            prop_assert_eq!(reader.commit(), Some(commit));
            prop_assert!(reader.is_at_end());
            for cut in 0..buffer.len() {
                prop_assert_eq!(Reader::new(&buffer[..cut]).commit(), None);
            }
        }

        #[test]
        fn nonsense_is_refused_without_harm(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut reader = Reader::new(&bytes);
            while reader.commit().is_some() {}
            let mut reader = Reader::new(&bytes);
            while reader.item().is_some() {}
        }
    }
}
