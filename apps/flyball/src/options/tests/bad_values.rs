//! Each mistake with the exact message it earns.

use expect_test::{Expect, expect};

use super::refuse;

fn check(words: &[&str], expected: Expect) {
    let error = refuse(words);
    let error = error
        .strip_suffix("\nRun 'kube-controller-manager --help' for all flags.")
        .unwrap();
    expected.assert_eq(error);
}

#[test]
fn words_that_are_no_flags() {
    check(&["--nope"], expect![["Error: unknown flag: --nope"]]);
    check(&["--leader-elct=true"], expect![["Error: unknown flag: --leader-elct; did you mean --leader-elect?"]]);
    check(&["--kube_api_qsp=3"], expect![["Error: unknown flag: --kube-api-qsp; did you mean --kube-api-qps?"]]);
    check(&["-x"], expect![["Error: unknown shorthand flag: -x"]]);
    check(&["foo"], expect![[r#"Error: "kube-controller-manager" does not take any arguments, got ["foo"]"#]]);
    check(&["---x"], expect![["Error: bad flag syntax: ---x"]]);
    check(&["--=x"], expect![["Error: bad flag syntax: --=x"]]);
    check(&["-- controllers"], expect![["Error: unknown flag: -- controllers; did you mean --controllers?"]]);
}

#[test]
fn flags_without_their_value() {
    check(&["--kubeconfig"], expect![["Error: flag needs an argument: --kubeconfig"]]);
    check(&["-v"], expect![["Error: flag needs an argument: --v"]]);
    check(&["--config"], expect![["Error: flag needs an argument: --config"]]);
}

#[test]
fn values_of_the_wrong_type() {
    check(&["--kube-api-qps=abc"], expect![[r#"Error: invalid argument "abc" for "--kube-api-qps" flag: not a number"#]]);
    check(&["--kube-api-burst=99999999999"], expect![[r#"Error: invalid argument "99999999999" for "--kube-api-burst" flag: out of range, must lie between -2147483648 and 2147483647"#]]);
    check(&["--kube-api-burst=1.5"], expect![[r#"Error: invalid argument "1.5" for "--kube-api-burst" flag: not an integer"#]]);
    check(&["--leader-elect=maybe"], expect![[r#"Error: invalid argument "maybe" for "--leader-elect" flag: neither true nor false"#]]);
    check(&["--leader-elect="], expect![[r#"Error: invalid argument "" for "--leader-elect" flag: neither true nor false"#]]);
    check(&["--min-resync-period=5"], expect![[r#"Error: invalid argument "5" for "--min-resync-period" flag: the number 5 lacks a unit (write 5s for seconds)"#]]);
    check(&["--bind-address=foo"], expect![[r#"Error: invalid argument "foo" for "--bind-address" flag: not an IP address"#]]);
    check(&["--v=x"], expect![[r#"Error: invalid argument "x" for "-v, --v" flag: not an integer"#]]);
    check(&["--vmodule=foo"], expect![[r#"Error: invalid argument "foo" for "--vmodule" flag: "foo" does not have the form pattern=N"#]]);
    check(&["--allow-metric-labels=a"], expect![[r#"Error: invalid argument "a" for "--allow-metric-labels" flag: "a" lacks a value (write key=value)"#]]);
    check(&["--tls-sni-cert-key=x"], expect![[r#"Error: invalid argument "x" for "--tls-sni-cert-key" flag: expected a certificate and a key file separated by a comma"#]]);
    check(&["--log-text-info-buffer-size=x"], expect![[r#"Error: invalid argument "x" for "--log-text-info-buffer-size" flag: not a quantity (write for example 512, 2Ki or 3M)"#]]);
    check(&["--tls-curve-preferences=x"], expect![[r#"Error: invalid argument "x" for "--tls-curve-preferences" flag: not an integer"#]]);
    check(&["--controllers=\"a"], expect![[r#"Error: invalid argument "\"a" for "--controllers" flag: a list entry whose quote is never closed"#]]);
    check(&["--version=banana"], expect![[r#"Error: invalid argument "banana" for "--version" flag: neither true, false nor raw"#]]);
}

#[test]
fn leader_election_that_could_not_work() {
    check(&["--leader-elect-lease-duration=5s"], expect!["Error: --leader-elect-renew-deadline: 10s must be shorter than --leader-elect-lease-duration: 5s; otherwise two replicas could lead at once"]);
    check(&["--leader-elect-retry-period=9s"], expect!["Error: --leader-elect-retry-period: 9s is too long: --leader-elect-renew-deadline: 10s must be more than 1.2 times as long"]);
    check(
        &["--leader-elect-lease-duration=0s"],
        expect!["Error: --leader-elect-lease-duration: 0s must be longer than 0s"],
    );
    check(&["--leader-elect-resource-lock=endpoints"], expect![[r#"Error: --leader-elect-resource-lock: "endpoints" must be "leases""#]]);
    check(&["--leader-elect-resource-name="], expect![["Error: --leader-elect-resource-name: must not be empty; give it a name or use --leader-elect=false"]]);
    super::accept(&[
        "--leader-elect=false",
        "--leader-elect-resource-lock=endpoints",
    ]);
}

#[test]
fn rates_and_worker_counts_that_would_stop_everything() {
    check(&["--kube-api-qps=0"], expect![["Error: --kube-api-qps: 0 would stop every request; use a negative number for no limit"]]);
    check(&["--kube-api-burst=0"], expect![["Error: --kube-api-burst: 0 must be at least 1"]]);
    check(&["--concurrent-deployment-syncs=0"], expect![["Error: --concurrent-deployment-syncs: 0 must be at least 1; to stop deployment-controller leave it out of --controllers"]]);
    check(&["--concurrent-gc-syncs=-1"], expect![["Error: --concurrent-gc-syncs: -1 must be at least 1; to stop garbage-collector-controller leave it out of --controllers"]]);
    check(&["--max-endpoints-per-slice=1001"], expect![["Error: --max-endpoints-per-slice: 1001 must be between 1 and 1000"]]);
    check(&["--concurrent-service-endpoint-syncs=51"], expect![["Error: --concurrent-service-endpoint-syncs: 51 must be between 1 and 50"]]);
    check(&["--attach-detach-reconcile-sync-period=10ms"], expect![["Error: --attach-detach-reconcile-sync-period: 10ms must be at least 1s"]]);
}

#[test]
fn ports_and_durations_out_of_range() {
    check(&["--secure-port=99999"], expect![["Error: --secure-port: 99999 must be between 0 and 65535, inclusive; 0 serves nothing"]]);
    check(&["--secure-port=-1"], expect![["Error: --secure-port: -1 must be between 0 and 65535, inclusive; 0 serves nothing"]]);
    check(&["--controller-start-interval=-1s"], expect![["Error: --controller-start-interval: -1s must not be negative"]]);
    check(&["--http2-max-streams-per-connection=-1"], expect![["Error: --http2-max-streams-per-connection: -1 must be between 0 and 4294967295"]]);
}

#[test]
fn files_that_cannot_be_read() {
    check(&["--kubeconfig=/nonexistent/a"], expect![[r#"Error: --kubeconfig: cannot read "/nonexistent/a": No such file or directory (os error 2); name a readable kubeconfig, or leave the flag out inside a pod"#]]);
    check(&["--kubeconfig=/"], expect![[r#"Error: --kubeconfig: cannot read "/": Is a directory (os error 21); name a readable kubeconfig, or leave the flag out inside a pod"#]]);
    check(&["--authentication-kubeconfig=/nonexistent/b"], expect![[r#"Error: --authentication-kubeconfig: cannot read "/nonexistent/b": No such file or directory (os error 2); name a readable kubeconfig, or leave the flag out"#]]);
    check(&["--client-ca-file=/nonexistent/c"], expect![[r#"Error: --client-ca-file: cannot read "/nonexistent/c": No such file or directory (os error 2); name a readable PEM bundle of CA certificates"#]]);
    check(
        &[
            "--tls-cert-file=/nonexistent/d",
            "--tls-private-key-file=/nonexistent/e",
        ],
        expect![[r#"
            Error: 2 problems:
              - --tls-cert-file: cannot read "/nonexistent/d": No such file or directory (os error 2); name a readable PEM certificate
              - --tls-private-key-file: cannot read "/nonexistent/e": No such file or directory (os error 2); name a readable PEM private key"#]],
    );
    check(&["--config=/nonexistent/f"], expect![[r#"Error: --config: cannot read "/nonexistent/f": No such file or directory (os error 2); name a readable YAML file"#]]);
}

#[test]
fn values_that_need_another_one() {
    let pem = super::TempFile::new("alone.pem", "x");
    check(&[&format!("--tls-cert-file={}", pem.path())], expect![["Error: --tls-cert-file: needs --tls-private-key-file as well"]]);
    check(&[&format!("--tls-private-key-file={}", pem.path())], expect![["Error: --tls-private-key-file: needs --tls-cert-file as well"]]);
    check(&["--cluster-signing-cert-file=a"], expect![["Error: --cluster-signing-cert-file: needs --cluster-signing-key-file as well"]]);
    check(
        &[
            "--cluster-signing-cert-file=a",
            "--cluster-signing-key-file=b",
            "--cluster-signing-legacy-unknown-cert-file=c",
            "--cluster-signing-legacy-unknown-key-file=d",
        ],
        expect![["Error: --cluster-signing-legacy-unknown-cert-file: cannot be combined with --cluster-signing-cert-file; keep the pair for all signers or those for each"]],
    );
}

#[test]
fn names_that_nothing_has() {
    check(&["--feature-gates=Nope=true"], expect![["Error: --feature-gates: unrecognized feature gate: Nope"]]);
    check(&["--feature-gates=LogarithmicScaleDown=false"], expect![["Error: --feature-gates: cannot set feature gate LogarithmicScaleDown to false, feature is locked to true"]]);
    check(&["--feature-gates=HPAScaleToZero"], expect![[r#"Error: invalid argument "HPAScaleToZero" for "--feature-gates" flag: missing bool value for HPAScaleToZero"#]]);
    check(&["--feature-gates=HPAScaleToZero=x"], expect![[r#"Error: invalid argument "HPAScaleToZero=x" for "--feature-gates" flag: invalid value of HPAScaleToZero=x: neither true nor false"#]]);
    check(&["--feature-gates=wardle:A=true"], expect![[r#"Error: invalid argument "wardle:A=true" for "--feature-gates" flag: component not registered: wardle"#]]);
    check(&["--logging-format=xml"], expect![[r#"Error: --logging-format: "xml" is not a log format; use text or json"#]]);
    check(&["--tls-min-version=x"], expect![[r#"Error: --tls-min-version: unknown tls version "x"; use VersionTLS12 or VersionTLS13"#]]);
    check(&["--tls-cipher-suites=x"], expect![["Error: --tls-cipher-suites: cipher suite x not supported or doesn't exist"]]);
    check(&["--cloud-provider=aws"], expect![[r#"Error: --cloud-provider: cloud provider "aws" is not built in; set --cloud-provider=external and run its own controller manager"#]]);
    check(&["--cidr-allocator-type=CloudAllocator"], expect![[r#"Error: --cidr-allocator-type: "CloudAllocator" needs a built-in cloud provider; use RangeAllocator"#]]);
    check(&["--emulated-version=1.2"], expect![[r#"Error: --emulated-version: "1.2" is not between kube=1.33 and kube=1.36"#]]);
    check(&["--show-hidden-metrics-for-version=1.2"], expect![[r#"Error: --show-hidden-metrics-for-version: "1.2" must be omitted or "1.35": only the previous minor version is allowed"#]]);
    check(&["--authorization-always-allow-paths=/a*b"], expect![[r#"Error: --authorization-always-allow-paths: "/a*b" has a * that is not at its end"#]]);
    check(&["--requestheader-username-headers= "], expect![["Error: --requestheader-username-headers: an entry is empty; remove it"]]);
}

#[test]
fn unknown_controllers_are_told_with_the_known_ones() {
    check(
        &["--controllers=*,-deploymnet,zebra"],
        expect![[r#"
        Error: 2 problems:
          - --controllers: "deploymnet" is not in the list of known controllers; did you mean deployment?
          - --controllers: "zebra" is not in the list of known controllers
        Known controllers: bootstrap-signer-controller, certificatesigningrequest-approving-controller, certificatesigningrequest-cleaner-controller, certificatesigningrequest-signing-controller, cloud-node-lifecycle-controller, clusterrole-aggregation-controller, cronjob-controller, daemonset-controller, deployment-controller, device-taint-eviction-controller, disruption-controller, endpoints-controller, endpointslice-controller, endpointslice-mirroring-controller, ephemeral-volume-controller, garbage-collector-controller, horizontal-pod-autoscaler-controller, job-controller, kube-apiserver-serving-clustertrustbundle-publisher-controller, legacy-serviceaccount-token-cleaner-controller, namespace-controller, node-ipam-controller, node-lifecycle-controller, node-route-controller, persistentvolume-attach-detach-controller, persistentvolume-binder-controller, persistentvolume-expander-controller, persistentvolume-protection-controller, persistentvolumeclaim-protection-controller, pod-garbage-collector-controller, podcertificaterequest-cleaner-controller, podgroup-protection-controller, replicaset-controller, replicationcontroller-controller, resourceclaim-controller, resourcepoolstatusrequest-controller, resourcequota-controller, root-ca-certificate-publisher-controller, selinux-warning-controller, service-cidr-controller, service-lb-controller, serviceaccount-controller, serviceaccount-token-controller, statefulset-controller, storage-version-migrator-controller, storageversion-garbage-collector-controller, taint-eviction-controller, token-cleaner-controller, ttl-after-finished-controller, ttl-controller, validatingadmissionpolicy-status-controller, volumeattributesclass-protection-controller"#]],
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    check(
        &[
            "--kube-api-burst=x",
            "--secure-port=-5",
            "--leader-elect-lease-duration=5s",
            "--feature-gates=Nope=true",
        ],
        expect![[r#"
            Error: 4 problems:
              - invalid argument "x" for "--kube-api-burst" flag: not an integer
              - --feature-gates: unrecognized feature gate: Nope
              - --leader-elect-renew-deadline: 10s must be shorter than --leader-elect-lease-duration: 5s; otherwise two replicas could lead at once
              - --secure-port: -5 must be between 0 and 65535, inclusive; 0 serves nothing"#]],
    );
}
