//! `--config`.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::{TempFile, accept, refuse};
use crate::options::{Built, CONFIGZ_GROUP};

const HEAD: &str = "apiVersion: kubecontrollermanager.config.k8s.io/v1alpha1\nkind: KubeControllerManagerConfiguration\n";

fn file(name: &str, body: &str) -> TempFile {
    TempFile::new(name, &format!("{HEAD}{body}"))
}

fn check(name: &str, body: &str, expected: Expect) {
    check_whole(name, &format!("{HEAD}{body}"), expected);
}

fn check_whole(name: &str, text: &str, expected: Expect) {
    let file = TempFile::new(name, text);
    let error = refuse(&["--config", file.path()]).replace(file.path(), "c.yaml");
    expected.assert_eq(
        error
            .strip_suffix("\nRun 'kube-controller-manager --help' for all flags.")
            .unwrap(),
    );
}

const EXAMPLE: &str = r#"
generic:
  controllers: ["*", -job]
  minResyncPeriod: 1h
  clientConnection: { qps: 50, burst: 100 }
  leaderElection:
    leaderElect: false
deploymentController:
  concurrentDeploymentSyncs: 7
  maxRetries: 3
  baseDelay: 10ms
  maxDelay: 1m
  resync: 10m
ReplicaSetController:
  workers: 11
ttlController:
  workers: 2
featureGates:
  HPAScaleToZero: true
secureServing: { bindPort: 0, bindAddress: "::1" }
logging: { format: json, verbosity: 4 }
kubeCloudShared:
"#;

#[test]
fn the_file_sets_what_flags_set_and_more() {
    let file = file("example.yaml", EXAMPLE);
    let options = accept(&["--config", file.path()]);
    assert!(!options.generic.selection.enabled("job-controller"));
    assert_eq!(options.generic.resync_period_min, Duration::from_secs(3600));
    assert_eq!(options.client.rate.unwrap().burst, 100);
    assert!(!options.leader_election.enabled);
    let deployment = &options.tunings["deployment-controller"];
    assert_eq!((deployment.workers, deployment.retries_max), (7, Some(3)));
    assert_eq!(deployment.delay_base, Duration::from_millis(10));
    assert_eq!(deployment.delay_max, Duration::from_secs(60));
    assert_eq!(deployment.resync, Some(Duration::from_secs(600)));
    assert_eq!(options.tunings["replicaset-controller"].workers, 11);
    assert_eq!(
        options.tunings["replicaset-controller"].delay_base,
        Duration::from_millis(5)
    );
    assert_eq!(options.tunings["ttl-controller"].workers, 2);
    assert!(options.generic.feature_gates.enabled("HPAScaleToZero"));
    assert_eq!(options.serving.port, None);
    assert_eq!(options.serving.bind_address.to_string(), "::1");
    assert_eq!(options.logging.verbosity, 4);
}

#[test]
fn flags_win_over_the_file() {
    let file = file("flags-win.yaml", EXAMPLE);
    let options = accept(&[
        "--kube-api-burst=3",
        "--config",
        file.path(),
        "--leader-elect",
        "--concurrent-replicaset-syncs=4",
    ]);
    assert_eq!(options.client.rate.unwrap().burst, 3);
    assert_eq!(
        options.client.rate.unwrap().qps,
        50.0,
        "what no flag sets stays the file's"
    );
    assert!(options.leader_election.enabled);
    assert_eq!(options.tunings["replicaset-controller"].workers, 4);
}

#[test]
fn configz_put_into_a_file_has_the_same_effect() {
    let first = file("round-trip-1.yaml", EXAMPLE);
    let body = accept(&[
        "--config",
        first.path(),
        "--vmodule=a=1",
        "--kube-api-qps=7.5",
    ])
    .to_configz();
    assert_eq!(
        body[CONFIGZ_GROUP]["ReplicaSetController"]["ConcurrentRSSyncs"],
        11
    );
    assert_eq!(body[CONFIGZ_GROUP]["TTLController"]["workers"], 2);
    let second = TempFile::new("round-trip-2.yaml", &body[CONFIGZ_GROUP].to_string());
    assert_eq!(accept(&["--config", second.path()]).to_configz(), body);
}

#[test]
fn every_flag_can_be_set_in_the_file() {
    let body = accept(&[]).to_configz();
    let file = TempFile::new("all-defaults.yaml", &body[CONFIGZ_GROUP].to_string());
    let options = accept(&["--config", file.path()]);
    for setting in options.settings.iter() {
        assert_ne!(
            setting.origin,
            crate::options::Origin::Default,
            "--{}",
            setting.flag.name
        );
    }
}

#[test]
fn a_warning_names_the_place_in_the_file() {
    let file = file("warn.yaml", "jobController:\n  concurrentJobSyncs: 3\n");
    let options = accept(&["--config", file.path(), "--controllers=deployment"]);
    let warnings = options.warnings(Built {
        controllers: &["deployment-controller"],
        gates: &[],
    });
    assert_eq!(
        warnings,
        [format!(
            "{}:4:23 (JobController.ConcurrentJobSyncs) has no effect: job-controller is not built into this program yet",
            file.path()
        )]
    );
}

#[test]
fn unknown_keys_are_refused_with_their_place() {
    check("unknown-1.yaml", "generic:\n  leaderElection:\n    leasDuration: 15s\n", expect![[r#"Error: c.yaml:5:5: unknown key "generic.leaderElection.leasDuration"; did you mean leaseDuration?"#]]);
    check("unknown-2.yaml", "deploymentControler:\n  workers: 1\n", expect![[r#"Error: c.yaml:3:1: unknown key "deploymentControler"; did you mean DeploymentController?"#]]);
    check(
        "unknown-3.yaml",
        "deploymentController:\n  retries: 1\n  zebra: {a: b}\n",
        expect![[r#"
            Error: 2 problems:
              - c.yaml:4:3: unknown key "deploymentController.retries"
              - c.yaml:5:3: unknown key "deploymentController.zebra""#]],
    );
}

#[test]
fn values_of_the_wrong_shape_are_refused_with_their_place() {
    check("shape-1.yaml", "generic: [a]\n", expect![["Error: c.yaml:3:10: generic must be a mapping, found a list"]]);
    check("shape-2.yaml", "generic:\n  controllers: job\n", expect![["Error: c.yaml:4:16: Generic.Controllers must be a list, found a single value"]]);
    check("shape-3.yaml", "generic:\n  minResyncPeriod: soon\n", expect![[r#"Error: c.yaml:4:20: invalid value "soon" for Generic.MinResyncPeriod: not a duration (write for example 30s, 1m30s or 100ms)"#]]);
    check("shape-4.yaml", "generic:\n  minResyncPeriod: {}\n", expect![["Error: c.yaml:4:20: Generic.MinResyncPeriod must be one duration, found a mapping"]]);
    check("shape-5.yaml", "featureGates: {HPAScaleToZero: perhaps}\n", expect![[r#"Error: c.yaml:3:32: invalid value "perhaps" for FeatureGates.HPAScaleToZero: neither true nor false"#]]);
    check("shape-6.yaml", "featureGates: [HPAScaleToZero]\n", expect![["Error: c.yaml:3:15: FeatureGates must be a mapping, found a list"]]);
}

#[test]
fn values_out_of_range_are_refused_with_their_place() {
    check("range-1.yaml", "deploymentController: {workers: 0}\n", expect![["Error: c.yaml:3:33 (DeploymentController.workers): 0 must be at least 1; to stop deployment-controller leave it out of --controllers"]]);
    check(
        "range-2.yaml",
        "deploymentController: {maxRetries: -1, baseDelay: 2s, maxDelay: 1s}\n",
        expect![[r#"
            Error: 2 problems:
              - c.yaml:3:51 (DeploymentController): baseDelay 2s must not be longer than maxDelay 1s
              - c.yaml:3:36 (DeploymentController.maxRetries): -1 must not be negative"#]],
    );
    check("range-3.yaml", "deploymentController: {workers: 2, concurrentDeploymentSyncs: 3}\n", expect![["Error: c.yaml:3:33 (DeploymentController.workers): 2 contradicts c.yaml:3:63 (DeploymentController.ConcurrentDeploymentSyncs) = 3; keep one of them"]]);
    check("range-4.yaml", "generic: {leaderElection: {leaseDuration: 5s}}\n", expect!["Error: --leader-elect-renew-deadline: 10s must be shorter than c.yaml:3:43 (Generic.LeaderElection.leaseDuration): 5s; otherwise two replicas could lead at once"]);
    check(
        "range-5.yaml",
        "deploymentController: {baseDelay: 0s, resync: -1s}\n",
        expect![[r#"
            Error: 2 problems:
              - c.yaml:3:35 (DeploymentController.baseDelay): 0s must be longer than 0s
              - c.yaml:3:47 (DeploymentController.resync): -1s must be longer than 0s"#]],
    );
}

#[test]
fn files_that_are_not_this_configuration_are_refused() {
    check_whole("not-1.yaml", "", expect![["Error: c.yaml:1:1: expected kind KubeControllerManagerConfiguration, found nothing"]]);
    check_whole("not-2.yaml", "- a\n", expect![["Error: c.yaml:1:1: expected kind KubeControllerManagerConfiguration, found a list"]]);
    check_whole("not-3.yaml", "generic: {\n", expect![["Error: c.yaml:1:10: not valid YAML: unclosed bracket '{'"]]);
    check_whole(
        "not-4.yaml",
        "apiVersion: v1\nkind: Pod\n",
        expect![[r#"
        Error: 2 problems:
          - c.yaml:1:13: apiVersion is "v1", must be "kubecontrollermanager.config.k8s.io/v1alpha1"
          - c.yaml:2:7: kind is "Pod", must be "KubeControllerManagerConfiguration""#]],
    );
    check_whole(
        "not-5.yaml",
        "generic: {}\n",
        expect![[r#"
        Error: 2 problems:
          - c.yaml:1:1: apiVersion is missing, must be "kubecontrollermanager.config.k8s.io/v1alpha1"
          - c.yaml:1:1: kind is missing, must be "KubeControllerManagerConfiguration""#]],
    );
    check("not-6.yaml", "generic: {}\ngeneric: {}\n", expect!["Error: c.yaml:4:1: not valid YAML: duplicate mapping key: generic"]);
    check("not-7.yaml", "generic:\n\tport: 0\n", expect![["Error: c.yaml:4:2: not valid YAML: tabs disallowed within this context (block indentation)"]]);
}
