//! Where a page ended: the token by which the next one is asked for.
//!
//! It names the revision that the first page was read at, so that all pages together are one state,
//! and the last key, relative to what is listed, so that it opens nothing else.

use flyball_storage::Revision;

/// Where the last page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The revision of all pages.
    pub(crate) revision: Revision,
    /// The last key, without the prefix of the collection.
    pub(crate) after: String,
}

impl Token {
    /// The token as it is told: hexadecimal, so that it passes through any URL.
    pub(crate) fn write(&self) -> String {
        let text = format!("{}/{}", self.revision.0, self.after);
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a token; `None` if it is not one of ours.
    pub(crate) fn read(token: &str) -> Option<Self> {
        let pairs = token.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let text = String::from_utf8(bytes?).ok()?;
        let (revision, after) = text.split_once('/')?;
        Some(Self {
            revision: Revision(revision.parse().ok()?),
            after: after.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_as_it_was() {
        let token = Token {
            revision: Revision(42),
            after: "default/web/ä".to_owned(),
        };
        assert_eq!(Token::read(&token.write()), Some(token));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for text in ["", "zz", "3", "616263", "ü", "2f2f"] {
            assert_eq!(Token::read(text), None, "{text}");
        }
    }
}
