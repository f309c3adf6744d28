//! The flags as data: one row per upstream flag, grouped and ordered as upstream's help prints
//! them.
//!
//! Everything else is read from this table: the command-line parser, the help text, the keys of the
//! configuration file, the body of `/configz`, and the warnings about flags that change nothing
//! here. Names, value types and defaults are ids shared with upstream; a test compares them with a
//! list taken from kube-controller-manager v1.36.4.

mod access;
mod autoscaling;
mod cluster;
mod generic;
mod nodes;
mod observability;
mod serving;
mod volumes;
mod workloads;

use super::value::Kind;

/// Whether setting a flag changes what this program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The flag is obeyed.
    Used,
    /// The flag tunes this controller: obeyed if the controller is built, otherwise without effect.
    Controller(&'static str),
    /// The flag is accepted so that existing manifests start, and changes nothing; the text says
    /// why.
    Nothing(&'static str),
    /// Upstream itself deprecated the flag and ignores it; the text says since when or why.
    Deprecated(&'static str),
}

/// One flag.
#[derive(Debug)]
pub struct Flag {
    /// The long name, with hyphens.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default, spelled as on the command line.
    pub default: &'static str,
    /// Where the value lives in the configuration file and in `/configz`, parts joined by dots.
    pub path: &'static str,
    /// One line of help.
    pub help: &'static str,
    effect: Option<Effect>,
}

impl Flag {
    const fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// The name as errors print it: with the short form, if there is one.
    pub fn spelling(&self) -> String {
        match self.name {
            "v" => "-v, --v".to_owned(),
            name => format!("--{name}"),
        }
    }
}

/// Flags that stand under one heading of the help text.
#[derive(Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// What its flags do, unless a flag says otherwise itself.
    effect: Effect,
    /// The flags, in alphabetical order.
    pub flags: &'static [Flag],
}

impl Group {
    /// The effect of one of this group's flags.
    pub fn effect_of(&self, flag: &Flag) -> Effect {
        flag.effect.unwrap_or(self.effect)
    }
}

/// A group whose flags all tune one controller, headed by the controller's name as upstream heads
/// it.
const fn tuning(title: &'static str, controller: &'static str, flags: &'static [Flag]) -> Group {
    Group {
        title,
        effect: Effect::Controller(controller),
        flags,
    }
}

const fn flag(
    kind: Kind,
    name: &'static str,
    default: &'static str,
    path: &'static str,
    help: &'static str,
) -> Flag {
    Flag {
        name,
        kind,
        default,
        path,
        help,
        effect: None,
    }
}

/// The groups in the order of upstream's help.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    [
        observability::DEBUGGING,
        generic::LEADER_MIGRATION,
        generic::GENERIC,
        cluster::SERVICE_LB,
        serving::SECURE_SERVING,
        access::AUTHENTICATION,
        access::AUTHORIZATION,
        volumes::ATTACH_DETACH,
        cluster::CERTIFICATE_SIGNING,
        workloads::DEPLOYMENT,
        nodes::DEVICE_TAINT_EVICTION,
        nodes::RESOURCE_CLAIM,
        workloads::STATEFUL_SET,
        workloads::DAEMON_SET,
        cluster::ENDPOINTS,
        cluster::ENDPOINT_SLICE,
        cluster::ENDPOINT_SLICE_MIRRORING,
        volumes::EPHEMERAL_VOLUME,
        cluster::GARBAGE_COLLECTOR,
        autoscaling::HORIZONTAL_POD_AUTOSCALER,
        workloads::JOB,
        workloads::CRON_JOB,
        cluster::LEGACY_TOKEN_CLEANER,
        cluster::NAMESPACE,
        nodes::NODE_IPAM,
        nodes::NODE_LIFECYCLE,
        volumes::BINDER,
        workloads::POD_GARBAGE_COLLECTOR,
        workloads::REPLICA_SET,
        workloads::REPLICATION_CONTROLLER,
        cluster::RESOURCE_QUOTA,
        cluster::SERVICE_ACCOUNT,
        workloads::TTL_AFTER_FINISHED,
        cluster::ADMISSION_POLICY_STATUS,
        observability::METRICS,
        observability::LOGS,
        generic::MISC,
    ]
    .into_iter()
}

/// Every flag with its group.
pub fn all() -> impl Iterator<Item = (&'static Group, &'static Flag)> {
    groups().flat_map(|group| group.flags.iter().map(move |flag| (group, flag)))
}

/// The flag of this name (spelled with hyphens).
pub fn find(name: &str) -> Option<&'static Flag> {
    all().map(|(_, flag)| flag).find(|flag| flag.name == name)
}
