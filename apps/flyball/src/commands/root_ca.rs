//! The certificates by which pods recognize the server: from `--root-ca-file`, else as the kubeconfig
//! has them.
//!
//! Upstream: `cmd/kube-controller-manager/app/certificates.go`.

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Reads a file with certificates; those that the kubeconfig trusts if no file is named.
pub(super) fn read(file: &str, trusted: Option<&[Vec<u8>]>) -> anyhow::Result<String> {
    if file.is_empty() {
        return Ok(trusted
            .unwrap_or_default()
            .iter()
            .map(|one| pem(one))
            .collect());
    }
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("error reading root-ca-file at {file}"))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.with_context(|| format!("error parsing root-ca-file at {file}"))?;
    anyhow::ensure!(
        !found.is_empty(),
        "error parsing root-ca-file at {file}: data does not contain any valid RSA or ECDSA certificates"
    );
    Ok(text)
}

/// A certificate as text, in lines of the usual length.
fn pem(certificate: &[u8]) -> String {
    let encoded = STANDARD.encode(certificate);
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in encoded.as_bytes().chunks(64) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_of_the_kubeconfig_are_written_as_files_have_them() {
        let text = read("", Some(&[vec![7; 60], vec![1]])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert_eq!(lines[1].len(), 64);
        let found: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes())
            .map(|one| one.unwrap().to_vec())
            .collect();
        assert_eq!(found, [vec![7; 60], vec![1]]);
        assert_eq!(read("", None).unwrap(), "");
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let told = read("/nowhere/ca.crt", None).unwrap_err().to_string();
        assert_eq!(told, "error reading root-ca-file at /nowhere/ca.crt");
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let told = read(own, None).unwrap_err().to_string();
        assert!(told.contains("does not contain any valid"), "{told}");
    }
}
