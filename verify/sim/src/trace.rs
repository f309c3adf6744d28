//! The trace of a run: a running sum over everything that happened, and a timeline for people.

use std::time::Duration;

use crate::chance::Sum;

/// What happened, summed up; as lines too, if somebody wants to read them.
#[derive(Debug, Default)]
pub struct Trace {
    sum: Sum,
    steps: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    /// A trace that keeps its lines.
    pub(crate) fn readable() -> Self {
        Self {
            lines: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Counts a step.
    pub(crate) fn step(&mut self, at: Duration) {
        self.steps += 1;
        self.add(&at.as_nanos().to_le_bytes());
    }

    /// Mixes something that happened into the sum.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.sum.add(bytes);
    }

    /// Adds a line for people; nothing is written if nobody reads.
    pub(crate) fn tell(&mut self, at: Duration, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{} {}", clock(at), line()));
        }
    }

    /// The sum: the same for the same seed, on every machine and in every build.
    pub fn hash(&self) -> u64 {
        self.sum.value()
    }

    /// How many steps were made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The timeline, if it was kept.
    pub fn lines(&self) -> &[String] {
        self.lines.as_deref().unwrap_or_default()
    }
}

/// Virtual time as people read it: hours, minutes, seconds, milliseconds.
pub(crate) fn clock(at: Duration) -> String {
    let seconds = at.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!(
        "{hours}:{minutes:02}:{:02}.{:03}",
        seconds % 60,
        at.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_while_nobody_reads() {
        let mut trace = Trace::default();
        trace.tell(Duration::ZERO, || unreachable!("nobody reads"));
        let mut read = Trace::readable();
        read.tell(Duration::from_millis(3_661_007), || "done".to_owned());
        assert_eq!(read.lines(), ["1:01:01.007 done"]);
        assert_eq!(trace.hash(), read.hash());
    }
}
