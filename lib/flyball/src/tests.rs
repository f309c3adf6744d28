mod cascade;
mod keys;
mod reports;
mod rules;

use std::time::Duration;

use crate::{Client, Method, Part, Plane, PlaneOptions, Request};
use flyball_runtime::LoopThread;
use serde_json::{Value, json};
use tokio::time::timeout;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

async fn get(client: &Client, path: &str) -> Value {
    let body = client.send(&Request::get(path)).await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

async fn post(client: &Client, path: &str, body: &Value) -> Value {
    let request = Request::with(Method::Post, path, body.to_string());
    serde_json::from_slice(&client.send(&request).await.unwrap()).unwrap()
}

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "app:v1"}]},
            },
        },
    })
}

/// Watches the Deployment until as many pods are available as wanted.
async fn until_available(client: &Client, replicas: u64) {
    let wait = async {
        let mut watch = client
            .watch(&format!("{DEPLOYMENTS}?watch=1"))
            .await
            .unwrap();
        while let Some(line) = watch.next().await.unwrap() {
            let line: Value = serde_json::from_slice(&line).unwrap();
            let status = &line["object"]["status"];
            if status["availableReplicas"] == replicas && status["replicas"] == replicas {
                return;
            }
        }
        panic!("the watch ended");
    };
    timeout(Duration::from_secs(60), wait).await.unwrap();
}

#[tokio::test]
async fn a_deployment_becomes_available() {
    let plane = Plane::start().await.unwrap();
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(3)).await;
    until_available(&client, 3).await;
    let pods = get(&client, "/api/v1/namespaces/default/pods").await;
    let pods = pods["items"].as_array().unwrap();
    assert_eq!(pods.len(), 3);
    for pod in pods {
        assert_eq!(pod["spec"]["nodeName"], "node-0");
        assert_eq!(pod["status"]["phase"], "Running");
    }
    plane.stop().await;
}

#[tokio::test]
async fn events_expire() {
    let options = PlaneOptions {
        parts: Vec::new(),
        event_ttl: Duration::from_millis(200),
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options).await.unwrap();
    let client = plane.client("test");
    let events = "/api/v1/namespaces/default/events";
    let involved = json!({"kind": "Pod", "name": "a", "namespace": "default"});
    let event = json!({"metadata": {"name": "a.1"}, "involvedObject": involved});
    let made = post(&client, events, &event).await;
    let version = made["metadata"]["resourceVersion"].as_str().unwrap();
    let since = format!("{events}?watch=1&resourceVersion={version}");
    let mut watch = client.watch(&since).await.unwrap();
    let line = timeout(Duration::from_secs(60), watch.next()).await;
    let line = line.expect("the event stays").unwrap().unwrap();
    let line: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(line["type"], "DELETED");
    assert_eq!(get(&client, events).await["items"], json!([]));
    plane.stop().await;
}

#[tokio::test]
async fn a_server_on_another_thread_serves_the_same() {
    let server = LoopThread::start("server", 400).unwrap();
    let options = PlaneOptions {
        server_on: Some(server.handle()),
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options).await.unwrap();
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(3)).await;
    until_available(&client, 3).await;
    plane.stop().await;

    drop(server);
    let gone = client.send(&Request::get("/version")).await.unwrap_err();
    let told = gone.to_string();
    assert!(told.contains("the server has stopped"), "{told}");
}

#[tokio::test]
async fn parts_are_switched_on_and_off_at_run_time() {
    let options = PlaneOptions {
        parts: vec![Part::Nodes, Part::Scheduler],
        ..PlaneOptions::default()
    };
    let mut plane = Plane::start_with(options).await.unwrap();
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(1)).await;
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    assert_eq!(get(&client, sets).await["items"], json!([]));
    plane.switch_on(Part::Controllers).unwrap();
    until_available(&client, 1).await;
    plane.switch_off(Part::Controllers).await;
    plane.stop().await;
}

#[tokio::test]
async fn controllers_are_switched_on_and_off_one_by_one() {
    let options = PlaneOptions {
        controllers: vec!["deployment".to_owned()],
        ..PlaneOptions::default()
    };
    let mut plane = Plane::start_with(options).await.unwrap();
    assert_eq!(plane.controllers(), ["deployment-controller"]);
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(1)).await;
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    let mut watch = client.watch(&format!("{sets}?watch=1")).await.unwrap();
    let seen = timeout(Duration::from_secs(60), watch.next()).await;
    assert!(seen.unwrap().unwrap().is_some(), "no ReplicaSet was made");

    plane.switch_controller_on("replicaset").await.unwrap();
    until_available(&client, 1).await;

    plane.switch_controller_off("deployment").await.unwrap();
    assert_eq!(plane.controllers(), ["replicaset-controller"]);
    let unknown = plane.switch_controller_on("replicasets").await;
    let message = unknown.unwrap_err().to_string();
    assert!(
        message.starts_with("there is no controller \"replicasets\"; there are "),
        "{message}"
    );
    plane.stop().await;
    assert_eq!(
        plane_with(&["x"]).await.unwrap_err().to_string(),
        message.replace("replicasets\"", "x\"")
    );
}

async fn plane_with(controllers: &[&str]) -> Result<(), crate::PlaneFailed> {
    let options = PlaneOptions {
        controllers: controllers.iter().map(|name| (*name).to_owned()).collect(),
        ..PlaneOptions::default()
    };
    Plane::start_with(options).await.map(drop)
}

#[tokio::test]
async fn whoever_follows_decisions_learns_what_was_done_and_why() {
    let plane = Plane::start().await.unwrap();
    let mut decisions = plane.decisions();
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(2)).await;
    let told = async {
        loop {
            let decision = decisions.recv().await.unwrap();
            let by = decision.controller == "replicaset-controller";
            if by && decision.deeds.iter().any(|deed| deed.verb == "create") {
                return decision;
            }
        }
    };
    let decision = timeout(Duration::from_secs(60), told).await.unwrap();
    let key = &decision.finished.key;
    assert!(key.starts_with("default/web-"), "{key}");
    let pods = decision.deeds.iter().filter(|deed| deed.verb == "create");
    let names: Vec<_> = pods.map(|deed| deed.object.to_string()).collect();
    assert_eq!(names.len(), 2);
    assert!(names[0].starts_with("default/web-"), "{names:?}");
    assert!(!decision.finished.report.rule.code.is_empty());
    plane.stop().await;
}

#[tokio::test]
async fn a_folder_keeps_everything_and_belongs_to_one_plane_at_a_time() {
    let folder = std::env::temp_dir().join(format!("flyball-plane-{}", std::process::id()));
    let options = PlaneOptions {
        data: Some(folder.clone()),
        parts: Vec::new(),
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options.clone()).await.unwrap();
    let made = post(&plane.client("test"), DEPLOYMENTS, &deployment(2)).await;
    let refused = Plane::start_with(options.clone())
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains(folder.to_str().unwrap()), "{refused}");
    plane.stop().await;
    let plane = Plane::start_with(options).await.unwrap();
    assert_eq!(
        get(&plane.client("test"), &format!("{DEPLOYMENTS}/web")).await,
        made
    );
    plane.stop().await;
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A client that comes over HTTPS with this kubeconfig.
async fn over_https(text: &str) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let name = format!("flyball-kubeconfig-{}", uuid::Uuid::new_v4());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let source = flyball_client::ConfigSource {
        kubeconfig: Some(path.clone()),
        master: None,
    };
    let config = flyball_client::load(&source).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    Client::new(&config, "test").unwrap()
}

/// A kubeconfig without its user's certificate, or with that of another authority.
fn stranger(text: &str, other: Option<&str>) -> String {
    let is_users = |line: &&str| line.trim_start().starts_with("client-");
    let others: Vec<&str> = other
        .into_iter()
        .flat_map(str::lines)
        .filter(is_users)
        .collect();
    let mut lines = Vec::new();
    for line in text.lines() {
        match is_users(&line) {
            true => lines.extend(
                others
                    .iter()
                    .find(|other| other.split(':').next() == line.split(':').next()),
            ),
            false => lines.push(line),
        }
    }
    lines.join("\n").replace("  user:\nc", "  user: {}\nc")
}

#[tokio::test]
async fn only_who_shows_a_certificate_of_this_plane_gets_in() {
    let options = PlaneOptions {
        listen: Some(([127, 0, 0, 1], 0).into()),
        parts: Vec::new(),
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options.clone()).await.unwrap();
    let kubeconfig = plane.kubeconfig().unwrap().unwrap();
    let admin = over_https(&kubeconfig).await;
    let namespaces = get(&admin, "/api/v1/namespaces").await;
    assert_eq!(namespaces["kind"], "NamespaceList");

    let nobody = over_https(&stranger(&kubeconfig, None)).await;
    let refused = nobody
        .send(&Request::get("/api/v1/namespaces"))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), 403, "{refused}");
    assert!(
        refused.to_string().contains("system:anonymous"),
        "{refused}"
    );
    assert!(nobody.send(&Request::get("/healthz")).await.is_ok());

    let other = Plane::start_with(options).await.unwrap();
    let theirs = other.kubeconfig().unwrap().unwrap();
    let foreigner = over_https(&stranger(&kubeconfig, Some(&theirs))).await;
    // Not a failed handshake, and not even what everybody may see.
    for path in ["/api/v1/namespaces", "/healthz"] {
        let refused = foreigner.send(&Request::get(path)).await.unwrap_err();
        assert_eq!(refused.code(), 401, "{refused}");
    }
    plane.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_token_opens_what_its_account_may_do_and_nothing_else() {
    let options = PlaneOptions {
        listen: Some(([127, 0, 0, 1], 0).into()),
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options).await.unwrap();
    let admin = plane.client("test");
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&admin, accounts, &json!({"metadata": {"name": "reader"}})).await;
    let binding = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "reader"}],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    post(&admin, bindings, &binding).await;
    until_collected(&admin, "view", "pods").await;
    let issued = post(&admin, &format!("{accounts}/reader/token"), &json!({})).await;
    let token = issued["status"]["token"].as_str().unwrap();

    let anonymous = stranger(&plane.kubeconfig().unwrap().unwrap(), None);
    let shows = |token: &str| anonymous.replace("user: {}", &format!("user: {{token: {token}}}"));
    let reader = over_https(&shows(token)).await;
    let pods = get(&reader, "/api/v1/namespaces/default/pods").await;
    assert_eq!(pods["kind"], "PodList");
    for path in [
        "/api/v1/namespaces/kube-system/pods",
        "/api/v1/namespaces/default/secrets",
    ] {
        let refused = reader.send(&Request::get(path)).await.unwrap_err();
        assert_eq!(refused.code(), 403, "{refused}");
    }
    let forged = over_https(&shows(&token.replace('.', ".A"))).await;
    let refused = forged.send(&Request::get("/healthz")).await.unwrap_err();
    assert_eq!(refused.code(), 401, "{refused}");
    let gone = Request::with(Method::Delete, format!("{accounts}/reader"), String::new());
    admin.send(&gone).await.unwrap();
    let refused = reader.send(&Request::get("/healthz")).await.unwrap_err();
    assert_eq!(refused.code(), 401, "{refused}");
    plane.stop().await;
}

/// Watches a ClusterRole until it has a rule about a resource.
async fn until_collected(client: &Client, role: &str, resource: &str) {
    let path = format!(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles?watch=1&fieldSelector=metadata.name={role}"
    );
    let wait = async {
        let mut watch = client.watch(&path).await.unwrap();
        while let Some(line) = watch.next().await.unwrap() {
            let line: Value = serde_json::from_slice(&line).unwrap();
            let rules = line["object"]["rules"].as_array();
            let mut resources = rules.into_iter().flatten().map(|rule| &rule["resources"]);
            let has = |all: &Value| {
                all.as_array()
                    .is_some_and(|all| all.contains(&json!(resource)))
            };
            if resources.any(has) {
                return;
            }
        }
        panic!("the watch ended");
    };
    timeout(Duration::from_secs(60), wait).await.unwrap();
}

#[tokio::test]
async fn the_roles_for_people_have_their_rules_and_collect_new_ones() {
    let plane = Plane::start().await.unwrap();
    let client = plane.client("test");
    for (role, resource) in [
        ("view", "pods/log"),
        ("edit", "secrets"),
        ("admin", "rolebindings"),
    ] {
        until_collected(&client, role, resource).await;
    }
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let labels = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    let widgets = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "widgets", "labels": labels},
        "rules": [{"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}],
    });
    post(&client, path, &widgets).await;
    // By way of `view`, which `edit` collects, and `admin` that.
    until_collected(&client, "admin", "widgets").await;
    plane.stop().await;
}
