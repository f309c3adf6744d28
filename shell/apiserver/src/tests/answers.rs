//! What clients see, compared with kube-apiserver v1.36.4.

use super::*;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

#[tokio::test]
async fn every_answer_has_the_headers_of_upstream() {
    let served = Served::start(Limits::default()).await;
    let told = served.get("/api/v1/namespaces/default", "").await;
    assert_eq!(told.code, 200);
    assert_eq!(told.header("cache-control"), Some("no-cache, private"));
    assert_eq!(told.header("content-type"), Some("application/json"));
    assert_eq!(told.header("audit-id").map(str::len), Some(36));
    assert!(told.header("date").is_some());
    assert!(told.text().ends_with("}\n"));
    let told = served.get("/version", "Audit-ID: mine\r\n").await;
    assert_eq!(told.header("audit-id"), Some("mine"));
    assert!(
        told.text().starts_with("{\n  \"buildDate\""),
        "{}",
        told.text()
    );
}

#[tokio::test]
async fn answers_look_as_they_were_asked_for() {
    let served = Served::start(Limits::default()).await;
    let object = "/api/v1/namespaces/default";
    let told = served.get(object, "User-Agent: curl/8\r\n").await;
    assert!(
        told.text().starts_with("{\n  \"kind\": \"Namespace\""),
        "{}",
        told.text()
    );
    let told = served.get(object, "Accept: application/yaml\r\n").await;
    assert_eq!(told.header("content-type"), Some("application/yaml"));
    assert!(
        told.text()
            .starts_with("apiVersion: v1\nkind: Namespace\nmetadata:\n"),
        "{}",
        told.text()
    );
    let told = served.get(object, "Accept: text/html\r\n").await;
    assert_eq!(told.code, 406);
    assert!(
        told.text().contains("406: Not Acceptable"),
        "{}",
        told.text()
    );
    let packed = served
        .get(
            ROLES,
            "Accept-Encoding: gzip\r\nAccept: application/yaml\r\n",
        )
        .await;
    let plain = served.get(ROLES, "Accept: application/yaml\r\n").await;
    match plain.body.len() > 128 << 10 {
        true => {
            assert_eq!(packed.header("content-encoding"), Some("gzip"));
            assert_eq!(packed.header("vary"), Some("accept-encoding"));
            assert!(packed.body.len() < plain.body.len() / 4);
        }
        false => assert_eq!(packed.body, plain.body),
    }
}

#[tokio::test]
async fn whoever_asks_for_protobuf_is_answered_in_it() {
    let served = Served::start(Limits::default()).await;
    let protobuf = "application/vnd.kubernetes.protobuf";
    let accept = format!("Accept: {protobuf}\r\nUser-Agent: curl/8\r\n");
    for (target, code, kind) in [
        ("/api/v1/namespaces/default", 200, "Namespace"),
        ("/api/v1/namespaces", 200, "NamespaceList"),
        ("/api/v1/namespaces/nix", 404, "Status"),
        ("/apis", 200, "APIGroupList"),
        ("/version", 406, "Status"),
    ] {
        let told = served.get(target, &accept).await;
        let of = told.header("content-type");
        assert_eq!((told.code, of), (code, Some(protobuf)), "{target}");
        let read = flyball_protobuf::decode(&told.body).unwrap();
        assert_eq!(read["kind"], kind, "{target}");
    }
    let packed = format!("{accept}Accept-Encoding: gzip\r\n");
    let told = served.get(ROLES, &packed).await;
    assert_eq!(told.header("content-type"), Some(protobuf));
    // Within the process too.
    let user = flyball_rbac::User::of_groups("admin", &[flyball_rbac::MASTERS]);
    let request = Request::builder()
        .uri("/api/v1/namespaces/default")
        .header("Accept", protobuf)
        .body(bytes::Bytes::new())
        .unwrap();
    let response = served.server.answer(request, &user).await;
    assert_eq!(response.headers()["content-type"], protobuf);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(flyball_protobuf::decode(&body).is_ok());
}

#[tokio::test]
async fn watches_are_told_in_protobuf() {
    let served = Served::start(Limits::default()).await;
    let watch = "/api/v1/namespaces?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ddefault";
    let user = flyball_rbac::User::of_groups("admin", &[flyball_rbac::MASTERS]);
    let request = Request::builder()
        .uri(watch)
        .header("Accept", "application/vnd.kubernetes.protobuf")
        .body(bytes::Bytes::new())
        .unwrap();
    let response = served.server.answer(request, &user).await;
    let stream = "application/vnd.kubernetes.protobuf;stream=watch";
    assert_eq!(response.headers()["content-type"], stream);
    let told = response.into_body().collect().await.unwrap().to_bytes();
    let event = flyball_protobuf::decode_event(&told).unwrap().unwrap();
    assert_eq!((event.kind, event.rest), ("ADDED", &b""[..]));
    assert_eq!(event.object["metadata"]["name"], "default");
}

#[tokio::test]
async fn large_lists_are_packed() {
    let served = Served::start(Limits::default()).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let body = serde_json::json!({
        "metadata": {"generateName": "a"},
        "data": {"a": "x".repeat(150 << 10)},
    });
    assert_eq!(served.within("POST", maps, body.to_string()).await.0, 201);
    let told = served.get(maps, "Accept-Encoding: br, gzip\r\n").await;
    assert_eq!(told.header("content-encoding"), Some("gzip"));
    assert!(told.body.starts_with(&[0x1f, 0x8b]) && told.body.len() < 8 << 10);
    let told = served.get(maps, "").await;
    assert!(told.header("content-encoding").is_none() && told.body.len() > 150 << 10);
}

#[tokio::test]
async fn the_servers_own_pages_are_there() {
    let served = Served::start(Limits::default()).await;
    assert_eq!(served.get("/livez", "").await.text(), "ok");
    let told = served.get("/readyz?verbose", "").await.text();
    assert!(
        told.ends_with("[+]shutdown ok\nreadyz check passed\n"),
        "{told}"
    );
    let told = served.get("/metrics", "").await;
    assert!(
        told.text().contains("apiserver_request_total{code=\"200\""),
        "{}",
        told.text()
    );
    let told = served.get("/", "").await.text();
    assert!(
        told.contains("\"/apis/apps/v1\",") && told.contains("\"/livez/ping\","),
        "{told}"
    );
    let told = served.get("/nothing", "").await;
    assert_eq!(
        (told.code, told.text().as_str()),
        (404, "404 page not found\n")
    );
    assert_eq!(told.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test]
async fn nobody_sees_more_than_health_and_version() {
    let served = Served::start(Limits::default()).await;
    for (target, code) in [
        ("/livez", 200),
        ("/version", 200),
        ("/metrics", 403),
        ("/", 403),
        ("/nothing", 403),
    ] {
        let mut stream = served.connect(served.tls(None, "http/1.1")).await;
        let head = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(Told::read(&mut stream).await.code, code, "{target}");
    }
}

#[tokio::test]
async fn who_has_a_document_already_does_not_get_it_again() {
    let served = Served::start(Limits::default()).await;
    let index = served.get("/openapi/v3", "").await;
    let index: serde_json::Value = serde_json::from_slice(&index.body).unwrap();
    let at = index["paths"]["apis/batch/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap();
    let told = served.get(at, "").await;
    assert_eq!(
        (told.code, told.header("cache-control")),
        (200, Some("public, immutable"))
    );
    let etag = told.header("etag").unwrap().to_ascii_uppercase();
    let plain = "/openapi/v3/apis/batch/v1";
    let told = served
        .get(plain, &format!("If-None-Match: {etag}\r\n"))
        .await;
    assert_eq!((told.code, told.body.len()), (304, 0));
    assert_eq!(told.header("cache-control"), Some("no-cache, private"));
    let told = served.get(&format!("{plain}?hash=OLD"), "").await;
    assert_eq!(told.code, 301);
    assert_eq!(
        told.header("location").map(str::to_ascii_uppercase),
        Some(at.to_ascii_uppercase())
    );
    assert_eq!(served.get(plain, "Accept: text/html\r\n").await.code, 406);
    let all = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n";
    let told = served.get("/apis", all).await;
    assert_eq!(
        (told.code, told.header("cache-control")),
        (200, Some("public"))
    );
    let etag = told.header("etag").unwrap().to_ascii_uppercase();
    let told = served
        .get("/apis", &format!("{all}If-None-Match: {etag}\r\n"))
        .await;
    assert_eq!(told.code, 304);
}

#[tokio::test]
async fn the_head_of_an_answer_is_to_be_had_alone() {
    let served = Served::start(Limits::default()).await;
    let mut sender = speak_http2(&served).await;
    for (target, code) in [
        ("/healthz", 200),
        ("/version", 405),
        ("/api/v1/namespaces", 405),
    ] {
        let answer = sender
            .send_request(http2_request("HEAD", target))
            .await
            .unwrap();
        assert_eq!(answer.status(), code, "{target}");
        assert!(answer.headers().contains_key("content-length"));
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
    }
}

#[tokio::test]
async fn the_series_of_a_custom_kind_end_with_it() {
    let served = Served::start(Limits::default()).await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let schema = serde_json::json!({"openAPIV3Schema": {"type": "object"}});
    let version =
        serde_json::json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let definition = serde_json::json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "versions": [version],
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        },
    });
    let (code, told) = served
        .within("POST", definitions, definition.to_string())
        .await;
    assert_eq!(code, 201, "{told}");
    let things = "/apis/example.com/v1/things";
    assert_eq!(served.get(things, "").await.code, 200);
    let mut watch = served.admin().await;
    let head = format!("GET {things}?watch=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    watch.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    watch.read_exact(&mut first).await.unwrap();
    let metrics = served.get("/metrics", "").await.text();
    for name in [
        "request_total",
        "request_duration_seconds_count",
        "longrunning_requests",
    ] {
        let of_things = |line: &&str| line.starts_with(&format!("apiserver_{name}{{"));
        let mut lines = metrics.lines().filter(of_things);
        assert!(lines.any(|line| line.contains("\"things\"")), "{name}");
    }
    let path = format!("{definitions}/things.example.com");
    assert_eq!(served.within("DELETE", &path, String::new()).await.0, 200);
    Told::read(&mut watch).await;
    let metrics = served.get("/metrics", "").await.text();
    let left: Vec<_> = metrics
        .lines()
        .filter(|line| line.contains("\"things\""))
        .collect();
    assert_eq!(left, [""; 0]);
}
