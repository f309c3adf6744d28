//! Frames: stretches of a file that are whole, or known not to be.
//!
//! A frame is what is made durable by one sync. Its head has the length and the checksum of its
//! body, and a checksum of its own that covers the place in the file as well, so bytes of a value
//! that look like a head are not mistaken for one.
//!
//! A file may end in zeros: room that was made ahead. What never reached the disk reads as zeros
//! too. The next frame is written only after the one before has been synced, so whatever is
//! followed by anything else was acknowledged, and damage there must be reported. Only the last
//! frame may be *torn*, because the process or the machine stopped before the sync returned: it is
//! cut off, ends in zeros, or misses whole sectors. A last frame that is there in full with other
//! content is not torn but damaged.

use crate::checksum::crc32c;

/// How many bytes the head of a frame takes.
pub(crate) const HEAD: usize = 16;

/// How large the body of a frame may be. Far above what a group of commits makes; a length beyond
/// it is nonsense.
pub(crate) const BODY_MAX: usize = 1 << 28;

const MAGIC: [u8; 4] = *b"frm1";

/// What the disk writes as a whole.
const SECTOR: u64 = 512;

/// What stands at a place of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A whole frame.
    Whole {
        /// What is in it.
        body: &'a [u8],
        /// Where the next one begins, counted from this one.
        length: usize,
    },
    /// Nothing, or zeros to the end of the file.
    End,
    /// The beginning of a write that did not come to its end, and nothing after it.
    Torn,
    /// Something that was written otherwise.
    Damaged(&'static str),
}

/// Makes a frame of a buffer whose first [`HEAD`] bytes are free for the head; the rest is the body.
/// `offset` is where it will stand, `file` the revision in the file's own head.
pub(crate) fn seal(buffer: &mut [u8], offset: u64, file: u64) {
    let Some((head, body)) = buffer.split_at_mut_checked(HEAD) else {
        return;
    };
    // Writers keep bodies below BODY_MAX, so the length fits.
    let length = body.len() as u32;
    head[..4].copy_from_slice(&MAGIC);
    head[4..8].copy_from_slice(&length.to_le_bytes());
    head[8..12].copy_from_slice(&crc32c(body).to_le_bytes());
    let own = head_checksum(&head[..12], offset, file);
    head[12..].copy_from_slice(&own.to_le_bytes());
}

/// Judges what stands at `offset`, where `rest` begins; `rest` reaches to the end of the file.
pub(crate) fn read(rest: &[u8], offset: u64, file: u64) -> Read<'_> {
    if is_zero(rest) {
        return Read::End;
    }
    let Some((length, checksum)) = head(rest, offset, file) else {
        // A body never is all zeros, so the write did not even get through the head.
        if is_zero(rest.get(HEAD..).unwrap_or_default()) {
            return Read::Torn;
        }
        return match has_missing_sector(&rest[..HEAD], offset) {
            false => Read::Damaged("the head of a record is not as it was written"),
            true if any_head(rest, offset, file) => {
                Read::Damaged("a record is missing, and others follow it")
            }
            true => Read::Torn,
        };
    };
    let Some((body, after)) = rest[HEAD..].split_at_checked(length) else {
        return Read::Torn;
    };
    if crc32c(body) == checksum {
        let length = HEAD + length;
        return Read::Whole { body, length };
    }
    let is_unfinished = body.last() == Some(&0) || has_missing_sector(body, offset + HEAD as u64);
    match is_zero(after) && is_unfinished {
        true => Read::Torn,
        false => Read::Damaged("a record is not as it was written"),
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The length and the checksum of the body, if a head stands here.
pub(crate) fn head(bytes: &[u8], offset: u64, file: u64) -> Option<(usize, u32)> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let (length, checksum, own) = (number(4)?, number(8)?, number(12)?);
    let length = length as usize;
    let is_head = bytes[..4] == MAGIC
        && length <= BODY_MAX
        && head_checksum(&bytes[..12], offset, file) == own;
    is_head.then_some((length, checksum))
}

fn head_checksum(head: &[u8], offset: u64, file: u64) -> u32 {
    let mut covered = [0; 28];
    covered[..12].copy_from_slice(head);
    covered[12..20].copy_from_slice(&offset.to_le_bytes());
    covered[20..].copy_from_slice(&file.to_le_bytes());
    crc32c(&covered)
}

fn any_head(rest: &[u8], offset: u64, file: u64) -> bool {
    let mut places = rest.windows(HEAD).enumerate();
    places.any(|(at, bytes)| bytes[..4] == MAGIC && head(bytes, offset + at as u64, file).is_some())
}

/// Whether some sector's part of `bytes`, which stand at `offset`, is all zeros.
fn has_missing_sector(bytes: &[u8], offset: u64) -> bool {
    let into_sector = (offset % SECTOR) as usize;
    let first = (SECTOR as usize - into_sector).min(bytes.len());
    let (first, others) = bytes.split_at(first);
    let is_missing = |sector: &[u8]| !sector.is_empty() && is_zero(sector);
    is_missing(first) || others.chunks(SECTOR as usize).any(is_missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 7;
    const START: u64 = 24;

    fn frame(body: &[u8], offset: u64) -> Vec<u8> {
        let mut buffer = vec![0; HEAD];
        buffer.extend_from_slice(body);
        seal(&mut buffer, offset, FILE);
        buffer
    }

    /// Two frames, one after the other, and where the second begins.
    fn two() -> (Vec<u8>, usize) {
        let mut bytes = frame(&[1; 1500], START);
        let second = bytes.len();
        bytes.extend(frame(&[2; 1500], START + second as u64));
        (bytes, second)
    }

    #[test]
    fn a_frame_is_read_back() {
        let (bytes, second) = two();
        let expected = Read::Whole {
            body: &[1; 1500],
            length: second,
        };
        assert_eq!(read(&bytes, START, FILE), expected);
        assert_eq!(read(&[], START, FILE), Read::End);
    }

    #[test]
    fn a_frame_that_is_cut_off_is_torn_whatever_room_there_is() {
        let bytes = frame(&[1; 700], START);
        for cut in 1..bytes.len() {
            assert_eq!(read(&bytes[..cut], START, FILE), Read::Torn, "at {cut}");
            let mut zeros = bytes.clone();
            zeros[cut..].fill(0);
            zeros.resize(2000, 0);
            assert_eq!(read(&zeros, START, FILE), Read::Torn, "zeros from {cut}");
        }
    }

    #[test]
    fn room_at_the_end_is_nothing() {
        assert_eq!(read(&[0; 3000], START, FILE), Read::End);
        assert_eq!(read(&[0; 3], START, FILE), Read::End);
        let mut bytes = frame(&[1; 40], START);
        bytes.resize(3000, 0);
        let expected = Read::Whole {
            body: &[1; 40],
            length: HEAD + 40,
        };
        assert_eq!(read(&bytes, START, FILE), expected);
    }

    #[test]
    fn a_last_frame_with_a_missing_sector_is_torn() {
        let (bytes, second) = two();
        let offset = START + second as u64;
        let last = &bytes[second..];
        let sector = (SECTOR - offset % SECTOR) as usize;
        for missing in [0..sector, sector..sector + SECTOR as usize] {
            let mut bytes = last.to_vec();
            bytes[missing].fill(0);
            assert_eq!(read(&bytes, offset, FILE), Read::Torn);
        }
    }

    #[test]
    fn a_frame_with_another_after_it_is_never_torn() {
        let (bytes, second) = two();
        for damage in [0..4, 4..8, 12..16, 0..488, 488..1000, 0..second] {
            let mut bytes = bytes.clone();
            bytes[damage.clone()].fill(0);
            let read = read(&bytes, START, FILE);
            assert!(matches!(read, Read::Damaged(_)), "{damage:?}: {read:?}");
        }
    }

    #[test]
    fn every_changed_bit_is_found() {
        let whole = frame(&[3; 40], START);
        for bit in 0..whole.len() * 8 {
            for room in [0, 1000] {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes.resize(whole.len() + room, 0);
                let read = read(&bytes, START, FILE);
                assert!(matches!(read, Read::Damaged(_)), "bit {bit}: {read:?}");
            }
        }
    }

    #[test]
    fn a_frame_belongs_to_its_place_and_its_file() {
        let bytes = frame(&[1; 40], START);
        assert_eq!(head(&bytes, START + 1, FILE), None);
        assert_eq!(head(&bytes, START, FILE + 1), None);
    }
}
