//! `--tls-cipher-suites` and `--tls-curve-preferences`: a choice among what the TLS library has.
//!
//! Upstream's flag takes Go's names. Those that exist in Go but not here are old and weak (CBC, RC4, 3DES, static
//! RSA): they are left out with a warning, so that a command line written for upstream still starts, and a list that
//! leaves nothing is an error. A name that Go does not know either is an error, as upstream. TLS 1.3 suites cannot be
//! switched off, as in Go.

use std::sync::Arc;

use rustls::SupportedCipherSuite;
use rustls::crypto::CryptoProvider;

use crate::ServeError;

/// Names of Go's crypto/tls that have no counterpart here.
const NOT_HERE: &[&str] = &[
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
];

/// Curve numbers that Go knows and this library does not: P-521 and the post-quantum hybrids.
const CURVES_NOT_HERE: &[u16] = &[25, 4587, 4588, 4589];

/// The library's cryptography, cut down to the named suites and curves. Empty lists mean all.
pub(super) fn restrict(
    names: &[String],
    curves: &[u16],
) -> Result<Arc<CryptoProvider>, ServeError> {
    let mut provider = rustls::crypto::ring::default_provider();
    if !names.is_empty() {
        let all = provider.cipher_suites.clone();
        for name in names {
            let known = all.iter().any(|suite| is_named(suite, name));
            if !known && !NOT_HERE.contains(&name.as_str()) {
                let problem = format!("cipher suite {name:?} not supported or doesn't exist");
                return Err(ServeError::OptionInvalid(problem));
            }
            if !known {
                tracing::warn!(suite = %name, "this cipher suite is insecure or obsolete and stays off");
            }
        }
        let chosen = |suite: &SupportedCipherSuite| names.iter().any(|name| is_named(suite, name));
        if !all.iter().any(chosen) {
            let problem = "none of the cipher suites asked for is available".to_owned();
            return Err(ServeError::OptionInvalid(problem));
        }
        provider
            .cipher_suites
            .retain(|suite| suite.tls13().is_some() || chosen(suite));
    }
    if !curves.is_empty() {
        let all: Vec<u16> = provider
            .kx_groups
            .iter()
            .map(|group| group.name().into())
            .collect();
        if let Some(unknown) = curves
            .iter()
            .find(|curve| !all.contains(curve) && !CURVES_NOT_HERE.contains(curve))
        {
            return Err(ServeError::OptionInvalid(format!(
                "unknown curve {unknown}"
            )));
        }
        provider
            .kx_groups
            .retain(|group| curves.contains(&group.name().into()));
        if provider.kx_groups.is_empty() {
            let problem = format!("none of the curves asked for is available, only {all:?}");
            return Err(ServeError::OptionInvalid(problem));
        }
    }
    Ok(Arc::new(provider))
}

/// Go writes `TLS_AES…` where this library writes `TLS13_AES…`, and has a short form for the ChaCha20 suites.
fn is_named(suite: &SupportedCipherSuite, name: &str) -> bool {
    let own = suite.suite().as_str().unwrap_or_default();
    let in_go = own.replacen("TLS13_", "TLS_", 1);
    in_go == name
        || in_go.strip_suffix("_SHA256") == Some(name) && name.ends_with("CHACHA20_POLY1305")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn suites(list: &[&str]) -> Vec<&'static str> {
        let provider = restrict(&names(list), &[]).unwrap();
        let suites = provider.cipher_suites.iter();
        suites
            .filter(|suite| suite.tls13().is_none())
            .filter_map(|suite| suite.suite().as_str())
            .collect()
    }

    #[test]
    fn a_list_of_suites_narrows_tls_1_2_only() {
        assert_eq!(
            suites(&[
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "TLS_RSA_WITH_AES_256_GCM_SHA384"
            ]),
            ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
        );
        assert_eq!(
            suites(&["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"]),
            ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"]
        );
        let provider = restrict(&names(&["TLS_AES_128_GCM_SHA256"]), &[]).unwrap();
        assert_eq!(
            provider
                .cipher_suites
                .iter()
                .filter(|s| s.tls13().is_some())
                .count(),
            3
        );
    }

    #[test]
    fn unknown_or_unavailable_suites_are_errors() {
        let unknown = restrict(&names(&["TLS_NONSENSE"]), &[])
            .unwrap_err()
            .to_string();
        assert!(
            unknown.contains("\"TLS_NONSENSE\" not supported or doesn't exist"),
            "{unknown}"
        );
        assert!(restrict(&names(&["TLS_RSA_WITH_RC4_128_SHA"]), &[]).is_err());
    }

    #[test]
    fn curves_are_chosen_by_number() {
        let provider = restrict(&[], &[23, 25]).unwrap();
        assert_eq!(provider.kx_groups.len(), 1);
        assert!(restrict(&[], &[7]).is_err());
        assert!(restrict(&[], &[25]).is_err());
    }
}
