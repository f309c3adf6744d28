//! SHA-256 and random bytes, taken from the cryptography that TLS already brought along.

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;

/// SHA-256 over the concatenation of `parts`.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let hash = match TLS13_AES_128_GCM_SHA256 {
        SupportedCipherSuite::Tls13(suite) => suite.common.hash_provider,
        SupportedCipherSuite::Tls12(suite) => suite.common.hash_provider,
    };
    let mut context = hash.start();
    for part in parts {
        context.update(part);
    }
    let output = context.finish();
    let mut digest = [0; 32];
    for (to, from) in digest.iter_mut().zip(output.as_ref()) {
        *to = *from;
    }
    digest
}

/// `N` bytes nobody can predict, or `None` when the operating system has no randomness to give.
pub(crate) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .ok()?;
    Some(bytes)
}

/// A number in `0.0..1.0` for jitter. Without randomness it is 0: a delay without jitter is still a delay.
pub(crate) fn random_fraction() -> f64 {
    let number = random::<4>().map_or(0, u32::from_le_bytes);
    f64::from(number) / (f64::from(u32::MAX) + 1.0)
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha256_of_all_parts_together() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&sha256(&[b"abc"])), expected);
        assert_eq!(hex(&sha256(&[b"a", b"", b"bc"])), expected);
    }

    #[test]
    fn jitter_stays_below_one() {
        for _ in 0..100 {
            let fraction = random_fraction();
            assert!((0.0..1.0).contains(&fraction));
        }
    }
}
