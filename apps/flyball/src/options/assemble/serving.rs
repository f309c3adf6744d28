//! The HTTPS port: what it serves with, and who may ask it.

use std::path::PathBuf;

use super::{Assembly, readable};
use crate::options::typed::{
    Authentication, Authorization, CertificateFiles, NamedCertificate, RequestHeader, Serving,
    TlsVersion,
};
use crate::options::{checks, tls};

impl Assembly<'_> {
    pub(in crate::options) fn serving(&mut self) -> Serving {
        let settings = self.settings;
        // The kind of the flag has checked the address already.
        let any = std::net::Ipv4Addr::UNSPECIFIED.into();
        let cipher_suites = tls::cipher_suites(settings.list("tls-cipher-suites"));
        let cipher_suites = cipher_suites.unwrap_or_else(|error| {
            self.complain("tls-cipher-suites", error);
            Vec::new()
        });
        let version = tls::version_min(settings.text("tls-min-version"));
        let tls_version_min = version.unwrap_or_else(|error| {
            self.complain("tls-min-version", error);
            TlsVersion::V12
        });
        Serving {
            bind_address: settings.text("bind-address").parse().unwrap_or(any),
            port: self.port(),
            certificate: self.certificate(),
            certificate_dir: self.path("cert-dir"),
            named_certificates: self.named_certificates(),
            cipher_suites,
            key_exchange_groups: self.key_exchange_groups(),
            tls_version_min,
            http2: !settings.bool("disable-http2-serving"),
            http2_streams_max: self.http2_streams_max(),
            address_sharing: settings.bool("permit-address-sharing"),
            port_sharing: settings.bool("permit-port-sharing"),
        }
    }

    fn port(&mut self) -> Option<u16> {
        let port = self.settings.int("secure-port");
        let port = u16::try_from(port).unwrap_or_else(|_| {
            self.complain(
                "secure-port",
                format_args!("{port} must be between 0 and 65535, inclusive; 0 serves nothing"),
            );
            0
        });
        Some(port).filter(|port| *port != 0)
    }

    fn http2_streams_max(&mut self) -> Option<u32> {
        let flag = "http2-max-streams-per-connection";
        let streams = self.settings.int(flag);
        let streams = u32::try_from(streams).unwrap_or_else(|_| {
            self.complain(
                flag,
                format_args!("{streams} must be between 0 and {}", u32::MAX),
            );
            0
        });
        Some(streams).filter(|streams| *streams != 0)
    }

    fn key_exchange_groups(&mut self) -> Vec<u16> {
        let mut groups = Vec::new();
        for word in self.settings.list("tls-curve-preferences") {
            match word.parse() {
                Ok(group) => groups.push(group),
                Err(_) => self.complain(
                    "tls-curve-preferences",
                    format_args!("{word} is no TLS group number; 23, 24 and 29 are"),
                ),
            }
        }
        groups
    }

    fn certificate(&mut self) -> Option<CertificateFiles> {
        let certificate = self.file("tls-cert-file", "name a readable PEM certificate");
        let key = self.file("tls-private-key-file", "name a readable PEM private key");
        match (certificate, key) {
            (Some(certificate), Some(key)) => Some(CertificateFiles { certificate, key }),
            (None, None) => None,
            (Some(_), None) => {
                self.complain("tls-cert-file", "needs --tls-private-key-file as well");
                None
            }
            (None, Some(_)) => {
                self.complain("tls-private-key-file", "needs --tls-cert-file as well");
                None
            }
        }
    }

    fn named_certificates(&mut self) -> Vec<NamedCertificate> {
        let flag = "tls-sni-cert-key";
        let mut all = Vec::new();
        for text in self.settings.list(flag) {
            let (files, names) = text.rsplit_once(':').unwrap_or((text, ""));
            let Some((certificate, key)) = files.split_once(',') else {
                continue;
            };
            let [certificate, key] = [certificate, key].map(|path| PathBuf::from(path.trim()));
            for path in [&certificate, &key] {
                if let Err(error) = readable(path) {
                    self.complain(
                        flag,
                        format_args!("cannot read {path:?}: {error}; name a readable PEM file"),
                    );
                }
            }
            let names = names.split(',').filter(|name| !name.is_empty());
            all.push(NamedCertificate {
                files: CertificateFiles { certificate, key },
                names: names.map(str::to_owned).collect(),
            });
        }
        all
    }

    pub(in crate::options) fn authentication(&mut self) -> Authentication {
        let bundle = "name a readable PEM bundle of CA certificates";
        let kubeconfig = "name a readable kubeconfig, or leave the flag out";
        checks::request_headers(self);
        Authentication {
            kubeconfig: self.file("authentication-kubeconfig", kubeconfig),
            lookup: !self.settings.bool("authentication-skip-lookup"),
            tolerate_lookup_failure: self.settings.bool("authentication-tolerate-lookup-failure"),
            token_cache_ttl: self.length("authentication-token-webhook-cache-ttl"),
            client_ca: self.file("client-ca-file", bundle),
            request_header: RequestHeader {
                client_ca: self.file("requestheader-client-ca-file", bundle),
                allowed_names: self.settings.list("requestheader-allowed-names").to_vec(),
                username_headers: self
                    .settings
                    .list("requestheader-username-headers")
                    .to_vec(),
                uid_headers: self.settings.list("requestheader-uid-headers").to_vec(),
                group_headers: self.settings.list("requestheader-group-headers").to_vec(),
                extra_header_prefixes: self
                    .settings
                    .list("requestheader-extra-headers-prefix")
                    .to_vec(),
            },
        }
    }

    pub(in crate::options) fn authorization(&mut self) -> Authorization {
        checks::always_allow_paths(self);
        let advice = "name a readable kubeconfig, or leave the flag out";
        Authorization {
            kubeconfig: self.file("authorization-kubeconfig", advice),
            always_allow_paths: self
                .settings
                .list("authorization-always-allow-paths")
                .to_vec(),
            allow_cache_ttl: self.length("authorization-webhook-cache-authorized-ttl"),
            deny_cache_ttl: self.length("authorization-webhook-cache-unauthorized-ttl"),
        }
    }
}
