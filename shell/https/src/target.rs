//! The request target, decoded once: the same decoded path is authorized and looked up.

/// The path and query of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The path without its escapes.
    pub path: String,
    /// The query without its escapes, in order.
    pub query: Vec<(String, String)>,
}

impl Target {
    /// `None` when the path has a broken escape. Broken parts of the query are left out, as Go's
    /// `URL.Query` does. Bytes that are no text become marks, which are in no name.
    pub fn decode(uri: &http::Uri) -> Option<Self> {
        let path = unescaped(uri.path(), false)?;
        let parts = uri
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|part| !part.is_empty() && !part.contains(';'));
        let query = parts.filter_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Some((unescaped(key, true)?, unescaped(value, true)?))
        });
        Some(Self {
            path,
            query: query.collect(),
        })
    }

    /// The first value of a key; empty if there is none.
    pub fn value(&self, key: &str) -> &str {
        let mut pairs = self.query.iter().filter(|(name, _)| name == key);
        pairs.next().map_or("", |(_, value)| value.as_str())
    }

    /// All values of a key.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let pairs = self.query.iter().filter(move |(name, _)| name == key);
        pairs.map(|(_, value)| value.as_str())
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.query.iter().any(|(name, _)| name == key)
    }

    /// Whether whoever asks is a person: by `?pretty=`, else by the program.
    ///
    /// Upstream: `apiserver/pkg/endpoints/handlers/negotiation/negotiate.go`.
    pub fn is_for_people(&self, agent: &str) -> bool {
        match self.value("pretty") {
            "" => ["curl", "Wget", "Mozilla/5.0"]
                .iter()
                .any(|program| agent.starts_with(program)),
            asked => matches!(asked, "1" | "t" | "T" | "true" | "TRUE" | "True"),
        }
    }
}

/// Undoes `%xx`, and `+` for a space where that is the custom. `None` for a broken escape.
pub fn unescaped(text: &str, plus_is_space: bool) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                decoded.push(u8::try_from(high * 16 + low).ok()?);
            }
            b'+' if plus_is_space => decoded.push(b' '),
            other => decoded.push(other),
        }
    }
    Some(match String::from_utf8(decoded) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> Option<Target> {
        Target::decode(&uri.parse().unwrap())
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(target("/a%20b%2Fc+d").unwrap().path, "/a b/c+d");
        assert_eq!(target("/%ff%00").unwrap().path, "/\u{fffd}\0");
        for broken in ["/%", "/%6", "/%zz", "/%+1"] {
            assert_eq!(target(broken), None, "{broken}");
        }
    }

    #[test]
    fn broken_parts_of_a_query_are_left_out() {
        let asked = target("/a?labelSelector=a+in+%28b%2Cc%29&x&bad=%zz&a;b=1&x=2").unwrap();
        assert_eq!(asked.value("labelSelector"), "a in (b,c)");
        assert!(asked.has("x") && !asked.has("bad"));
        assert_eq!(asked.values("x").collect::<Vec<_>>(), ["", "2"]);
        assert_eq!(asked.query.len(), 3);
    }

    #[test]
    fn people_are_known_by_what_they_ask_or_by_their_program() {
        for (uri, agent, want) in [
            ("/a", "kubectl/v1.36", false),
            ("/a", "curl/8", true),
            ("/a", "Mozilla/5.0 (X11)", true),
            ("/a?pretty=true", "kubectl", true),
            ("/a?pretty=0", "curl/8", false),
            ("/a?pretty=maybe", "curl/8", false),
            ("/a?pretty", "curl/8", true),
        ] {
            let asked = target(uri).unwrap();
            assert_eq!(asked.is_for_people(agent), want, "{uri} {agent}");
        }
    }
}
