use serde_json::{Value, json};

use crate::tests::Server;
use crate::{Method, Reply, Request};

const PODS: &str = "/api/v1/namespaces/default/pods";
const PLACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A cluster whose default namespace has these accounts.
fn server(accounts: &[Value]) -> Server {
    let mut server = Server::new();
    server.registry.require_accounts();
    for account in accounts {
        let (code, _) = server.post("/api/v1/namespaces/default/serviceaccounts", account);
        assert_eq!(code, 201);
    }
    server
}

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

fn pod(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if spec["containers"].is_null() {
        spec["containers"] = json!([{"name": "a", "image": "b"}]);
    }
    json!({"metadata": {"name": "p"}, "spec": spec})
}

fn refusal(server: &mut Server, pod: &Value) -> String {
    let (code, status) = server.post(PODS, pod);
    assert_eq!(code, 403, "{status}");
    let message = status["message"].as_str().unwrap();
    let cause = message.strip_prefix("pods \"p\" is forbidden: ");
    cause.unwrap_or(message).to_owned()
}

#[test]
fn a_pod_runs_as_an_account_that_exists() {
    let mut server = server(&[]);
    assert_eq!(
        refusal(&mut server, &pod(&json!({}))),
        "error looking up service account default/default: serviceaccount \"default\" not found"
    );
    let named_pod = pod(&json!({"serviceAccountName": "web"}));
    assert_eq!(
        refusal(&mut server, &named_pod),
        "error looking up service account default/web: serviceaccount \"web\" not found"
    );
}

#[test]
fn a_pod_finds_its_token_in_every_container_that_has_nothing_else_there() {
    let mut server = server(&[named("default")]);
    let (code, made) = server.post(
        PODS,
        &pod(&json!({
            "initContainers": [{"name": "i", "image": "b"}],
            "containers": [
                {"name": "a", "image": "b"},
                {"name": "c", "image": "b", "volumeMounts": [{"name": "v", "mountPath": PLACE}]},
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
        })),
    );
    assert_eq!(code, 201, "{made}");
    let spec = &made["spec"];
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(spec["serviceAccount"], "default");
    let name = spec["volumes"][1]["name"].as_str().unwrap();
    assert!(
        name.starts_with("kube-api-access-") && name.len() == 21,
        "{name}"
    );
    let mount = json!([{"name": name, "readOnly": true, "mountPath": PLACE}]);
    assert_eq!(spec["initContainers"][0]["volumeMounts"], mount);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    assert_eq!(spec["containers"][1]["volumeMounts"][0]["name"], "v");
    assert_eq!(
        spec["volumes"][1]["projected"],
        json!({"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{
                "path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]})
    );
}

#[test]
fn pods_and_accounts_can_do_without_a_token() {
    let quiet = json!({"metadata": {"name": "default"}, "automountServiceAccountToken": false});
    for (spec, mounts) in [
        (json!({}), 0),
        (json!({"automountServiceAccountToken": true}), 1),
    ] {
        let mut server = server(std::slice::from_ref(&quiet));
        let (code, made) = server.post(PODS, &pod(&spec));
        assert_eq!(code, 201, "{made}");
        let volumes = made["spec"]["volumes"].as_array().map_or(0, Vec::len);
        assert_eq!(volumes, mounts);
    }
}

#[test]
fn a_pod_pulls_with_the_secrets_of_its_account() {
    let account = json!({"metadata": {"name": "default"}, "imagePullSecrets": [{"name": "reg"}]});
    let mut server = server(&[account]);
    let (_, made) = server.post(PODS, &pod(&json!({})));
    assert_eq!(made["spec"]["imagePullSecrets"], json!([{"name": "reg"}]));
}

#[test]
fn a_mirror_pod_has_no_account_and_no_secrets() {
    let mut server = server(&[named("default")]);
    for (spec, why) in [
        (
            json!({"serviceAccountName": "default"}),
            "a mirror pod may not reference service accounts",
        ),
        (
            json!({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}),
            "a mirror pod may not reference secrets",
        ),
        (
            json!({"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]}),
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ] {
        let mut pod = pod(&spec);
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        pod["spec"]["nodeName"] = "n".into();
        assert_eq!(refusal(&mut server, &pod), why);
    }
}

#[test]
fn an_account_may_mind_which_secrets_its_pods_use() {
    let strict = json!({
        "metadata": {"name": "default", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
        "secrets": [{"name": "s1"}], "imagePullSecrets": [{"name": "reg"}],
    });
    let mut server = server(&[strict]);
    let not = "is not allowed because service account default does not reference that secret";
    let from = |secret: &str| json!([{"name": "E", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]);
    for (spec, why) in [
        (
            json!({"volumes": [{"name": "v", "secret": {"secretName": "s2"}}]}),
            format!("volume with secret.secretName=\"s2\" {not}"),
        ),
        (
            json!({"containers": [{"name": "a", "image": "b", "env": from("s2")}]}),
            format!("container a with envVar E referencing secret.secretName=\"s2\" {not}"),
        ),
        (
            json!({"initContainers": [{"name": "i", "image": "b", "envFrom": [{"secretRef": {"name": "s2"}}]}]}),
            format!("init container i with envFrom referencing secret.secretName=\"s2\" {not}"),
        ),
        (
            json!({"imagePullSecrets": [{"name": "other"}]}),
            "imagePullSecrets[0].name=\"other\" is not allowed because service account default does not reference \
             that imagePullSecret"
                .to_owned(),
        ),
    ] {
        assert_eq!(refusal(&mut server, &pod(&spec)), why);
    }
    let fine = json!({"containers": [{"name": "a", "image": "b", "env": from("s1")}]});
    assert_eq!(server.post(PODS, &pod(&fine)).0, 201);
}

#[test]
fn whoever_lets_an_account_mind_is_told_that_this_goes_out_of_use() {
    let mut server = server(&[]);
    let strict = json!({"metadata": {
        "name": "strict", "annotations": {"kubernetes.io/enforce-mountable-secrets": "false"},
    }});
    let body = strict.to_string();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let told = |server: &mut Server, method: Method, path: &str| {
        let reply = server.reply(method, path, "application/json", body.as_bytes());
        let Reply::Answer(answer) = reply else {
            panic!("not an answer");
        };
        answer.warnings
    };
    assert_eq!(
        told(&mut server, Method::Post, accounts),
        [
            "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate \
             namespaces to isolate access to mounted secrets"
        ]
    );
    let again = format!("{accounts}/strict");
    assert_eq!(told(&mut server, Method::Put, &again), [""; 0]);
}

#[test]
fn only_a_pod_in_a_namespace_without_its_account_is_worth_waiting_for() {
    let mut server = server(&[]);
    let awaits = |server: &Server, method: Method, path: &str| {
        server.registry.awaits_account(&Request {
            method,
            path,
            query: &[],
            body: &[],
            content_type: "",
            accept: "",
            user: &server.user,
            agent: "",
            now: server.now,
        })
    };
    assert!(awaits(&server, Method::Post, PODS));
    assert!(!awaits(&server, Method::Get, PODS));
    assert!(!awaits(
        &server,
        Method::Post,
        "/api/v1/namespaces/nowhere/pods"
    ));
    assert!(!awaits(
        &server,
        Method::Post,
        "/api/v1/namespaces/default/configmaps"
    ));
    let (code, _) = server.post(
        "/api/v1/namespaces/default/serviceaccounts",
        &named("default"),
    );
    assert_eq!(code, 201);
    assert!(!awaits(&server, Method::Post, PODS));
}
