//! Messages that say the same again and again: printed a few times, then counted.
//!
//! Memory is bounded: at most [`ENTRIES_MAX`] different messages are remembered, each by at most
//! [`BODY_BYTES_MAX`] bytes of its text.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::Severity;

const WINDOW_MS: i64 = 10_000;
const PRINTED_MAX: u32 = 3;
pub(super) const ENTRIES_MAX: usize = 256;
const BODY_BYTES_MAX: usize = 256;

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Print,
    Count,
}

/// A message that was not printed for a while.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) severity: Severity,
    pub(super) body: String,
    pub(super) count: u64,
}

/// What was said lately.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    entries: HashMap<u64, Entry>,
    /// Counts of entries that had to make room, to be told next.
    evicted: Vec<Repeated>,
}

#[derive(Debug)]
struct Entry {
    severity: Severity,
    body: String,
    since_ms: i64,
    printed: u32,
    counted: u64,
}

impl Entry {
    fn told(self) -> Option<Repeated> {
        let Entry {
            severity,
            body,
            counted: count,
            ..
        } = self;
        (count > 0).then_some(Repeated {
            severity,
            body,
            count,
        })
    }
}

impl Repeats {
    /// Forgets what is older than the window, and returns the messages that were counted in it.
    pub(super) fn take_over(&mut self, now_ms: i64) -> Vec<Repeated> {
        let mut over = std::mem::take(&mut self.evicted);
        // A clock set back must not keep an entry for ever.
        let ended = |entry: &Entry| !(0..WINDOW_MS).contains(&(now_ms - entry.since_ms));
        over.extend(
            self.entries
                .extract_if(|_, entry| ended(entry))
                .filter_map(|(_, e)| e.told()),
        );
        over.sort_by(|a, b| a.body.cmp(&b.body));
        over
    }

    /// Decides about one message. Call [`take_over`](Self::take_over) first.
    pub(super) fn judge(&mut self, severity: Severity, body: &str, now_ms: i64) -> Verdict {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let key = hasher.finish();
        if let Some(entry) = self.entries.get_mut(&key) {
            if entry.printed < PRINTED_MAX {
                entry.printed += 1;
                return Verdict::Print;
            }
            entry.counted += 1;
            return Verdict::Count;
        }
        if self.entries.len() >= ENTRIES_MAX {
            self.evict_oldest();
        }
        let body = start_of(body).to_owned();
        self.entries.insert(
            key,
            Entry {
                severity,
                body,
                since_ms: now_ms,
                printed: 1,
                counted: 0,
            },
        );
        Verdict::Print
    }

    fn evict_oldest(&mut self) {
        let oldest = self
            .entries
            .iter()
            .min_by_key(|(_, entry)| entry.since_ms)
            .map(|(key, _)| *key);
        if let Some(entry) = oldest.and_then(|key| self.entries.remove(&key)) {
            self.evicted.extend(entry.told());
        }
    }
}

/// As much of a text as is remembered.
fn start_of(text: &str) -> &str {
    let whole_chars = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = whole_chars
        .take_while(|end| *end <= BODY_BYTES_MAX)
        .last()
        .unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(repeats: &mut Repeats, body: &str, now_ms: i64) -> Verdict {
        repeats.judge(Severity::Error, body, now_ms)
    }

    #[test]
    fn prints_three_times_then_counts_until_the_window_is_over() {
        let mut repeats = Repeats::default();
        let verdicts: Vec<Verdict> = (0..5).map(|i| say(&mut repeats, "a", i)).collect();
        use Verdict::{Count, Print};
        assert_eq!(verdicts, [Print, Print, Print, Count, Count]);
        assert_eq!(repeats.take_over(9_999), []);
        let told = Repeated {
            severity: Severity::Error,
            body: "a".to_owned(),
            count: 2,
        };
        assert_eq!(repeats.take_over(10_000), [told]);
        assert_eq!(say(&mut repeats, "a", 10_000), Print);
    }

    #[test]
    fn different_messages_do_not_count_together() {
        let mut repeats = Repeats::default();
        for i in 0..100 {
            assert_eq!(
                say(&mut repeats, &format!("message {i}"), 0),
                Verdict::Print
            );
        }
        assert_eq!(repeats.take_over(20_000), []);
    }

    #[test]
    fn memory_is_bounded_and_what_makes_room_is_told() {
        let mut repeats = Repeats::default();
        for _ in 0..10 {
            say(&mut repeats, "first", 0);
        }
        for i in 0..(2 * ENTRIES_MAX) {
            say(&mut repeats, &format!("{i} {}", "x".repeat(10_000)), 1);
        }
        assert_eq!(repeats.entries.len(), ENTRIES_MAX);
        assert!(
            repeats
                .entries
                .values()
                .all(|entry| entry.body.len() <= BODY_BYTES_MAX)
        );
        let told = repeats.take_over(2);
        assert_eq!((told.len(), told[0].count), (1, 7));
    }

    #[test]
    fn a_clock_set_back_does_not_silence_a_message_for_ever() {
        let mut repeats = Repeats::default();
        for _ in 0..4 {
            say(&mut repeats, "a", 1_000_000);
        }
        assert_eq!(repeats.take_over(0).len(), 1);
        assert_eq!(say(&mut repeats, "a", 0), Verdict::Print);
    }
}
