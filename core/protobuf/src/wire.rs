//! The wire format: numbers, lengths and tags, read from the front of a slice.

use crate::error::ProtobufFault;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Varint,
    Fixed64,
    Length,
    StartGroup,
    EndGroup,
    Fixed32,
}

impl Wire {
    /// The number that stands for it in a tag.
    pub(crate) fn number(self) -> u8 {
        match self {
            Wire::Varint => 0,
            Wire::Fixed64 => 1,
            Wire::Length => 2,
            Wire::StartGroup => 3,
            Wire::EndGroup => 4,
            Wire::Fixed32 => 5,
        }
    }
}

/// The part of a message that is not read yet.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A message that begins and ends with these bytes.
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Whether everything is read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The number of the next field and how it is written; nothing at the end.
    pub(crate) fn tag(&mut self) -> Result<Option<(u32, Wire)>, ProtobufFault> {
        if self.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let (number, wire) = (tag >> 3, (tag & 7) as u8);
        let illegal = ProtobufFault::IllegalTag { number, wire };
        // The highest number that protobuf knows.
        const NUMBER_MAX: u64 = (1 << 29) - 1;
        if number == 0 || number > NUMBER_MAX {
            return Err(illegal);
        }
        let wire = match wire {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Length,
            3 => Wire::StartGroup,
            4 => Wire::EndGroup,
            5 => Wire::Fixed32,
            _ => return Err(illegal),
        };
        Ok(Some((number as u32, wire)))
    }

    /// A number of up to 64 bits, seven to a byte.
    pub(crate) fn varint(&mut self) -> Result<u64, ProtobufFault> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.fixed()?;
            // As upstream does, bits beyond the 64th are dropped.
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProtobufFault::IntegerOverflow)
    }

    /// So many bytes.
    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ProtobufFault> {
        let (first, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(ProtobufFault::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Bytes after their length.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], ProtobufFault> {
        let length = usize::try_from(self.varint()?).map_err(|_| ProtobufFault::Truncated)?;
        let (first, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(ProtobufFault::Truncated)?;
        self.rest = rest;
        Ok(first)
    }

    /// Passes over a value, as is done with fields that nobody knows.
    pub(crate) fn skip(&mut self, wire: Wire) -> Result<(), ProtobufFault> {
        let mut wire = wire;
        let mut groups_open = 0usize;
        loop {
            match wire {
                Wire::Varint => drop(self.varint()?),
                Wire::Fixed64 => drop(self.fixed::<8>()?),
                Wire::Length => drop(self.bytes()?),
                Wire::Fixed32 => drop(self.fixed::<4>()?),
                Wire::StartGroup => groups_open += 1,
                Wire::EndGroup => {
                    groups_open = groups_open.checked_sub(1).ok_or(ProtobufFault::EndGroup)?;
                }
            }
            if groups_open == 0 {
                return Ok(());
            }
            (_, wire) = self.tag()?.ok_or(ProtobufFault::Truncated)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_with_the_byte_whose_high_bit_is_clear() {
        for (bytes, value) in [
            (&[0][..], Ok(0)),
            (&[0x7f], Ok(127)),
            (&[0xac, 0x02], Ok(300)),
            (&[0xff; 9][..], Err(ProtobufFault::Truncated)),
            (&[0xff; 10][..], Err(ProtobufFault::IntegerOverflow)),
            (&[], Err(ProtobufFault::Truncated)),
        ] {
            assert_eq!(Reader::new(bytes).varint(), value, "{bytes:?}");
        }
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Reader::new(&minus_one).varint(), Ok(u64::MAX));
    }

    #[test]
    fn a_length_beyond_the_end_is_an_early_end() {
        assert_eq!(Reader::new(&[2, b'a', b'b']).bytes(), Ok(&b"ab"[..]));
        assert_eq!(
            Reader::new(&[3, b'a', b'b']).bytes(),
            Err(ProtobufFault::Truncated)
        );
    }

    #[test]
    fn tags_have_a_number_from_one_and_a_known_way_of_writing() {
        assert_eq!(Reader::new(&[]).tag(), Ok(None));
        assert_eq!(Reader::new(&[0x0a]).tag(), Ok(Some((1, Wire::Length))));
        for byte in [0x02, 0x0e, 0x0f] {
            assert!(matches!(
                Reader::new(&[byte]).tag(),
                Err(ProtobufFault::IllegalTag { .. })
            ));
        }
    }

    #[test]
    fn skipping_passes_over_groups_with_all_that_is_in_them() {
        // Field 1 as a group that holds field 2, itself a group, and field 3, a number; then one byte more.
        let mut reader = Reader::new(&[0x0b, 0x13, 0x14, 0x18, 5, 0x0c, 9]);
        let (_, wire) = reader.tag().unwrap().unwrap();
        reader.skip(wire).unwrap();
        assert_eq!(reader.varint(), Ok(9));
        assert_eq!(
            Reader::new(&[]).skip(Wire::EndGroup),
            Err(ProtobufFault::EndGroup)
        );
        assert_eq!(
            Reader::new(&[0x13]).skip(Wire::StartGroup),
            Err(ProtobufFault::Truncated)
        );
    }
}
