//! A disk that takes no more: reads and watches go on, writes are refused.

use std::time::Duration;

use flyball_durable::{Commit, Write};
use flyball_storage::Revision;

use super::*;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> String {
    serde_json::json!({"metadata": {"name": name}}).to_string()
}

/// Lets the log fail for good, as a full disk does: nothing after this is durable.
async fn break_disk(served: &Served) {
    let place = served.server.log().reserve().await.unwrap();
    place.append(Commit {
        revision: Revision(1 << 40),
        writes: vec![Write::Delete { key: "/a".into() }],
    });
    let mut news = served.server.news();
    let _ = news.wait_for(|durable| durable.failure.is_some()).await;
}

#[tokio::test]
async fn reads_go_on_without_what_was_never_durable() {
    let served = Served::start(Limits::default()).await;
    assert_eq!(served.within("POST", MAPS, map("kept")).await.0, 201);
    break_disk(&served).await;
    for _ in 0..2 {
        let (code, told) = served.within("POST", MAPS, map("lost")).await;
        assert_eq!(code, 500);
        let message = told["message"].as_str().unwrap();
        assert!(
            message.starts_with("the data could not be written to disk"),
            "{message}"
        );
    }
    let told = served.get(&format!("{MAPS}/kept"), "").await;
    assert_eq!(told.code, 200, "{}", told.text());
    assert_eq!(served.get(&format!("{MAPS}/lost"), "").await.code, 404);
    let (code, list) = served.within("GET", MAPS, String::new()).await;
    assert_eq!(code, 200);
    let names: Vec<_> = list["items"].as_array().unwrap().iter().collect();
    assert!(!names.iter().any(|one| one["metadata"]["name"] == "lost"));
    // What stores nothing is answered as ever, and health says what is wrong.
    let review = serde_json::json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}},
    });
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(
        served.within("POST", reviews, review.to_string()).await.0,
        201
    );
    assert_eq!(served.get("/livez", "").await.code, 500);
}

#[tokio::test]
async fn watches_end_at_a_stop_after_the_disk_has_failed() {
    let folder = std::env::temp_dir().join(format!("flyball-disk-{}", uuid::Uuid::new_v4()));
    let served = Served::start_in(Some(&folder), Limits::default()).await;
    let mut watch = served.admin().await;
    watch
        .write_all(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 12];
    watch.read_exact(&mut first).await.unwrap();
    break_disk(&served).await;
    // The thread that writes has ended, and the watch has noticed.
    let mut news = served.server.news();
    while news.changed().await.is_ok() {}
    assert_eq!(served.get("/livez", "").await.code, 500);
    let Served { listening, .. } = served;
    let stop = tokio::time::timeout(Duration::from_secs(5), listening.stop());
    stop.await.expect("a watch is in the way of the stop");
    std::fs::remove_dir_all(&folder).unwrap();
}
