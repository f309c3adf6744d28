//! The rules that tie several values together, and upstream's rules for settings no part of ours
//! reads yet.

use super::assemble::{Assembly, shown};
use super::controllers::Selection;
use super::features::FeatureGates;
use super::typed::LeaderElection;

/// Upstream's `leaderelection` package: the renewal must fit into the lease, some attempts into the
/// renewal.
const RETRY_JITTER: f64 = 1.2;

pub(super) fn leader_election(assembly: &mut Assembly<'_>, election: &LeaderElection) {
    let LeaderElection {
        lease_duration,
        renew_deadline,
        retry_period,
        ..
    } = election;
    if renew_deadline >= lease_duration {
        let lease = assembly.settings.place("leader-elect-lease-duration");
        assembly.complain(
            "leader-elect-renew-deadline",
            format_args!(
                "{} must be shorter than {lease}: {}; otherwise two replicas could lead at once",
                shown(*renew_deadline),
                shown(*lease_duration)
            ),
        );
    }
    if *renew_deadline <= retry_period.mul_f64(RETRY_JITTER) {
        let deadline = assembly.settings.place("leader-elect-renew-deadline");
        assembly.complain(
            "leader-elect-retry-period",
            format_args!(
                "{} is too long: {deadline}: {} must be more than 1.2 times as long",
                shown(*retry_period),
                shown(*renew_deadline)
            ),
        );
    }
    // A Lease counts whole seconds, and the API server refuses none.
    if lease_duration.as_secs() == 0 {
        assembly.complain(
            "leader-elect-lease-duration",
            format_args!("{} must be at least 1s", shown(*lease_duration)),
        );
    }
    let lock = assembly.settings.text("leader-elect-resource-lock");
    if lock != "leases" {
        assembly.complain(
            "leader-elect-resource-lock",
            format_args!("{lock:?} must be \"leases\""),
        );
    }
    for flag in [
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
    ] {
        if assembly.settings.text(flag).is_empty() {
            assembly.complain(
                flag,
                "must not be empty; give it a name or use --leader-elect=false",
            );
        }
    }
}

pub(super) fn request_headers(assembly: &mut Assembly<'_>) {
    for flag in [
        "requestheader-username-headers",
        "requestheader-group-headers",
        "requestheader-extra-headers-prefix",
        "requestheader-uid-headers",
        "requestheader-allowed-names",
    ] {
        if assembly
            .settings
            .list(flag)
            .iter()
            .any(|entry| entry.trim().is_empty())
        {
            assembly.complain(flag, "an entry is empty; remove it");
        }
    }
}

pub(super) fn always_allow_paths(assembly: &mut Assembly<'_>) {
    for path in assembly.settings.list("authorization-always-allow-paths") {
        if path.trim_end_matches('*').contains('*') {
            assembly.complain(
                "authorization-always-allow-paths",
                format_args!("{path:?} has a * that is not at its end"),
            );
        }
    }
}

/// Cloud providers left upstream's program, and what they configured went with them.
pub(super) fn cloud(assembly: &mut Assembly<'_>) {
    let provider = assembly.settings.text("cloud-provider");
    if !matches!(provider, "" | "external") {
        assembly.complain(
            "cloud-provider",
            format_args!(
                "cloud provider {provider:?} is not built in; \
                 set --cloud-provider=external and run its own controller manager"
            ),
        );
    }
    let allocator = assembly.settings.text("cidr-allocator-type");
    if !matches!(allocator, "" | "RangeAllocator") {
        assembly.complain(
            "cidr-allocator-type",
            format_args!("{allocator:?} needs a built-in cloud provider; use RangeAllocator"),
        );
    }
}

/// Each signer has both files or none, and either all share one pair or each has its own.
pub(super) fn signing(assembly: &mut Assembly<'_>) {
    let signers = [
        "kubelet-serving",
        "kubelet-client",
        "kube-apiserver-client",
        "legacy-unknown",
    ];
    let mut any_own = None;
    for signer in std::iter::once("").chain(signers) {
        let infix = if signer.is_empty() {
            String::new()
        } else {
            format!("{signer}-")
        };
        let certificate = format!("cluster-signing-{infix}cert-file");
        let key = format!("cluster-signing-{infix}key-file");
        match [&certificate, &key].map(|flag| !assembly.settings.text(flag).is_empty()) {
            [true, false] => assembly.complain(&certificate, format_args!("needs --{key} as well")),
            [false, true] => assembly.complain(&key, format_args!("needs --{certificate} as well")),
            [true, true] if !signer.is_empty() => any_own = Some(certificate),
            _ => {}
        }
    }
    if let Some(own) = any_own
        && !assembly
            .settings
            .text("cluster-signing-cert-file")
            .is_empty()
    {
        assembly.complain(
            &own,
            "cannot be combined with --cluster-signing-cert-file; keep the pair for all signers or \
             those for each",
        );
    }
}

/// Bounds that upstream puts on single numbers.
pub(super) fn controller_limits(assembly: &mut Assembly<'_>) {
    for (flag, min, max) in [
        ("concurrent-service-endpoint-syncs", 1, 50),
        ("max-endpoints-per-slice", 1, 1000),
        ("mirroring-concurrent-service-endpoint-syncs", 1, 50),
        ("mirroring-max-endpoints-per-subset", 1, 1000),
        ("node-cidr-mask-size", 0, 128),
        ("node-cidr-mask-size-ipv4", 0, 32),
        ("node-cidr-mask-size-ipv6", 0, 128),
    ] {
        let value = assembly.settings.int(flag);
        // Too few workers are told by the controller's tuning.
        if value > max || (value < min && !flag.contains("concurrent")) {
            assembly.complain(
                flag,
                format_args!("{value} must be between {min} and {max}"),
            );
        }
    }
    let flag = "attach-detach-reconcile-sync-period";
    let period = assembly.settings.duration(flag);
    if period.nanos() < 1_000_000_000 {
        assembly.complain(flag, format_args!("{period} must be at least 1s"));
    }
}

/// The versions upstream would emulate.
pub(super) fn versions(assembly: &mut Assembly<'_>) {
    for flag in ["emulated-version", "min-compatibility-version"] {
        for entry in assembly.settings.list(flag) {
            let version = entry.strip_prefix("kube=").unwrap_or(entry);
            if !matches!(version, "1.33" | "1.34" | "1.35" | "1.36") {
                assembly.complain(
                    flag,
                    format_args!("{entry:?} is not between kube=1.33 and kube=1.36"),
                );
            }
        }
    }
    let flag = "show-hidden-metrics-for-version";
    let version = assembly.settings.text(flag);
    if !matches!(version, "" | "1.35") {
        assembly.complain(
            flag,
            format_args!(
                "{version:?} must be omitted or \"1.35\": \
                 only the previous minor version is allowed"
            ),
        );
    }
}

/// Stands in for a selection that could not be read, while the other checks go on.
pub(super) fn empty_selection() -> Selection {
    Selection::parse(&[]).unwrap_or_else(|_| unreachable!("no entry, so no unknown entry"))
}

/// Stands in for gates that could not be read, while the other checks go on.
pub(super) fn default_gates() -> FeatureGates {
    FeatureGates::parse(&std::collections::BTreeMap::new())
        .unwrap_or_else(|_| unreachable!("no entry, so no unknown gate"))
}
