//! Object identities: 16 bytes where the server uses UUIDs, any text otherwise.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of one incarnation of an object.
///
/// Servers hand out lower-case UUIDs; those are kept as their 16 bytes. Anything else is kept as
/// text, because a UID is opaque by contract. Printing always gives back what was read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Uuid([u8; 16]),
    Text(Box<str>),
}

impl Uid {
    /// Reads a UID; every text is one, the empty text means "none given".
    pub fn new(text: &str) -> Self {
        match uuid_bytes(text.as_bytes()) {
            Some(bytes) => Self(Repr::Uuid(bytes)),
            None => Self(Repr::Text(text.into())),
        }
    }

    /// Whether no UID was given.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }
}

impl Uid {
    /// A shorter text that stands for the same identity: 22 characters for a UUID, which a
    /// [`Text`](crate::Text) holds without an allocation. For index values, not for people.
    pub fn compact(&self) -> crate::Text {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        match &self.0 {
            Repr::Text(text) => crate::Text::from(&**text),
            Repr::Uuid(bytes) => {
                let number = u128::from_be_bytes(*bytes);
                (0..22)
                    .map(|i| char::from(DIGITS[(number >> (6 * i)) as usize % 64]))
                    .collect()
            }
        }
    }
}

impl Default for Uid {
    fn default() -> Self {
        Self(Repr::Text("".into()))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Text(text) => f.write_str(text),
            Repr::Uuid(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    if matches!(i, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uid({self})")
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Uid;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a UID")
            }
            fn visit_str<E>(self, text: &str) -> Result<Uid, E> {
                Ok(Uid::new(text))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// The 16 bytes of a UUID in exactly the form the server prints; `None` for every other text, so
/// that printing stays the inverse of reading.
fn uuid_bytes(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0u8; 16];
    let mut digits = 0;
    for (i, &c) in text.iter().enumerate() {
        if matches!(i, 8 | 13 | 18 | 23) {
            if c != b'-' {
                return None;
            }
            continue;
        }
        let digit = match c {
            b'0'..=b'9' => c - b'0',
            b'a'..=b'f' => c - b'a' + 10,
            _ => return None,
        };
        bytes[digits / 2] = bytes[digits / 2] << 4 | digit;
        digits += 1;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_read() {
        for text in [
            "",
            "7e2f0a51-3f6b-4f0c-9d52-0a1b2c3d4e5f",
            "7E2F0A51-3F6B-4F0C-9D52-0A1B2C3D4E5F",
            "7e2f0a513f6b4f0c9d520a1b2c3d4e5f",
            "not-a-uuid",
            "7e2f0a51-3f6b-4f0c-9d52-0a1b2c3d4e5g",
        ] {
            assert_eq!(Uid::new(text).to_string(), text);
        }
    }

    #[test]
    fn the_compact_form_is_short_and_tells_identities_apart() {
        let a = Uid::new("7e2f0a51-3f6b-4f0c-9d52-0a1b2c3d4e5f").compact();
        let b = Uid::new("fe2f0a51-3f6b-4f0c-9d52-0a1b2c3d4e5f").compact();
        assert_eq!(a.len(), 22);
        assert!(!a.is_heap_allocated());
        assert_ne!(a, b);
    }

    #[test]
    fn takes_24_bytes() {
        assert_eq!(size_of::<Uid>(), 24);
    }
}
