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

/// The tags of the documents a server has, and what it answers to who knows them.
#[tokio::test(start_paused = true)]
async fn what_did_not_change_is_not_told_again_and_what_did_is() {
    let server = Script::new(|before, asked| {
        let known = asked.headers.get("if-none-match");
        // From the seventh request on there is one group more.
        let tag = match (asked.path.as_str(), before) {
            ("/apis", 6..) => "\"two\"",
            _ => "\"one\"",
        };
        match (asked.path.as_str(), known) {
            (_, Some(known)) if known == tag => Answer::new(304, "").tagged(tag),
            ("/api", _) => Answer::new(200, ALL).tagged(tag),
            (_, _) if before < 6 => Answer::new(200, r#"{"items":[]}"#).tagged(tag),
            _ => Answer::new(200, &ALL.replace(r#""name":"""#, r#""name":"more.io""#)).tagged(tag),
        }
    });
    let client = server.client();
    let count = async || client.discover().await.unwrap().in_namespaces().count();
    assert_eq!([count().await, count().await], [1, 1]);
    let other = client.named("another", None).discover().await.unwrap();
    assert_eq!(other.in_namespaces().count(), 1);
    assert_eq!(count().await, 2);
    let known = |asked: &super::script::Asked| asked.headers.contains_key("if-none-match");
    let asks: Vec<bool> = server.asks().iter().map(known).collect();
    let (whole, briefly) = ([false; 2], [true; 2]);
    let expected = [whole, briefly, briefly, briefly, whole].concat();
    assert_eq!(asks, expected);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tags_is_asked_for_all_of_it_every_time() {
    let server = Script::new(|_, _| Answer::new(200, ALL));
    let client = server.client();
    for _ in 0..2 {
        client.discover().await.unwrap();
    }
    let known = |asked: &super::script::Asked| asked.headers.contains_key("if-none-match");
    assert_eq!(server.asks().iter().filter(|asked| known(asked)).count(), 0);
}
