//! A request as it arrives here: who wants what, and how the answer should look.

use flyball_api::Timestamp;
use flyball_rbac::User;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What to do.
    pub method: Method,
    /// To what: the decoded path.
    pub path: &'a str,
    /// How: the decoded query, in order.
    pub query: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
    /// What the body is written in, as the header says it.
    pub content_type: &'a str,
    /// How the answer should look, as the header says it.
    pub accept: &'a str,
    /// Who asks.
    pub user: &'a User,
    /// The program that asks, as it introduced itself.
    pub agent: &'a str,
    /// When.
    pub now: Timestamp,
}

/// HTTP methods that mean something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Read or watch.
    Get,
    /// Create.
    Post,
    /// Replace.
    Put,
    /// Change parts.
    Patch,
    /// Remove.
    Delete,
    /// Like a read, but only for the head of its answer.
    Head,
    /// Which methods there are: nobody answers that here.
    Options,
    /// Any other.
    Other,
}

/// How objects are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Representation {
    /// As they are.
    #[default]
    Whole,
    /// Only their metadata, of one object.
    Metadata,
    /// Only their metadata, of a list.
    MetadataList,
    /// As rows of a table.
    Table,
    /// As they are; of discovery, everything at once.
    Discovery,
}

/// Draws random numbers: identities and the ends of generated names come from it.
pub struct Chance<'a>(pub &'a mut dyn FnMut() -> u64);

/// The alphabet of generated names: no vowels, so that no word comes out.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Chance<'_> {
    /// A random identity, version 4.
    pub(crate) fn uid(&mut self) -> String {
        let bits = (u128::from((self.0)()) << 64) | u128::from((self.0)());
        let bits = (bits & !(0xf << 76)) | (0x4 << 76);
        let bits = (bits & !(0x3 << 62)) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        let parts = [
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32),
        ];
        parts.join("-")
    }

    /// The end of a generated name.
    pub(crate) fn suffix(&mut self) -> String {
        letters((self.0)())
    }
}

/// The end of a generated name that follows from a number.
pub(crate) fn letters(mut bits: u64) -> String {
    let mut draw = || {
        let at = bits % ALPHABET.len() as u64;
        bits /= ALPHABET.len() as u64;
        char::from(ALPHABET[at as usize])
    };
    (0..5).map(|_| draw()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_uuids_of_version_4() {
        let mut ones = || u64::MAX;
        assert_eq!(
            Chance(&mut ones).uid(),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        let mut zeros = || 0;
        assert_eq!(
            Chance(&mut zeros).uid(),
            "00000000-0000-4000-8000-000000000000"
        );
    }

    #[test]
    fn suffixes_have_five_letters_of_the_alphabet() {
        let mut number = 1u64;
        let mut draw = || {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            number
        };
        for _ in 0..100 {
            let suffix = Chance(&mut draw).suffix();
            assert_eq!(suffix.len(), 5);
            assert!(
                suffix.bytes().all(|byte| ALPHABET.contains(&byte)),
                "{suffix}"
            );
        }
    }
}
