//! The flags of etcd and kube-apiserver: a kubeadm-like server, minus what a test cluster has no use for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::ClusterOptions;
use crate::certificates::{Authority, service_account_keys};

pub(super) fn etcd(folder: &Path, client_url: &str, peer_port: u16) -> Vec<String> {
    let peer_url = format!("http://127.0.0.1:{peer_port}");
    vec![
        "--name=harness".to_owned(),
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={client_url}"),
        format!("--advertise-client-urls={client_url}"),
        format!("--listen-peer-urls={peer_url}"),
        format!("--initial-advertise-peer-urls={peer_url}"),
        format!("--initial-cluster=harness={peer_url}"),
        // The data die with the cluster: durability would only slow every write.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
        format!("--quota-backend-bytes={}", 8_u64 << 30),
    ]
}

pub(super) fn apiserver(
    folder: &Path,
    authority: &Authority,
    etcd_url: &str,
    port: u16,
    options: &ClusterOptions,
) -> Result<(Vec<String>, Option<PathBuf>)> {
    let serving = authority.serving("kube-apiserver")?;
    // Managers that delegate authentication read this authority from a ConfigMap the server writes.
    let front = Authority::create(folder, "front-proxy-ca")?;
    let front_client = front.client("front-proxy-client", "front-proxy-client", None)?;
    let service_accounts = service_account_keys(folder)?;
    let show = |path: &Path| path.display().to_string();

    let mut flags: Vec<(&str, String)> = vec![
        ("etcd-servers", etcd_url.to_owned()),
        ("bind-address", "127.0.0.1".to_owned()),
        ("advertise-address", "127.0.0.1".to_owned()),
        // There is no `kubernetes` Service to reach from pods, and loopback is no valid endpoint for it.
        ("endpoint-reconciler-type", "none".to_owned()),
        ("secure-port", port.to_string()),
        ("tls-cert-file", show(&serving.certificate)),
        ("tls-private-key-file", show(&serving.key)),
        ("client-ca-file", show(authority.certificate())),
        ("service-account-key-file", show(&service_accounts.public)),
        (
            "service-account-signing-key-file",
            show(&service_accounts.private),
        ),
        (
            "service-account-issuer",
            "https://kubernetes.default.svc.cluster.local".to_owned(),
        ),
        ("service-cluster-ip-range", "10.96.0.0/16".to_owned()),
        ("authorization-mode", "Node,RBAC".to_owned()),
        ("requestheader-client-ca-file", show(front.certificate())),
        (
            "requestheader-allowed-names",
            "front-proxy-client".to_owned(),
        ),
        (
            "requestheader-extra-headers-prefix",
            "X-Remote-Extra-".to_owned(),
        ),
        ("requestheader-group-headers", "X-Remote-Group".to_owned()),
        ("requestheader-username-headers", "X-Remote-User".to_owned()),
        ("proxy-client-cert-file", show(&front_client.certificate)),
        ("proxy-client-key-file", show(&front_client.key)),
        ("allow-privileged", "true".to_owned()),
        ("profiling", "false".to_owned()),
        // Two managers compared side by side must meet their own limits, never the server's.
        ("max-requests-inflight", "4000".to_owned()),
        ("max-mutating-requests-inflight", "2000".to_owned()),
        ("etcd-compaction-interval", "0".to_owned()),
    ];
    if !options.service_account_admission {
        flags.push(("disable-admission-plugins", "ServiceAccount".to_owned()));
    }
    let mut audit_log = None;
    if options.audit {
        let (policy, log) = (folder.join("audit-policy.json"), folder.join("audit.log"));
        fs::write(&policy, audit_policy().to_string())?;
        flags.push(("audit-policy-file", show(&policy)));
        flags.push(("audit-log-path", show(&log)));
        audit_log = Some(log);
    }
    Ok((merge(&flags, &options.apiserver_flags), audit_log))
}

/// `--name=value` for every flag of `ours` that `theirs` does not set, then `theirs` as they are.
pub(crate) fn merge(ours: &[(&str, String)], theirs: &[String]) -> Vec<String> {
    let names: Vec<&str> = theirs
        .iter()
        .filter_map(|flag| flag.strip_prefix("--"))
        .map(|flag| flag.split_once('=').map_or(flag, |(name, _)| name))
        .collect();
    let kept = ours.iter().filter(|(name, _)| !names.contains(name));
    let mut merged: Vec<String> = kept
        .map(|(name, value)| format!("--{name}={value}"))
        .collect();
    merged.extend(theirs.iter().cloned());
    merged
}

/// The harness's own requests are not news. Deletes are recorded with their bodies, which hold the preconditions, and
/// so are creates of pods and ReplicaSets, whose bodies name the owner.
fn audit_policy() -> serde_json::Value {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "omitManagedFields": true,
        "rules": [
            { "level": "None", "userGroups": ["system:masters"] },
            { "level": "None", "users": ["system:apiserver", "system:anonymous"] },
            { "level": "Request", "verbs": ["delete", "deletecollection"] },
            { "level": "Request", "verbs": ["create"], "resources": [
                { "group": "", "resources": ["pods"] },
                { "group": "apps", "resources": ["replicasets"] },
            ]},
            { "level": "Metadata" },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_flag_replaces_the_default_of_the_same_name() {
        let ours = [("a", "1".to_owned()), ("b", "2".to_owned())];
        let theirs = ["--b=3".to_owned(), "--c".to_owned(), "4".to_owned()];
        assert_eq!(merge(&ours, &theirs), ["--a=1", "--b=3", "--c", "4"]);
    }
}
