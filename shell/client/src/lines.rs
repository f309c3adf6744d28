//! Cutting a stream of bytes into lines, with a bound on what a line may hold.

use bytes::{Buf, Bytes, BytesMut};

/// No object comes near this: servers refuse bodies of more than a few MiB.
const LINE_BYTES_MAX: usize = 64 << 20;

/// Gathers chunks and gives back whole lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: BytesMut,
    scanned: usize,
}

/// A line longer than any server sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Lines {
    /// Adds a chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.held.extend_from_slice(chunk);
    }

    /// The next whole line without its end, skipping empty ones.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, TooLong> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.held[self.scanned..]) else {
                self.scanned = self.held.len();
                return if self.scanned > LINE_BYTES_MAX {
                    Err(TooLong)
                } else {
                    Ok(None)
                };
            };
            let line = self.held.split_to(self.scanned + end).freeze();
            self.held.advance(1);
            self.scanned = 0;
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(line));
            }
        }
    }

    /// What is left when the stream has ended: a line that was cut off.
    pub(crate) fn remainder(&mut self) -> Option<Bytes> {
        let rest = self.held.split().freeze();
        self.scanned = 0;
        (!rest.iter().all(u8::is_ascii_whitespace)).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_may_cut_anywhere() {
        let text = b"one\ntwo\n\n  \nthree\nhalf";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut got = Vec::new();
            for chunk in text.chunks(size) {
                lines.push(chunk);
                while let Some(line) = lines.next().unwrap() {
                    got.push(line);
                }
            }
            assert_eq!(got, ["one", "two", "three"]);
            assert_eq!(lines.remainder().unwrap(), "half");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; LINE_BYTES_MAX + 1]);
        assert_eq!(lines.next(), Err(TooLong));
    }
}
