//! Every namespace has the certificate by which its pods recognize the server.
//!
//! Upstream: `pkg/controller/certificates/rootcacertpublisher/publisher.go`.
//!
//! **Watches** Namespaces and ConfigMaps.
//!
//! **A sync** is about one namespace: the ConfigMap `kube-root-ca.crt` is created if it is missing,
//! and set right if it says anything else.
//!
//! **Promises**: the ConfigMap has the certificate and nothing else; labels, annotations and whatever
//! else it carries stay.
//!
//! **Never**: touches another ConfigMap; creates anything in a namespace on its way out.

mod observe;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;

use flyball_api::views::{ConfigMap, Namespace};
use flyball_api::{ObjectName, Text};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync, Target,
};

pub use observe::Observation;

/// Publishes the certificate of the cluster's authority.
#[derive(Clone, Debug, Default)]
pub struct RootCaPublisher {
    certificate: Text,
}

impl RootCaPublisher {
    /// Publishes this certificate, or these, in PEM.
    pub fn new(certificate: &str) -> Self {
        Self {
            certificate: certificate.into(),
        }
    }
}

impl Controller for RootCaPublisher {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "root-ca-certificate-publisher-controller",
        aliases: &["root-ca-cert-publisher"],
        client: "root-ca-cert-publisher",
        component: "root-ca-certificate-publisher-controller",
        queue: "root_ca_cert_publisher",
        watches: &[Watch::NAMESPACES, Watch::of::<ConfigMap>()],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (Namespace::KIND, key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        route::route(change)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(|sync| plan::plan(&self.certificate, sync))
    }
}

impl Configure for RootCaPublisher {
    fn configure(settings: &dyn Settings) -> Self {
        Self::new(settings.root_ca())
    }
}
