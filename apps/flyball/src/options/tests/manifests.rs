//! Argument lists of installers, as they write them into their manifests: each must start here
//! unchanged.

use super::super::flags::find;
use super::{TempFile, accept, refuse};
use crate::options::Built;

const KUBEADM: &[&str] = &[
    "--allocate-node-cidrs=true",
    "--authentication-kubeconfig=FILE",
    "--authorization-kubeconfig=FILE",
    "--bind-address=127.0.0.1",
    "--client-ca-file=FILE",
    "--cluster-cidr=10.244.0.0/16",
    "--cluster-name=kubernetes",
    "--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt",
    "--cluster-signing-key-file=/etc/kubernetes/pki/ca.key",
    "--controllers=*,bootstrapsigner,tokencleaner",
    "--kubeconfig=FILE",
    "--leader-elect=true",
    "--requestheader-client-ca-file=FILE",
    "--root-ca-file=/etc/kubernetes/pki/ca.crt",
    "--service-account-private-key-file=/etc/kubernetes/pki/sa.key",
    "--service-cluster-ip-range=10.96.0.0/12",
    "--use-service-account-credentials=true",
];

const K3S: &[&str] = &[
    "--allocate-node-cidrs=true",
    "--authentication-kubeconfig=FILE",
    "--authorization-kubeconfig=FILE",
    "--bind-address=127.0.0.1",
    "--cluster-cidr=10.42.0.0/16",
    "--cluster-signing-kube-apiserver-client-cert-file=/var/lib/client-ca.nochain.crt",
    "--cluster-signing-kube-apiserver-client-key-file=/var/lib/client-ca.key",
    "--cluster-signing-kubelet-client-cert-file=/var/lib/client-ca.nochain.crt",
    "--cluster-signing-kubelet-client-key-file=/var/lib/client-ca.key",
    "--cluster-signing-kubelet-serving-cert-file=/var/lib/server-ca.nochain.crt",
    "--cluster-signing-kubelet-serving-key-file=/var/lib/server-ca.key",
    "--cluster-signing-legacy-unknown-cert-file=/var/lib/server-ca.nochain.crt",
    "--cluster-signing-legacy-unknown-key-file=/var/lib/server-ca.key",
    "--configure-cloud-routes=false",
    "--controllers=*,tokencleaner,-service,-route,-cloud-node-lifecycle",
    "--kubeconfig=FILE",
    "--profiling=false",
    "--root-ca-file=/var/lib/server-ca.crt",
    "--secure-port=10257",
    "--service-account-private-key-file=/var/lib/service.current.key",
    "--service-cluster-ip-range=10.43.0.0/16",
    "--tls-cert-file=FILE",
    "--tls-private-key-file=FILE",
    "--use-service-account-credentials=true",
    "--leader-elect=false",
];

const MINIKUBE: &[&str] = &[
    "--allocate-node-cidrs=true",
    "--authentication-kubeconfig=FILE",
    "--authorization-kubeconfig=FILE",
    "--bind-address=127.0.0.1",
    "--client-ca-file=FILE",
    "--cluster-cidr=10.244.0.0/16",
    "--cluster-name=mk",
    "--cluster-signing-cert-file=/var/lib/minikube/certs/ca.crt",
    "--cluster-signing-key-file=/var/lib/minikube/certs/ca.key",
    "--controllers=*,bootstrapsigner,tokencleaner",
    "--kubeconfig=FILE",
    "--leader-elect=false",
    "--requestheader-client-ca-file=FILE",
    "--root-ca-file=/var/lib/minikube/certs/ca.crt",
    "--service-account-private-key-file=/var/lib/minikube/certs/sa.key",
    "--service-cluster-ip-range=10.96.0.0/12",
    "--use-service-account-credentials=true",
];

const KOPS: &[&str] = &[
    "--allocate-node-cidrs=true",
    "--attach-detach-reconcile-sync-period=1m0s",
    "--authentication-kubeconfig=FILE",
    "--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics",
    "--authorization-kubeconfig=FILE",
    "--cloud-provider=external",
    "--cluster-cidr=100.96.0.0/11",
    "--cluster-name=example.k8s.local",
    "--cluster-signing-cert-file=/srv/kubernetes/kube-controller-manager/ca.crt",
    "--cluster-signing-key-file=/srv/kubernetes/kube-controller-manager/ca.key",
    "--configure-cloud-routes=false",
    "--feature-gates=InTreePluginAWSUnregister=true",
    "--flex-volume-plugin-dir=/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "--kubeconfig=FILE",
    "--leader-elect=true",
    "--root-ca-file=/srv/kubernetes/ca.crt",
    "--service-account-private-key-file=/srv/kubernetes/kube-controller-manager/service-account.key",
    "--tls-cert-file=FILE",
    "--tls-private-key-file=FILE",
    "--use-service-account-credentials=true",
    "--v=2",
];

/// Puts a readable file in the place of each file that is read at the start.
fn with_file(list: &[&str], file: &TempFile) -> Vec<String> {
    list.iter()
        .map(|word| word.replace("FILE", file.path()))
        .collect()
}

#[test]
fn installers_argument_lists_have_no_unknown_flag() {
    for list in [KUBEADM, K3S, MINIKUBE, KOPS] {
        for word in list {
            let name = word.trim_start_matches("--").split('=').next().unwrap();
            assert!(find(name).is_some(), "{word}");
        }
    }
}

#[test]
fn installers_argument_lists_start() {
    let file = TempFile::new("manifest-file", "x");
    for list in [KUBEADM, K3S, MINIKUBE] {
        let words = with_file(list, &file);
        accept(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn a_gate_that_upstream_removed_is_refused_as_upstream_refuses_it() {
    let file = TempFile::new("removed-gate", "x");
    let words = with_file(KOPS, &file);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(refuse(&words).contains("unrecognized feature gate: InTreePluginAWSUnregister"));
    let without: Vec<&str> = words
        .into_iter()
        .filter(|word| !word.starts_with("--feature-gates"))
        .collect();
    assert!(accept(&without).generic.external_cloud);
}

#[test]
fn kubeadms_list_is_read_into_the_options() {
    let file = TempFile::new("kubeadm-file", "x");
    let words = with_file(KUBEADM, &file);
    let options = accept(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(options.generic.service_account_credentials);
    assert!(
        options
            .generic
            .selection
            .enabled("token-cleaner-controller")
    );
    assert_eq!(options.client.kubeconfig.as_deref(), Some(file.0.as_path()));
    assert_eq!(
        options.authentication.client_ca.as_deref(),
        Some(file.0.as_path())
    );
    assert_eq!(options.serving.bind_address.to_string(), "127.0.0.1");
    assert_eq!(options.serving.port, Some(10257));
}

#[test]
fn what_kubeadm_sets_in_vain_is_told_with_the_reason() {
    let file = TempFile::new("kubeadm-warnings", "x");
    let words = with_file(KUBEADM, &file);
    let options = accept(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let built = Built {
        controllers: &["deployment-controller", "replicaset-controller"],
        gates: &[],
    };
    let warnings = options.warnings(built);
    let flags: Vec<&String> = warnings.iter().filter(|w| w.starts_with("--")).collect();
    expect_test::expect![[r#"
        [
            "--cluster-signing-cert-file, --cluster-signing-key-file have no effect: certificatesigningrequest-signing-controller is not built into this program yet",
            "--cluster-name has no effect: cloud controllers live in the cloud provider's own controller manager",
            "--allocate-node-cidrs, --cluster-cidr, --service-cluster-ip-range have no effect: node-ipam-controller is not built into this program yet",
            "--root-ca-file has no effect: root-ca-certificate-publisher-controller is not built into this program yet",
            "--service-account-private-key-file has no effect: serviceaccount-token-controller is not built into this program yet",
        ]
    "#]]
    .assert_debug_eq(&flags);
    assert!(warnings.contains(
        &"controller job-controller is not built into this program yet and does not run".to_owned()
    ));
    assert!(
        !warnings
            .iter()
            .any(|w| w.contains("controller deployment-controller"))
    );
}

#[test]
fn nothing_is_said_of_flags_that_were_not_set_or_are_obeyed() {
    let names: Vec<&str> = super::super::controllers::CONTROLLERS
        .iter()
        .map(|k| k.name)
        .collect();
    let built = Built {
        controllers: &names,
        gates: &[],
    };
    let list = ["--leader-elect=false", "-v=2", "--profiling=false"];
    assert_eq!(accept(&list).warnings(built), Vec::<String>::new());
    assert_eq!(
        accept(&[
            "--node-sync-period=1s",
            "--feature-gates=HPAScaleToZero=true",
            "--tls-min-version=VersionTLS10"
        ])
        .warnings(built),
        [
            "--node-sync-period has no effect: deprecated, the loop it paced is gone",
            "feature gate HPAScaleToZero has no effect in this program",
            "--tls-min-version: TLS 1.2 is the oldest version offered, not VersionTLS10",
        ]
    );
}
