//! A sorted collection whose copies are free.
//!
//! Two levels: a vector of chunks, each a sorted vector of at most [`CHUNK_MAX`] entries, both
//! behind `Arc`. Cloning the collection clones one pointer; a write copies the top vector and one
//! chunk, and only while such a clone is alive. So readers keep whole, unchanging states of a cache
//! with a hundred thousand objects while it goes on changing, at a few microseconds per write and
//! next to no memory: an entry costs its own size and little more.
//!
//! Entries carry their own key. Every operation takes `by`, which says where an entry stands
//! relative to the wanted place: `Less` is before it. All calls on one collection must agree on one
//! total order.

use std::cmp::Ordering;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Entries per chunk: large enough to make the top vector small, small enough to copy at a whim.
pub(crate) const CHUNK_MAX: usize = 128;

type Chunk<E> = Arc<Vec<E>>;

/// Where an entry is, or would go: chunk, then place in the chunk.
type Place = (usize, usize);

/// A sorted collection with constant-time clones.
// Invariant: no chunk is empty, none holds more than CHUNK_MAX entries, and reading all chunks one
// after the other gives the entries in order.
pub(crate) struct Sorted<E> {
    chunks: Arc<Vec<Chunk<E>>>,
    len: usize,
}

impl<E> Clone for Sorted<E> {
    fn clone(&self) -> Self {
        Self {
            chunks: self.chunks.clone(),
            len: self.len,
        }
    }
}

impl<E> Default for Sorted<E> {
    fn default() -> Self {
        Self {
            chunks: Arc::default(),
            len: 0,
        }
    }
}

impl<E> Sorted<E> {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The entry at exactly the wanted place.
    pub(crate) fn get(&self, by: impl Fn(&E) -> Ordering) -> Option<&E> {
        let (chunk, at) = self.find(by).ok()?;
        self.chunks.get(chunk)?.get(at)
    }

    /// All entries, in order.
    pub(crate) fn iter(&self) -> Iter<'_, E> {
        Iter {
            chunks: &self.chunks,
            at: (0, 0),
            end: (self.chunks.len(), 0),
        }
    }

    /// The run of entries for which `by` says `Equal`, in order.
    pub(crate) fn range(&self, by: impl Fn(&E) -> Ordering) -> Iter<'_, E> {
        Iter {
            chunks: &self.chunks,
            at: self.first_not(|entry| by(entry) == Ordering::Less),
            end: self.first_not(|entry| by(entry) != Ordering::Greater),
        }
    }

    /// The place of the first entry that is not `before`; entries before it all are.
    fn first_not(&self, before: impl Fn(&E) -> bool) -> Place {
        let after = self
            .chunks
            .partition_point(|chunk| chunk.first().is_some_and(&before));
        let Some(chunk) = after.checked_sub(1) else {
            return (0, 0);
        };
        match self.chunks[chunk].partition_point(before) {
            end if end == self.chunks[chunk].len() => (after, 0),
            at => (chunk, at),
        }
    }

    /// Where the wanted entry is, or else where it would be inserted.
    fn find(&self, by: impl Fn(&E) -> Ordering) -> Result<Place, Place> {
        let after = self
            .chunks
            .partition_point(|chunk| chunk.first().is_some_and(|e| by(e) != Ordering::Greater));
        let chunk = after.saturating_sub(1);
        match self.chunks.get(chunk) {
            None => Err((0, 0)),
            Some(entries) => match entries.binary_search_by(by) {
                Ok(at) => Ok((chunk, at)),
                Err(at) => Err((chunk, at)),
            },
        }
    }
}

impl<E: Clone> Sorted<E> {
    /// Puts an entry in its place and returns the one that was there.
    pub(crate) fn insert(&mut self, entry: E, by: impl Fn(&E) -> Ordering) -> Option<E> {
        self.insert_unless(entry, by, |_| false).unwrap_or_default()
    }

    /// Puts an entry in its place unless the one that is there is to `stay`; returns that one if
    /// it went, and nothing at all if it stayed.
    pub(crate) fn insert_unless(
        &mut self,
        entry: E,
        by: impl Fn(&E) -> Ordering,
        stay: impl FnOnce(&E) -> bool,
    ) -> Option<Option<E>> {
        match self.find(by) {
            Ok((chunk, at)) => {
                if stay(&self.chunks[chunk][at]) {
                    return None;
                }
                let chunks = Arc::make_mut(&mut self.chunks);
                let place = &mut Arc::make_mut(&mut chunks[chunk])[at];
                Some(Some(std::mem::replace(place, entry)))
            }
            Err((chunk, at)) => {
                insert_at(Arc::make_mut(&mut self.chunks), chunk, at, entry);
                self.len += 1;
                Some(None)
            }
        }
    }

    /// Changes the entry at exactly the wanted place; `false` if there is none.
    pub(crate) fn change(
        &mut self,
        by: impl Fn(&E) -> Ordering,
        change: impl FnOnce(&mut E),
    ) -> bool {
        let Ok((chunk, at)) = self.find(by) else {
            return false;
        };
        let chunks = Arc::make_mut(&mut self.chunks);
        change(&mut Arc::make_mut(&mut chunks[chunk])[at]);
        true
    }

    /// Takes the entry at exactly the wanted place out.
    pub(crate) fn remove(&mut self, by: impl Fn(&E) -> Ordering) -> Option<E> {
        let (chunk, at) = self.find(by).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let entry = Arc::make_mut(&mut chunks[chunk]).remove(at);
        self.len -= 1;
        shrink_around(chunks, chunk);
        Some(entry)
    }
}

fn insert_at<E: Clone>(chunks: &mut Vec<Chunk<E>>, mut chunk: usize, mut at: usize, entry: E) {
    if chunks.is_empty() {
        chunks.push(Arc::new(vec![entry]));
        return;
    }
    if chunks[chunk].len() == CHUNK_MAX {
        if at == CHUNK_MAX && chunk + 1 == chunks.len() {
            // Servers list in order: appending must leave full chunks behind, not half-full ones.
            chunks.push(Arc::new(vec![entry]));
            return;
        }
        let half = CHUNK_MAX / 2;
        let upper = Arc::make_mut(&mut chunks[chunk]).split_off(half);
        chunks.insert(chunk + 1, Arc::new(upper));
        if at > half {
            chunk += 1;
            at -= half;
        }
    }
    let entries = Arc::make_mut(&mut chunks[chunk]);
    if entries.len() == entries.capacity() {
        // A copied chunk has no room to spare; plain doubling would overshoot the chunk's bound.
        let room = (entries.len() * 2).clamp(4, CHUNK_MAX);
        entries.reserve_exact(room - entries.len());
    }
    entries.insert(at, entry);
}

/// Drops a chunk that became empty, and joins it with a neighbour when both are nearly so.
fn shrink_around<E: Clone>(chunks: &mut Vec<Chunk<E>>, chunk: usize) {
    if chunks[chunk].is_empty() {
        chunks.remove(chunk);
        return;
    }
    let joint = |left: usize| {
        let right = chunks.get(left + 1)?;
        (chunks[left].len() + right.len() <= CHUNK_MAX / 2).then_some(left)
    };
    let Some(left) = joint(chunk).or_else(|| joint(chunk.checked_sub(1)?)) else {
        return;
    };
    let right = chunks.remove(left + 1);
    Arc::make_mut(&mut chunks[left]).extend_from_slice(&right);
}

/// Entries in order; see [`Sorted::iter`] and [`Sorted::range`].
pub(crate) struct Iter<'a, E> {
    chunks: &'a [Chunk<E>],
    at: Place,
    end: Place,
}

impl<'a, E> Iterator for Iter<'a, E> {
    type Item = &'a E;

    fn next(&mut self) -> Option<&'a E> {
        if self.at >= self.end {
            return None;
        }
        let chunk = self.chunks.get(self.at.0)?;
        let entry = chunk.get(self.at.1)?;
        self.at.1 += 1;
        if self.at.1 == chunk.len() {
            self.at = (self.at.0 + 1, 0);
        }
        Some(entry)
    }
}
