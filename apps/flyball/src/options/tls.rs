//! The names users write for TLS versions and cipher suites, and which of them we can offer.

use super::nearest::suggestion;
use super::typed::TlsVersion;

/// The cipher suites that rustls offers, by IANA name.
const OFFERED: &[&str] = &[
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/// Suites that upstream also takes and that we do not offer: they lack forward secrecy or
/// authenticated encryption.
const NOT_OFFERED: &[&str] = &[
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
];

/// The suites of a list that we can offer.
///
/// # Errors
/// A name that is no cipher suite, or a list of which we can offer nothing.
pub(super) fn cipher_suites(names: &[String]) -> Result<Vec<&'static str>, String> {
    let mut suites = Vec::new();
    for name in names {
        // Go knows two suites under a shorter name as well.
        let full = match name.strip_suffix("_WITH_CHACHA20_POLY1305") {
            Some(_) => format!("{name}_SHA256"),
            None => name.clone(),
        };
        if let Some(suite) = OFFERED.iter().find(|suite| **suite == full) {
            suites.push(*suite);
        } else if !NOT_OFFERED.contains(&name.as_str()) {
            let meant = suggestion(name, OFFERED.iter().chain(NOT_OFFERED).copied());
            return Err(format!(
                "cipher suite {name} not supported or doesn't exist{meant}"
            ));
        }
    }
    if suites.is_empty() && !names.is_empty() {
        return Err(format!(
            "none of these cipher suites can be offered; add one of {}",
            OFFERED.join(", ")
        ));
    }
    Ok(suites)
}

/// The suites of a list that upstream takes and we do not offer.
pub(super) fn cipher_suites_left_out(names: &[String]) -> Vec<&str> {
    names
        .iter()
        .map(String::as_str)
        .filter(|name| NOT_OFFERED.contains(name))
        .collect()
}

/// The oldest version to accept. TLS 1.0 and 1.1 are understood, and 1.2 is used in their place.
pub(super) fn version_min(name: &str) -> Result<TlsVersion, String> {
    match name {
        "" | "VersionTLS10" | "VersionTLS11" | "VersionTLS12" => Ok(TlsVersion::V12),
        "VersionTLS13" => Ok(TlsVersion::V13),
        _ => Err(format!(
            "unknown tls version {name:?}; use VersionTLS12 or VersionTLS13"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suites(names: &[&str]) -> Result<Vec<&'static str>, String> {
        cipher_suites(
            &names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn keeps_the_suites_that_can_be_offered() {
        assert_eq!(suites(&[]), Ok(vec![]));
        assert_eq!(
            suites(&[
                "TLS_RSA_WITH_AES_128_CBC_SHA",
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"
            ]),
            Ok(vec!["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"])
        );
    }

    #[test]
    fn refuses_a_list_of_which_nothing_can_be_offered() {
        let error = suites(&["TLS_RSA_WITH_RC4_128_SHA"]).unwrap_err();
        assert!(
            error.starts_with("none of these cipher suites can be offered; add one of TLS_AES")
        );
        assert_eq!(
            suites(&["TLS_AES_128_GCM_SHA25"]).unwrap_err(),
            "cipher suite TLS_AES_128_GCM_SHA25 not supported or doesn't exist; \
             did you mean TLS_AES_128_GCM_SHA256?"
        );
    }
}
