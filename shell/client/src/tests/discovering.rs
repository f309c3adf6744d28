//! What is asked of a server to learn which resources it has.

use super::script::{Answer, Script};

const ALL: &str = r#"{"items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[
    {"resource":"pods","scope":"Namespaced","verbs":["delete"],"responseKind":{"kind":"Pod"}}]}]}]}"#;

#[tokio::test(start_paused = true)]
async fn a_server_that_tells_all_at_once_is_asked_twice() {
    let server = Script::new(|_, asked| match asked.path.as_str() {
        "/api" => Answer::new(200, ALL),
        _ => Answer::new(200, r#"{"items":[]}"#),
    });
    let found = server.client().discover().await.unwrap();
    assert_eq!(found.in_namespaces().count(), 1);
    assert_eq!(server.lines(), ["GET /api", "GET /apis"]);
    let accept = server.asks()[0].headers["accept"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(accept.contains("as=APIGroupDiscoveryList"), "{accept}");
}

#[tokio::test(start_paused = true)]
async fn a_group_that_does_not_answer_hides_no_other() {
    let server = Script::new(|_, asked| match asked.path.as_str() {
        "/api" => Answer::new(404, ""),
        "/apis" => Answer::new(
            200,
            r#"{"groups":[{"name":"a","versions":[{"version":"v1"}]},
                {"name":"b","versions":[{"version":"v1"}]}]}"#,
        ),
        "/apis/a/v1" => Answer::new(503, "service unavailable"),
        _ => Answer::new(
            200,
            r#"{"resources":[{"name":"bs","kind":"B","namespaced":true,"verbs":["delete"]}]}"#,
        ),
    });
    let found = server.client().discover().await.unwrap();
    assert_eq!(found.in_namespaces().count(), 1);
    assert_eq!(found.failures()[0].group_version(), "a/v1");
    assert!(!found.failures()[0].reason.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_tells_nothing_is_an_error() {
    for (code, body) in [(500, "broken"), (200, "<html>")] {
        let server = Script::new(move |_, _| Answer::new(code, body));
        assert!(server.client().discover().await.is_err(), "{code} {body}");
    }
}
