//! A registry that is busy: the rest of the server goes on.

use std::time::Duration;

use tokio::time::timeout;

use super::*;

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The answer to a client without credentials, over a new connection.
async fn told_anyone(served: &Served, path: &str) -> Option<u16> {
    let mut stream = timeout(PATIENCE, served.connect(served.tls(None, "http/1.1"))).await;
    let stream = stream.as_mut().ok()?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = timeout(PATIENCE, Told::read(stream)).await;
    Some(told.ok()?.code)
}

#[tokio::test]
async fn probes_are_answered_while_the_registry_is_busy() {
    let served = Served::start(Limits::default()).await;
    let busy = served.server.registry().await;
    for path in ["/livez", "/readyz", "/healthz", "/livez/ping"] {
        assert_eq!(told_anyone(&served, path).await, Some(200), "{path}");
    }
    drop(busy);
    assert_eq!(told_anyone(&served, "/livez").await, Some(200));
}

#[tokio::test]
async fn probes_that_are_not_public_are_not_answered_without_the_registry() {
    let served = Served::start(Limits::default()).await;
    let binding =
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:public-info-viewer";
    let (code, _) = served.within("DELETE", binding, String::new()).await;
    assert_eq!(code, 200);
    assert_eq!(told_anyone(&served, "/livez").await, Some(403));
    let busy = served.server.registry().await;
    let asked = timeout(Duration::from_secs(1), told_anyone(&served, "/livez"));
    assert!(asked.await.is_err(), "it waits for the registry");
    drop(busy);
}

#[tokio::test]
async fn a_large_request_does_not_stop_the_server() {
    let served = Served::start(Limits::default()).await;
    let mut map = "metadata: {name: large}\ndata:\n".to_owned();
    for key in 0..40_000 {
        map.push_str(&format!("  key-{key}: 'a value'\n"));
    }
    let large = served.send("POST", MAPS, "application/yaml", map.as_bytes());
    let mut large = std::pin::pin!(large);
    let mut answered = 0;
    let told = loop {
        let probe = async {
            let code = told_anyone(&served, "/livez").await;
            (code, served.server.is_busy())
        };
        tokio::select! {
            told = large.as_mut() => break told,
            (code, is_busy) = probe => {
                assert_eq!(code, Some(200));
                answered += usize::from(is_busy);
            }
        }
    };
    assert_eq!(told.code, 201, "{}", told.text());
    assert!(answered > 0, "nothing was answered meanwhile");
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_refused() {
    let served = Served::start(Limits::default()).await;
    served.server.set_patience(Duration::ZERO);
    let data = "x".repeat(100 << 10);
    let map = |name: &str| {
        serde_json::json!({"metadata": {"name": name}, "data": {"a": data}}).to_string()
    };
    let (code, told) = served.within("POST", MAPS, map("slow")).await;
    assert_eq!((code, told["reason"].as_str()), (504, Some("Timeout")));
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("may still take effect"), "{message}");
    served.server.set_patience(PATIENCE);
    // It was not given up half-way.
    assert_eq!(
        served
            .within("GET", &format!("{MAPS}/slow"), String::new())
            .await
            .0,
        200
    );
    assert_eq!(served.within("POST", MAPS, map("quick")).await.0, 201);
}
