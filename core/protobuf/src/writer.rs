//! The wire format, written: tags, numbers and lengths at the end of a buffer.

use crate::wire::Wire;

/// A text, bytes or a message that is written already.
pub(crate) fn bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    tag(out, number, Wire::Length);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A whole number.
pub(crate) fn whole(out: &mut Vec<u8>, number: u32, value: i64) {
    tag(out, number, Wire::Varint);
    // Negative numbers are written with all 64 bits.
    varint(out, value as u64);
}

/// A number that may have a fraction.
pub(crate) fn double(out: &mut Vec<u8>, number: u32, value: f64) {
    tag(out, number, Wire::Fixed64);
    out.extend(value.to_le_bytes());
}

/// A message, which `write` appends.
///
/// Its length stands before it and is known after it: then it is moved up by the few bytes that the length takes, which
/// costs less than to write it elsewhere or to measure it first.
pub(crate) fn message(
    out: &mut Vec<u8>,
    number: u32,
    write: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    tag(out, number, Wire::Length);
    let start = out.len();
    write(out)?;
    let end = out.len();
    varint(out, (end - start) as u64);
    let taken = out.len() - end;
    if let Some(written) = out.get_mut(start..) {
        written.rotate_right(taken);
    }
    Some(())
}

fn tag(out: &mut Vec<u8>, number: u32, wire: Wire) {
    varint(out, u64::from(number) << 3 | u64::from(wire.number()));
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_after_its_length() {
        for length in [0, 1, 127, 128, 16_384] {
            let inner = vec![7; length];
            let (mut one, mut other) = (vec![1], vec![1]);
            bytes(&mut one, 3, &inner);
            message(&mut other, 3, |out| {
                out.extend(&inner);
                Some(())
            })
            .unwrap();
            assert_eq!(one, other, "{length}");
        }
    }

    #[test]
    fn negative_numbers_have_all_their_bits() {
        let mut out = Vec::new();
        whole(&mut out, 1, -1);
        assert_eq!(out, [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }
}
