use super::*;
use crate::tests::script::{Answer, Script};

const TOKEN: &str = "/api/v1/namespaces/kube-system/serviceaccounts/toy/token";

/// A client that acts as `toy`, made from one server that plays both parts.
fn acting(server: &Script) -> Client {
    let (root, bare) = (server.client(), server.client());
    ServiceAccounts { root, bare }.client("flyball", "v1", "toy", None)
}

fn token(n: usize) -> Answer {
    Answer::new(
        201,
        &format!(r#"{{"kind":"TokenRequest","status":{{"token":"t{n}"}}}}"#),
    )
}

fn get() -> Request {
    Request::get("/api/v1/pods")
}

/// The tokens under which `/api/v1/pods` was asked for.
fn used(server: &Script) -> Vec<String> {
    let of = |headers: &http::HeaderMap| {
        headers
            .get("authorization")
            .map(|value| value.to_str().unwrap().to_owned())
    };
    let asks = server.asks();
    let plain = asks.iter().filter(|asked| asked.path == "/api/v1/pods");
    plain
        .map(|asked| of(&asked.headers).unwrap_or_default())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_token_is_asked_for_once_and_replaced_when_four_fifths_are_over() {
    let server = Script::new(|before, asked| match asked.path.as_str() {
        TOKEN => token(before),
        _ => Answer::new(200, "{}"),
    });
    let client = acting(&server);
    for minutes in [0, 40, 7, 1] {
        tokio::time::advance(Duration::from_secs(60 * minutes)).await;
        client.send(&get()).await.unwrap();
    }
    assert_eq!(
        used(&server),
        ["Bearer t0", "Bearer t0", "Bearer t0", "Bearer t4"]
    );
    let asked = &server.asks()[0];
    let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(body["spec"]["expirationSeconds"], 3600);
    assert_eq!(
        asked.headers.get("authorization"),
        None,
        "asked with the root's own credentials"
    );
    let agent = server.asks()[1].headers["user-agent"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        agent.ends_with("/system:serviceaccount:kube-system:toy"),
        "{agent}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_account_is_made_and_its_namespace_too() {
    let namespace = "/api/v1/namespaces/kube-system";
    for namespace_there in [true, false] {
        let server = Script::new(move |before, asked| match asked.path.as_str() {
            TOKEN if before == 0 => Answer::new(404, ""),
            TOKEN => token(before),
            path if path == namespace && !namespace_there => Answer::new(404, ""),
            // Somebody else was faster, which is as good.
            "/api/v1/namespaces" => Answer::new(
                409,
                r#"{"kind":"Status","reason":"AlreadyExists","message":"there","code":409}"#,
            ),
            _ => Answer::new(201, "{}"),
        });
        acting(&server).send(&get()).await.unwrap();
        let mut expected = vec![format!("POST {TOKEN}"), format!("GET {namespace}")];
        if !namespace_there {
            expected.push("POST /api/v1/namespaces".to_owned());
        }
        expected.push(format!("POST {namespace}/serviceaccounts"));
        expected.push(format!("POST {TOKEN}"));
        expected.push("GET /api/v1/pods".to_owned());
        assert_eq!(server.lines(), expected);
        let made = &server.asks()[expected.len() - 3].body;
        let made: serde_json::Value = serde_json::from_slice(made).unwrap();
        assert_eq!(
            (&made["kind"], &made["metadata"]["name"]),
            (&json!("ServiceAccount"), &json!("toy"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_replaced() {
    let server = Script::new(|before, asked| match asked.path.as_str() {
        TOKEN => token(before),
        _ if before == 1 => Answer::new(401, ""),
        _ => Answer::new(200, "{}"),
    });
    let client = acting(&server);
    assert_eq!(
        client.send(&get()).await.unwrap_err().class(),
        Class::Unauthorized
    );
    client.send(&get()).await.unwrap();
    assert_eq!(used(&server), ["Bearer t0", "Bearer t2"]);
}

#[tokio::test(start_paused = true)]
async fn many_requests_at_once_ask_for_one_token() {
    let server = Script::new(|before, asked| match asked.path.as_str() {
        TOKEN => Answer {
            after: Some(Duration::from_secs(1)),
            ..token(before)
        },
        _ => Answer::new(200, "{}"),
    });
    let client = acting(&server);
    let (first, second) = (get(), get());
    let (a, b) = tokio::join!(client.send(&first), client.send(&second));
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(
        server
            .lines()
            .iter()
            .filter(|line| line.ends_with("/token"))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_token_that_cannot_be_had_is_tried_for_four_times() {
    let server = Script::new(|_, _| Answer::new(403, "no"));
    let start = Instant::now();
    let error = acting(&server).send(&get()).await.unwrap_err();
    assert_eq!(error.class(), Class::Forbidden);
    assert_eq!(start.elapsed(), Duration::from_millis(3_500));
    assert_eq!(server.lines(), vec![format!("POST {TOKEN}"); 4]);
    let garbled = Script::new(|_, _| Answer::new(201, "{}"));
    let error = acting(&garbled).send(&get()).await.unwrap_err();
    assert!(
        error.to_string().contains("TokenRequest cannot be read"),
        "{error}"
    );
}
