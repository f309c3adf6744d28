//! Where a page ended: the token by which the next one is asked for.
//!
//! It names the revision that the first page was read at, so that all pages together are one state,
//! and the last key, relative to what is listed, so that it opens nothing else.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine as _};
use flyball_storage::Revision;
use serde::{Deserialize, Serialize};

/// Where the last page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The revision of all pages.
    pub(crate) revision: Revision,
    /// The last key, without the prefix of the collection.
    pub(crate) after: String,
}

/// A token as JSON.
#[derive(Deserialize, Serialize)]
struct Written {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: u64,
    #[serde(default)]
    start: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl Token {
    /// The token as it is told, in upstream's form: JSON in base64 for URLs.
    pub(crate) fn write(&self) -> String {
        let written = Written {
            v: VERSION.to_owned(),
            rv: self.revision.0,
            start: format!("{}\u{0}", self.after),
        };
        // Numbers and texts can always be written.
        let json = serde_json::to_vec(&written).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Reads a token; the error is upstream's.
    pub(crate) fn read(token: &str) -> Result<Self, String> {
        let odd = |why: String| format!("continue key is not valid: {why}");
        let json = URL_SAFE_NO_PAD.decode(token).map_err(|error| {
            odd(match error {
                DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => {
                    format!("illegal base64 data at input byte {at}")
                }
                _ => format!("illegal base64 data at input byte {}", token.len()),
            })
        })?;
        let value = flyball_schema::read_json(&json).map_err(odd)?;
        let written: Written =
            serde_json::from_value(value).map_err(|error| odd(error.to_string()))?;
        if written.v != VERSION {
            return Err(format!(
                "continue key is not valid: server does not recognize this encoded version {}",
                written.v
            ));
        }
        if written.rv == 0 {
            let why = "incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
            return Err(odd(why.to_owned()));
        }
        if written.start.is_empty() {
            return Err(odd(
                "encoded start key empty (version meta.k8s.io/v1)".to_owned()
            ));
        }
        let key = written.start.trim_end_matches('\u{0}');
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(odd(written.start));
        }
        Ok(Self {
            revision: Revision(written.rv),
            after: key.to_owned(),
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
        assert_eq!(Token::read(&token.write()), Ok(token));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for (text, why) in [
            (
                "bm90IGEgdG9rZW4",
                "invalid character 'o' in literal null (expecting 'u')",
            ),
            ("!", "illegal base64 data at input byte 0"),
            (
                "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0",
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
        ] {
            let refused = Token::read(text).unwrap_err();
            assert_eq!(
                refused,
                format!("continue key is not valid: {why}"),
                "{text}"
            );
        }
    }
}
