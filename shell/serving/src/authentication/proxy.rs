//! A front proxy that authenticated its caller and says so in headers. Its own certificate is what makes it credible.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::HeaderValue;
use rustls_pki_types::CertificateDer;

use super::certificate::Subject;
use super::{Objection, Opinion, User};
use crate::trust::Trust;
use flyball_https::unescaped;

/// The user a credible proxy names. Without a proxy CA, a certificate or a user name there is no opinion.
pub(super) fn opinion(
    trust: &Trust,
    peer: &[CertificateDer<'static>],
    headers: &HeaderMap,
) -> Opinion {
    let (Some(proxy), [leaf, intermediates @ ..]) = (&trust.proxy, peer) else {
        return Ok(None);
    };
    proxy
        .authority
        .verify(leaf, intermediates)
        .map_err(|error| Objection(format!("verifying the proxy's certificate: {error}")))?;
    let common_name = Subject::read(leaf)?.common_name;
    let names = &proxy.names;
    if !names.allowed_names.is_empty() && !names.allowed_names.contains(&common_name) {
        let why = format!("subject with cn={common_name} is not in the allowed list");
        return Err(Objection(why));
    }
    let name = first_value(headers, &names.username_headers)?;
    if name.is_empty() {
        return Ok(None);
    }
    Ok(Some(User {
        name,
        uid: first_value(headers, &names.uid_headers)?,
        groups: all_values(headers, &names.group_headers)?,
        extra: extra(headers, &names.extra_header_prefixes)?,
    }))
}

/// The value of the first header that has one.
fn first_value(headers: &HeaderMap, names: &[String]) -> Result<String, Objection> {
    for name in names {
        if let Some(value) = headers.get(name.as_str()).filter(|value| !value.is_empty()) {
            return text(value);
        }
    }
    Ok(String::new())
}

fn all_values(headers: &HeaderMap, names: &[String]) -> Result<Vec<String>, Objection> {
    let values = names.iter().flat_map(|name| headers.get_all(name.as_str()));
    values.filter(|value| !value.is_empty()).map(text).collect()
}

fn extra(
    headers: &HeaderMap,
    prefixes: &[String],
) -> Result<BTreeMap<String, Vec<String>>, Objection> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for prefix in prefixes {
        let prefix = prefix.to_ascii_lowercase();
        for (name, value) in headers {
            // Header names arrive in lower case.
            let Some(key) = name.as_str().strip_prefix(&prefix) else {
                continue;
            };
            // A key that is not well escaped is taken as it stands.
            let key = unescaped(key, false).unwrap_or_else(|| key.to_owned());
            extra.entry(key).or_default().push(text(value)?);
        }
    }
    Ok(extra)
}

fn text(value: &HeaderValue) -> Result<String, Objection> {
    let text = std::str::from_utf8(value.as_bytes());
    text.map(str::to_owned)
        .map_err(|_| Objection("a proxy header is not UTF-8".to_owned()))
}
