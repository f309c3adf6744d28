//! The file by which kubectl and every client library find a plane.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flyball_apiserver::KeyPairPem;

/// A kubeconfig for one cluster and one user, with everything in it.
pub fn kubeconfig(address: SocketAddr, authority: &str, user: &KeyPairPem) -> String {
    let (authority, certificate, key) = (
        encoded(authority),
        encoded(&user.certificate),
        encoded(&user.key),
    );
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: flyball
  cluster:
    server: https://{address}
    certificate-authority-data: {authority}
users:
- name: flyball-admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: flyball
  context:
    cluster: flyball
    user: flyball-admin
current-context: flyball
"
    )
}

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}
