//! The same script against upstream's binaries and ours.
//!
//! The harness starts a private etcd and kube-apiserver ([`Cluster`]), puts any manager on top ([`Manager`]), lets a
//! simple kubelet bring pods to life ([`Kubelet`]), and knows who asked the server for what ([`AuditLog`],
//! [`Totals`]). Upstream's programs are built once from their published modules ([`Upstream`]).
//!
//! Tests of failures and benches are built on these; the `conformance` binary runs the scenarios.

mod certificates;
mod child;
mod clients;
mod cluster;
mod compare;
mod custom;
mod e2e;
mod faults;
mod following;
mod go_types;
mod history;
mod kubeconfig;
mod kubelet;
mod machines;
mod objects;
mod parity;
mod poll;
mod ports;
mod process;
mod requests;
mod scenario;
mod state;
mod upstream;
mod usage;

pub use child::Child;
pub use clients::{ClientOptions, ClientOutcome, ClientScript, run_clients};
pub use cluster::{Cluster, ClusterOptions, MANAGER_USER};
pub use compare::{Side, Trial, Verdict, judge, run_side};
pub use custom::{define, define_widgets, definition};
pub use e2e::{
    AREAS as E2E_AREAS, E2eOptions, PAGE as E2E_PAGE, Scoreboard, Spec, SpecOutcome, SpecState,
    run_e2e,
};
pub use faults::{FAULTS, FaultOptions, FaultOutcome, Subject, run_faults};
pub use go_types::go_types;
pub use kubeconfig::Identity;
pub use kubelet::{BEHAVIOUR, Kubelet, KubeletOptions, NODE, READY_DELAY_MS, TERMINATION};
pub use objects::{Objects, PatchKind, Propagation, api_version, path, status_code};
pub use parity::{
    PAGE as PARITY_PAGE, ParityOptions, ParityOutcome, RULES_FOLDER, parity_page, record_rules,
    run_parity,
};
pub use poll::until;
pub use ports::free_port;
pub use process::{Manager, WORKLOADS};
pub use requests::{AuditLog, Mark, Request, Requests, Totals};
pub use scenario::{Allowance, Outcome, Scenario};
pub use state::{Difference, State};
pub use upstream::{Binaries, Tools, Upstream};
pub use usage::Usage;
