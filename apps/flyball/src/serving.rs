//! The secure port: options turned into what the server takes, and the pages it shows.

use std::sync::Arc;

use flyball_client::{ConfigSource, LoadError, load};
use flyball_ownership::GarbageCollector;
use flyball_plan::Controller;
use flyball_runtime::{CONTENT_TYPE, Health, Metrics};
use flyball_serving::{
    AuthenticationOptions, AuthorizationOptions, Check, Endpoints, Probe, Reply,
    RequestHeaderOptions, Route, ServingOptions, SniCertificate, TlsSource,
};
use http::StatusCode;

use crate::options::{Options, TlsVersion};

/// The pages of a running process.
pub fn endpoints(options: &Options, health: Health, metrics: Arc<Metrics>) -> Endpoints {
    let configz = options.to_configz();
    let flags: Vec<String> = options.flag_lines().collect();
    let flagz = flags.join("\n");
    let collector = GarbageCollector::DESCRIPTOR.name;
    let graphed = health.clone();
    let endpoints = Endpoints::new(Arc::new(Checks(health)));
    let endpoints = match graphed.runs(collector) {
        true => endpoints.route(graph(collector, graphed)),
        false => endpoints,
    };
    endpoints
        .metrics(move || (CONTENT_TYPE, metrics.text()))
        .configz(move || configz.clone())
        .flagz(move || flagz.clone())
}

/// Who belongs to whom, as the garbage collector sees it, for Graphviz; with `uid`s in the query,
/// only what they are related to.
fn graph(collector: &str, health: Health) -> Route {
    Route::at(
        format!("/debug/controllers/{collector}/graph"),
        move |asked| {
            let uids = asked.query.iter().filter(|(key, _)| key == "uid");
            let uids: Vec<_> = uids.map(|(_, uid)| uid.as_str().into()).collect();
            let text = flyball_ownership::graph(&health.snapshot(), &uids);
            let reply = Reply::new(StatusCode::OK, "text/vnd.graphviz", text);
            async move { reply }
        },
    )
}

struct Checks(Health);

impl flyball_serving::Health for Checks {
    fn checks(&self, probe: Probe) -> Vec<Check> {
        let checks = match probe {
            Probe::Healthz | Probe::Livez => self.0.alive(),
            Probe::Readyz => self.0.ready(),
        };
        checks
            .into_iter()
            .map(|check| Check {
                name: check.name,
                result: check.result,
                needed: check.needed,
            })
            .collect()
    }
}

/// What the server takes, from what was configured.
///
/// # Errors
/// When a kubeconfig for reviews cannot be used.
pub async fn serving_options(options: &Options) -> Result<ServingOptions, LoadError> {
    let serving = &options.serving;
    let tls = match &serving.certificate {
        Some(files) => TlsSource::Files {
            cert: files.certificate.clone(),
            key: files.key.clone(),
        },
        None => TlsSource::SelfSigned {
            cert_dir: serving.certificate_dir.clone(),
            pair_name: "kube-controller-manager".to_owned(),
            alternate_names: vec![crate::identity::hostname()],
        },
    };
    let sni_certificates = serving
        .named_certificates
        .iter()
        .map(|named| SniCertificate {
            cert: named.files.certificate.clone(),
            key: named.files.key.clone(),
            names: named.names.clone(),
        });
    Ok(ServingOptions {
        bind_address: serving.bind_address,
        port: serving.port.unwrap_or(0),
        listener: None,
        port_sharing_permitted: serving.port_sharing,
        tls,
        sni_certificates: sni_certificates.collect(),
        min_tls_version: match serving.tls_version_min {
            TlsVersion::V12 => flyball_serving::TlsVersion::Tls12,
            TlsVersion::V13 => flyball_serving::TlsVersion::Tls13,
        },
        cipher_suites: serving
            .cipher_suites
            .iter()
            .map(|&suite| suite.to_owned())
            .collect(),
        curve_preferences: serving.key_exchange_groups.clone(),
        http2_max_streams: serving.http2_streams_max.unwrap_or(0),
        disable_http2: !serving.http2,
        authentication: authentication(options).await?,
        authorization: authorization(options).await?,
        limits: flyball_serving::Limits::default(),
    })
}

async fn authentication(options: &Options) -> Result<AuthenticationOptions, LoadError> {
    let given = &options.authentication;
    let header = &given.request_header;
    Ok(AuthenticationOptions {
        client_ca_file: given.client_ca.clone(),
        client: review_client(given.kubeconfig.as_ref()).await?,
        skip_lookup: !given.lookup,
        tolerate_lookup_failure: given.tolerate_lookup_failure,
        token_cache_ttl: given.token_cache_ttl,
        request_header: RequestHeaderOptions {
            client_ca_file: header.client_ca.clone(),
            allowed_names: header.allowed_names.clone(),
            username_headers: header.username_headers.clone(),
            uid_headers: header.uid_headers.clone(),
            group_headers: header.group_headers.clone(),
            extra_header_prefixes: header.extra_header_prefixes.clone(),
        },
        ..AuthenticationOptions::default()
    })
}

async fn authorization(options: &Options) -> Result<AuthorizationOptions, LoadError> {
    let given = &options.authorization;
    Ok(AuthorizationOptions {
        client: review_client(given.kubeconfig.as_ref()).await?,
        always_allow_paths: given.always_allow_paths.clone(),
        allow_ttl: given.allow_cache_ttl,
        deny_ttl: given.deny_cache_ttl,
        ..AuthorizationOptions::default()
    })
}

async fn review_client(
    kubeconfig: Option<&std::path::PathBuf>,
) -> Result<Option<kube::Client>, LoadError> {
    let Some(path) = kubeconfig else {
        return Ok(None);
    };
    let source = ConfigSource {
        kubeconfig: Some(path.clone()),
        master: None,
    };
    let config = load(&source).await?;
    let server = config.cluster_url.to_string();
    let client = kube::Client::try_from(config).map_err(|error| LoadError::Setup {
        server,
        reason: error.to_string(),
    })?;
    Ok(Some(client))
}
