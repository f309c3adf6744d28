//! The HTTPS port that answers health checks, metrics and `/configz`.

use super::{Effect, Flag, Group, flag};
use crate::options::value::Kind::{Bool, CertificateKeys, Int, Int32List, Ip, Text, TextList};

pub(super) const SECURE_SERVING: &Group = &Group {
    title: "Secure serving flags",
    effect: Effect::Used,
    flags: FLAGS,
};

const FLAGS: &[Flag] = &[
    flag(
        Ip,
        "bind-address",
        "0.0.0.0",
        "SecureServing.BindAddress",
        "Address to listen on; 0.0.0.0 or :: is every interface.",
    ),
    flag(
        Text,
        "cert-dir",
        "",
        "SecureServing.CertDirectory",
        "Directory that holds kube-controller-manager.crt and .key; unused if --tls-cert-file is \
         given.",
    ),
    flag(
        Bool,
        "disable-http2-serving",
        "false",
        "SecureServing.DisableHTTP2",
        "Offer only HTTP/1.1.",
    ),
    flag(
        Int,
        "http2-max-streams-per-connection",
        "0",
        "SecureServing.HTTP2MaxStreamsPerConnection",
        "Requests a client may have open on one HTTP/2 connection; 0 is the server's own limit.",
    ),
    flag(
        Bool,
        "permit-address-sharing",
        "false",
        "SecureServing.PermitAddressSharing",
        "Bind with SO_REUSEADDR, so that a specific address and the wildcard can be bound \
         together.",
    )
    .effect(Effect::Nothing("SO_REUSEADDR is always set")),
    flag(
        Bool,
        "permit-port-sharing",
        "false",
        "SecureServing.PermitPortSharing",
        "Bind with SO_REUSEPORT, so that several processes can listen on one port.",
    ),
    flag(
        Int,
        "secure-port",
        "10257",
        "SecureServing.BindPort",
        "Port to serve HTTPS on; 0 serves nothing.",
    ),
    flag(
        Text,
        "tls-cert-file",
        "",
        "SecureServing.CertFile",
        "Certificate to serve with, followed by its chain; without it a self-signed one is made in \
         memory.",
    ),
    flag(
        TextList,
        "tls-cipher-suites",
        "",
        "SecureServing.CipherSuites",
        "Cipher suites to offer, by their IANA names; empty offers every safe one.",
    ),
    flag(
        Int32List,
        "tls-curve-preferences",
        "",
        "SecureServing.CurvePreferences",
        "Key exchange groups to allow, by their TLS numbers (23 = P-256, 24 = P-384, 29 = X25519).",
    ),
    flag(
        Text,
        "tls-min-version",
        "",
        "SecureServing.MinTLSVersion",
        "Oldest TLS version to accept: VersionTLS12 (the default) or VersionTLS13.",
    ),
    flag(
        Text,
        "tls-private-key-file",
        "",
        "SecureServing.KeyFile",
        "Private key of --tls-cert-file.",
    ),
    flag(
        CertificateKeys,
        "tls-sni-cert-key",
        "",
        "SecureServing.SNICertKeys",
        "Certificate and key for some host names: cert.pem,key.pem or \
         cert.pem,key.pem:name,*.domain.",
    ),
];
