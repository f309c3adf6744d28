//! The request target, decoded once. The same decoded path is authorized and routed: two decodings would be a hole.

/// The path and query of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
}

impl Target {
    /// `None` when the path has a broken escape or is not UTF-8: such a request is refused, never guessed at. Broken
    /// parts of the query are left out, as Go's `URL.Query` does.
    pub(crate) fn decode(uri: &http::Uri) -> Option<Self> {
        let path = percent_decode(uri.path(), false)?;
        Some(Self {
            path,
            query: decode_query(uri.query().unwrap_or_default()),
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.query.iter().any(|(key, _)| key == name)
    }

    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.query
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

fn decode_query(query: &str) -> Vec<(String, String)> {
    let pairs = query
        .split('&')
        .filter(|part| !part.is_empty() && !part.contains(';'));
    let decoded = pairs.filter_map(|part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        Some((percent_decode(key, true)?, percent_decode(value, true)?))
    });
    decoded.collect()
}

/// Undoes `%xx`, and `+` for a space where that is the custom. `None` for a broken escape or a result that is not
/// UTF-8.
pub(crate) fn percent_decode(text: &str, plus_is_space: bool) -> Option<String> {
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
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> Option<Target> {
        Target::decode(&uri.parse().unwrap())
    }

    #[test]
    fn the_path_is_decoded_before_anyone_looks_at_it() {
        assert_eq!(target("/%6detrics").unwrap().path, "/metrics");
        assert_eq!(target("/a+b%2Fc").unwrap().path, "/a+b/c");
    }

    #[test]
    fn a_broken_escape_in_the_path_is_refused() {
        for broken in ["/%", "/%6", "/%zz", "/%ff", "/%+1"] {
            assert_eq!(target(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_query_keeps_repeated_keys_and_drops_broken_parts() {
        let asked = target("/healthz?verbose&exclude=a+b&exclude=%63&bad=%zz&x;y=1").unwrap();
        assert!(asked.has("verbose"));
        assert!(!asked.has("bad"));
        assert_eq!(asked.values("exclude").collect::<Vec<_>>(), ["a b", "c"]);
        assert_eq!(asked.query.len(), 3);
    }
}
