//! A certificate for a server that was given none: an own CA, and a certificate for the loopback names signed by it.
//! Valid for a year from an hour ago, as upstream's (`client-go/util/cert/cert.go`).

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::ServeError;

const HOST: &str = "localhost";
const VALID_FOR: Duration = Duration::from_secs(365 * 24 * 3600);
const CLOCK_SKEW: Duration = Duration::from_secs(3600);

/// A certificate with its CA, and its key, in PEM.
pub(super) struct Pair {
    pub(super) cert: Vec<u8>,
    pub(super) key: Vec<u8>,
}

/// Makes a pair for `localhost`, `127.0.0.1`, the bind address if it is one address, and `more`.
pub(super) fn generate(bind: IpAddr, more: &[String]) -> Result<Pair, ServeError> {
    let mut names = vec![HOST.to_owned(), "127.0.0.1".to_owned()];
    if !bind.is_unspecified() {
        names.push(bind.to_string());
    }
    names.extend(more.iter().cloned());
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    generate_for(names).map_err(|error| ServeError::GenerateFailed(error.to_string()))
}

fn generate_for(names: Vec<String>) -> Result<Pair, rcgen::Error> {
    let start = SystemTime::now() - CLOCK_SKEW;
    let stamp = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let described = |mut params: CertificateParams, name: String| {
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = start.into();
        params.not_after = (start + VALID_FOR).into();
        params
    };

    let mut authority = described(CertificateParams::default(), format!("{HOST}-ca@{stamp}"));
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyCertSign,
    ];
    let authority_key = KeyPair::generate()?;
    let authority_cert = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);

    let mut leaf = described(CertificateParams::new(names)?, format!("{HOST}@{stamp}"));
    leaf.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
    ];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.use_authority_key_identifier_extension = true;
    let leaf_key = KeyPair::generate()?;
    let leaf_cert = leaf.signed_by(&leaf_key, &issuer)?;

    let cert = format!("{}{}", leaf_cert.pem(), authority_cert.pem()).into_bytes();
    Ok(Pair {
        cert,
        key: leaf_key.serialize_pem().into_bytes(),
    })
}

/// The files of the pair in `--cert-dir`, made if neither of them is there.
pub(super) fn ensure_files(
    dir: &Path,
    pair_name: &str,
    make: impl FnOnce() -> Result<Pair, ServeError>,
) -> Result<(PathBuf, PathBuf), ServeError> {
    let cert = dir.join(format!("{pair_name}.crt"));
    let key = dir.join(format!("{pair_name}.key"));
    match (cert.exists(), key.exists()) {
        (true, true) => {}
        (true, false) => return Err(ServeError::PairIncomplete(key)),
        (false, true) => return Err(ServeError::PairIncomplete(cert)),
        (false, false) => {
            let pair = make()?;
            let failed = |path: &Path| {
                let path = path.to_owned();
                move |source| ServeError::FileFailed {
                    action: "writing",
                    path,
                    source,
                }
            };
            fs::create_dir_all(dir).map_err(failed(dir))?;
            write(&cert, &pair.cert, 0o644).map_err(failed(&cert))?;
            write(&key, &pair.key, 0o600).map_err(failed(&key))?;
            tracing::info!(cert = %cert.display(), key = %key.display(), "Generated self-signed cert");
        }
    }
    Ok((cert, key))
}

/// The mode is set as the file is made: a key is never readable by others, not even for a moment.
fn write(path: &Path, content: &[u8], mode: u32) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(content)
}
