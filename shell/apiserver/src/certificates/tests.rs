use std::time::Duration;

use rcgen::{CertificateParams, DnType, KeyPair};
use rustls_pki_types::pem::PemObject;

use super::*;
use crate::authority::Authority;

fn shown(of: &Authority, pem: &str, now: UnixTime) -> Shown {
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let tls = of.tls(&["localhost".to_owned()]).unwrap();
    Shown::of(&*tls.clients, Some(&[certificate]), now)
}

#[test]
fn a_certificate_of_the_plane_names_its_user() {
    let own = Authority::open(None).unwrap();
    let pair = own.client("eve", "dev").unwrap();
    let Shown::User(user, until) = shown(&own, &pair.certificate, UnixTime::now()) else {
        panic!("not believed");
    };
    assert_eq!(user.name, "eve");
    assert_eq!(user.groups, ["dev", AUTHENTICATED]);
    let credential = &user.extra["authentication.kubernetes.io/credential-id"][0];
    assert!(credential.starts_with("X509SHA256="), "{credential}");
    assert!(until > 0);
    let tls = own.tls(&[]).unwrap();
    let nothing = Shown::of(&*tls.clients, None, UnixTime::now());
    assert!(matches!(nothing, Shown::Nothing));
}

#[test]
fn certificates_of_others_and_of_other_times_are_refused() {
    let (own, other) = (
        Authority::open(None).unwrap(),
        Authority::open(None).unwrap(),
    );
    let foreign = other.client("eve", "system:masters").unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "eve");
    let own_hand = params.self_signed(&key).unwrap().pem();
    let now = UnixTime::now();
    for pem in [&foreign.certificate, &own_hand] {
        assert!(matches!(shown(&own, pem, now), Shown::Refused(_)));
    }
    let good = own.client("eve", "dev").unwrap().certificate;
    // The default of rcgen ends in the year 4096.
    let late = UnixTime::since_unix_epoch(Duration::from_secs(70_000_000_000));
    let Shown::Refused(why) = shown(&own, &good, late) else {
        panic!("believed for ever");
    };
    assert!(why.contains("expired"), "{why}");
}
