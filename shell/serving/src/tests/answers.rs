//! Who gets which answer.

use super::*;
use crate::ServeError;

#[tokio::test]
async fn health_is_open_to_all() {
    let served = Served::start().await;
    let answer = served.ask("GET /healthz").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    assert!(
        answer
            .head
            .contains("content-type: text/plain; charset=utf-8"),
        "{}",
        answer.head
    );
    assert!(answer.head.contains("cache-control: no-cache, private"));
    assert_eq!(
        served.ask("GET /livez?verbose").await.body,
        "[+]leaderElection ok\nlivez check passed\n"
    );
    let answer = served.ask("GET /readyz?verbose").await;
    assert_eq!(answer.status, 500);
    assert!(
        answer.body.contains("[-]pods failed: not synced\n"),
        "{}",
        answer.body
    );
    assert!(served.api.asked("reviews").is_empty());
}

#[tokio::test]
async fn one_check_alone_needs_permission() {
    let served = Served::start().await;
    assert_eq!(served.ask("GET /healthz/leaderElection").await.status, 403);
    assert_eq!(
        served.ask_as_root("GET /healthz/leaderElection").await.body,
        "ok"
    );
    assert_eq!(served.ask_as_root("GET /healthz/nodes").await.status, 404);
}

#[tokio::test]
async fn head_is_get_without_a_body_and_nothing_else_is_allowed() {
    let served = Served::start().await;
    let head = served.ask("HEAD /readyz").await;
    assert_eq!((head.status, head.body.as_str()), (500, ""));
    let get = served.ask("GET /readyz").await;
    assert!(
        head.head
            .contains(&format!("content-length: {}", get.body.len())),
        "{}",
        head.head
    );
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        let answer = served.ask(&format!("{method} /healthz")).await;
        assert_eq!(answer.status, 405);
        assert!(answer.head.contains("allow: get, head"), "{}", answer.head);
    }
    assert_eq!(served.ask_as_root("POST /metrics").await.status, 405);
}

#[tokio::test]
async fn nobody_sees_metrics() {
    let served = Served::start().await;
    let answer = served.ask("GET /metrics").await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.head.contains("content-type: application/json"),
        "{}",
        answer.head
    );
    let status: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let message = "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"";
    assert_eq!(status["message"], message);
    assert_eq!(status["code"], 403);
    let asked = &served.api.asked("subjectaccessreviews")[0];
    assert_eq!(
        asked["spec"]["groups"],
        serde_json::json!(["system:unauthenticated"])
    );
}

#[tokio::test]
async fn a_scraper_with_a_token_and_permission_sees_metrics() {
    let served = Served::start().await;
    served.api.knows("secret", "prometheus", &[]);
    served.api.allows("prometheus", "get", "/metrics");
    let scrape = |path: &'static str, token: &str| {
        let header = format!("Authorization: Bearer {token}");
        let (address, tls) = (served.address, served.tls(None));
        async move { client::ask(address, tls, &format!("GET {path}"), &[&header]).await }
    };
    let answer = scrape("/metrics", "secret").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "up 1\n"));
    assert!(
        answer
            .head
            .contains("content-type: text/plain; version=0.0.4"),
        "{}",
        answer.head
    );
    // The path that is authorized is the decoded one.
    assert_eq!(scrape("/%6Detrics", "secret").await.status, 200);
    assert_eq!(scrape("/configz", "secret").await.status, 403);
    let answer = scrape("/metrics", "wrong").await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.body.contains("\"message\":\"Unauthorized\""),
        "{}",
        answer.body
    );
    // Even on an open path: who shows a token must have a good one.
    assert_eq!(scrape("/healthz", "wrong").await.status, 401);
}

#[tokio::test]
async fn a_certificate_of_the_client_ca_is_somebody() {
    let served = Served::start().await;
    served.api.allows("jane", "get", "/configz");
    let jane = served.clients.client("jane", &["ops"]);
    let answer = client::ask(served.address, served.tls(Some(&jane)), "GET /configz", &[]).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, "{\"group\":{\"kind\":\"Configuration\"}}")
    );
    let asked = &served.api.asked("subjectaccessreviews")[0];
    assert_eq!(
        asked["spec"]["groups"],
        serde_json::json!(["ops", "system:authenticated"])
    );
}

#[tokio::test]
async fn a_certificate_nobody_signed_is_a_401_and_not_a_broken_handshake() {
    let served = Served::start().await;
    let expired = served.clients.expired_client("jane");
    let answer = client::ask(
        served.address,
        served.tls(Some(&expired)),
        "GET /metrics",
        &[],
    )
    .await;
    assert_eq!(answer.status, 401);
    // The name of the CA is right, so the client shows it; the signature is not.
    let forged = Ca::new("clients").client("jane", &["system:masters"]);
    let answer = client::ask(
        served.address,
        served.tls(Some(&forged)),
        "GET /metrics",
        &[],
    )
    .await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn the_api_server_being_away_is_a_500() {
    let served = Served::start().await;
    served.api.troubles(&[api::Trouble::Status(403)]);
    let answer = served.ask("GET /metrics").await;
    assert_eq!(answer.status, 500);
    assert_eq!(
        answer.body,
        "Internal Server Error: \"/metrics\": trouble 403\n"
    );
}

#[tokio::test]
async fn a_page_that_is_not_there_is_a_404_only_for_those_who_may_know() {
    let served = Served::start().await;
    assert_eq!(served.ask("GET /nowhere").await.status, 403);
    for path in ["/nowhere", "/", "/metrics/", "/healthz/", "*"] {
        let answer = served.ask_as_root(&format!("GET {path}")).await;
        let expected = (404, "404 page not found\n");
        assert_eq!((answer.status, answer.body.as_str()), expected, "{path}");
    }
    assert_eq!(served.ask("GET /%zz").await.status, 400);
}

#[tokio::test]
async fn every_page_is_where_upstream_has_it() {
    let served = Served::start().await;
    assert_eq!(served.ask_as_root("GET /flagz").await.body, "v=2\n");
    assert_eq!(
        served.ask_as_root("GET /statusz").await.body,
        "up since then\n"
    );
    let echo = served.ask_as_root("PUT /debug/echo?a=1").await.body;
    assert_eq!(echo, "PUT [(\"a\", \"1\")] 0");
    let below = served.ask_as_root("GET /debug/echo/more").await;
    assert_eq!(
        (below.status, below.body.as_str()),
        (418, "/debug/echo/more\n")
    );
}

#[tokio::test]
async fn a_changed_serving_certificate_is_shown_without_a_restart() {
    let often = Duration::from_millis(5);
    let served = Served::start_with(|options| options.limits.files_period = often).await;
    let changed = Ca::new("changed");
    let identity = changed.server(&["localhost"]);
    served.folder.write("tls.crt", &identity.cert_pem);
    served.folder.write("tls.key", &identity.key_pem);
    let until_shown = async {
        let tls = || changed.tls_client(None);
        while client::connect_as(served.address, tls(), "localhost")
            .await
            .is_err()
        {}
    };
    tokio::time::timeout(PATIENCE, until_shown).await.unwrap();
    let answer = client::ask(
        served.address,
        changed.tls_client(None),
        "GET /healthz",
        &[],
    )
    .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn port_zero_is_no_server_at_all() {
    let options = ServingOptions {
        port: 0,
        ..ServingOptions::default()
    };
    let none = serve(options, Endpoints::new(Arc::new(Checks)), async {})
        .await
        .unwrap();
    assert!(none.is_none());
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = taken.local_addr().unwrap();
    let options = ServingOptions {
        bind_address: address.ip(),
        port: address.port(),
        ..ServingOptions::default()
    };
    let error = serve(options, Endpoints::new(Arc::new(Checks)), async {})
        .await
        .unwrap_err();
    assert!(matches!(error, ServeError::ListenFailed { .. }));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}
