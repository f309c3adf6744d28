//! Who a request comes from.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::options::{AuthenticationOptions, RequestHeaderOptions};
use crate::tests::api::{Api, Trouble};
use crate::tests::authority::{Ca, Folder, Identity};

async fn authenticator(options: AuthenticationOptions) -> Authenticator {
    let trust = TrustSource::start(&options).await.unwrap();
    Authenticator::new(&options, Arc::new(trust))
}

async fn trusting(client_ca: &Ca) -> Authenticator {
    let folder = Folder::new();
    let client_ca_file = Some(folder.write("ca.crt", &client_ca.pem));
    authenticator(AuthenticationOptions {
        client_ca_file,
        ..Default::default()
    })
    .await
}

async fn asking(api: &Arc<Api>) -> Authenticator {
    let client = Some(api.client());
    authenticator(AuthenticationOptions {
        client,
        skip_lookup: true,
        ..Default::default()
    })
    .await
}

fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in list {
        map.append(*name, value.parse().unwrap());
    }
    map
}

fn bearing(token: &str) -> HeaderMap {
    headers(&[("authorization", &format!("Bearer {token}"))])
}

async fn by_certificate(authenticator: &Authenticator, peer: &Identity) -> Result<User, Objection> {
    authenticator
        .authenticate(&peer.chain, &HeaderMap::new())
        .await
}

async fn by_token(authenticator: &Authenticator, token: &str) -> Result<User, Objection> {
    authenticator.authenticate(&[], &bearing(token)).await
}

#[tokio::test]
async fn who_does_not_try_is_anonymous() {
    let user = trusting(&Ca::new("ca"))
        .await
        .authenticate(&[], &HeaderMap::new())
        .await
        .unwrap();
    assert_eq!(user.name, "system:anonymous");
    assert_eq!(user.groups, ["system:unauthenticated"]);
    assert!(user.is_anonymous());
}

#[tokio::test]
async fn a_certificate_of_the_client_ca_names_user_and_groups() {
    let ca = Ca::new("ca");
    let user = by_certificate(&trusting(&ca).await, &ca.client("jane", &["ops"]))
        .await
        .unwrap();
    assert_eq!(user.name, "jane");
    assert_eq!(user.groups, ["ops", "system:authenticated"]);
    let credential = &user.extra["authentication.kubernetes.io/credential-id"][0];
    assert!(
        credential.starts_with("X509SHA256=") && credential.len() == 75,
        "{credential}"
    );
    assert!(!user.is_anonymous());
}

#[tokio::test]
async fn a_certificate_can_name_the_users_uid() {
    let ca = Ca::new("ca");
    let authenticator = trusting(&ca).await;
    let user = by_certificate(&authenticator, &ca.client_with_uid("jane", "12"))
        .await
        .unwrap();
    assert_eq!(user.uid, "12");
    assert!(
        by_certificate(&authenticator, &ca.client_with_uid("jane", ""))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_certificate_without_a_name_is_nobodys() {
    let ca = Ca::new("ca");
    let user = by_certificate(&trusting(&ca).await, &ca.client("", &["ops"]))
        .await
        .unwrap();
    assert!(user.is_anonymous());
}

#[tokio::test]
async fn a_certificate_is_worth_nothing_unless_the_client_ca_signed_it_for_clients_and_it_is_valid()
{
    let ca = Ca::new("ca");
    let authenticator = trusting(&ca).await;
    let forger = Ca::new("ca");
    for bad in [
        forger.client("jane", &[]),
        ca.expired_client("jane"),
        ca.server(&["jane"]),
    ] {
        assert!(by_certificate(&authenticator, &bad).await.is_err());
    }
}

#[tokio::test]
async fn intermediates_may_come_with_the_certificate() {
    let ca = Ca::new("ca");
    let (below, link) = ca.intermediate("below");
    let mut identity = below.client("jane", &[]);
    let authenticator = trusting(&ca).await;
    assert!(by_certificate(&authenticator, &identity).await.is_err());
    identity.chain.push(link);
    assert_eq!(
        by_certificate(&authenticator, &identity)
            .await
            .unwrap()
            .name,
        "jane"
    );
}

#[tokio::test]
async fn without_a_client_ca_certificates_are_ignored() {
    let authenticator = authenticator(AuthenticationOptions::default()).await;
    let user = by_certificate(&authenticator, &Ca::new("any").client("jane", &[]))
        .await
        .unwrap();
    assert!(user.is_anonymous());
}

async fn behind_proxy(allowed: &[&str]) -> (Authenticator, Ca, Ca) {
    let (clients, proxies, folder) = (Ca::new("clients"), Ca::new("proxies"), Folder::new());
    let request_header = RequestHeaderOptions {
        client_ca_file: Some(folder.write("proxy.crt", &proxies.pem)),
        allowed_names: allowed.iter().map(|name| (*name).to_owned()).collect(),
        uid_headers: vec!["X-Remote-Uid".to_owned()],
        ..RequestHeaderOptions::default()
    };
    let client_ca_file = Some(folder.write("clients.crt", &clients.pem));
    let options = AuthenticationOptions {
        client_ca_file,
        request_header,
        ..Default::default()
    };
    (authenticator(options).await, clients, proxies)
}

fn proxied() -> HeaderMap {
    headers(&[
        ("x-remote-user", "joe"),
        ("x-remote-uid", "42"),
        ("x-remote-group", "dev"),
        ("x-remote-group", "ops"),
        ("x-remote-group", ""),
        ("x-remote-extra-scopes%2fa", "read"),
        ("x-remote-extra-scopes%2fa", "write"),
        ("x-remote-extra-odd%zz", "1"),
    ])
}

#[tokio::test]
async fn a_front_proxy_speaks_for_its_caller() {
    let (authenticator, _, proxies) = behind_proxy(&["front"]).await;
    let proxy = proxies.client("front", &[]);
    let user = authenticator
        .authenticate(&proxy.chain, &proxied())
        .await
        .unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("joe", "42"));
    assert_eq!(user.groups, ["dev", "ops", "system:authenticated"]);
    assert_eq!(user.extra["scopes/a"], ["read", "write"]);
    assert_eq!(user.extra["odd%zz"], ["1"]);
}

#[tokio::test]
async fn only_the_named_proxies_are_believed() {
    let (authenticator, _, proxies) = behind_proxy(&["front"]).await;
    let other = proxies.client("other", &[]);
    assert!(
        authenticator
            .authenticate(&other.chain, &proxied())
            .await
            .is_err()
    );
    let (authenticator, _, proxies) = behind_proxy(&[]).await;
    let any = proxies.client("any", &[]);
    assert_eq!(
        authenticator
            .authenticate(&any.chain, &proxied())
            .await
            .unwrap()
            .name,
        "joe"
    );
}

#[tokio::test]
async fn headers_without_a_proxys_certificate_mean_nothing() {
    let (authenticator, clients, _) = behind_proxy(&[]).await;
    let jane = clients.client("jane", &[]);
    assert_eq!(
        authenticator
            .authenticate(&jane.chain, &proxied())
            .await
            .unwrap()
            .name,
        "jane"
    );
    assert!(
        authenticator
            .authenticate(&[], &proxied())
            .await
            .unwrap()
            .is_anonymous()
    );
}

#[tokio::test]
async fn a_token_is_whoever_the_api_server_says() {
    let api = Api::new();
    api.knows(
        "secret",
        "system:serviceaccount:monitoring:prometheus",
        &["system:authenticated"],
    );
    let user = by_token(&asking(&api).await, "secret").await.unwrap();
    assert_eq!(user.name, "system:serviceaccount:monitoring:prometheus");
    assert_eq!(user.uid, "7");
    assert_eq!(user.groups, ["system:authenticated"]);
    assert_eq!(user.extra["k"], ["v"]);
    let asked = &api.asked("tokenreviews")[0];
    assert_eq!(asked["kind"], "TokenReview");
    assert_eq!(asked["apiVersion"], "authentication.k8s.io/v1");
    assert_eq!(asked["spec"]["token"], "secret");
}

#[tokio::test(start_paused = true)]
async fn a_verdict_on_a_token_is_kept_for_ten_seconds() {
    let api = Api::new();
    api.knows("good", "jane", &[]);
    let authenticator = asking(&api).await;
    for _ in 0..3 {
        by_token(&authenticator, "good").await.unwrap();
        by_token(&authenticator, "bad").await.unwrap_err();
    }
    assert_eq!(api.asked("tokenreviews").len(), 2);
    tokio::time::advance(Duration::from_secs(10)).await;
    by_token(&authenticator, "good").await.unwrap();
    assert_eq!(api.asked("tokenreviews").len(), 3);
}

#[tokio::test]
async fn many_equal_tokens_at_one_time_are_few_questions() {
    let api = Api::new();
    api.knows("good", "jane", &[]);
    let authenticator = asking(&api).await;
    let all = (0..200).map(|_| by_token(&authenticator, "good"));
    for user in futures::future::join_all(all).await {
        assert_eq!(user.unwrap().name, "jane");
    }
    // Those that got a turn before the first answer ask too; everybody else finds the answer.
    assert!(api.asked("tokenreviews").len() <= 32);
}

#[tokio::test]
async fn a_verdict_with_an_error_is_not_kept() {
    let api = Api::new();
    api.judges(
        "odd",
        serde_json::json!({"authenticated": false, "error": "not today"}),
    );
    let authenticator = asking(&api).await;
    for _ in 0..2 {
        let why = by_token(&authenticator, "odd").await.unwrap_err();
        assert_eq!(why.to_string(), "not today");
    }
    assert_eq!(api.asked("tokenreviews").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn passing_trouble_is_tried_again_with_growing_pauses() {
    let api = Api::new();
    api.knows("good", "jane", &[]);
    api.troubles(&[
        Trouble::Status(500),
        Trouble::ConnectionReset,
        Trouble::Status(429),
    ]);
    let authenticator = asking(&api).await;
    let start = tokio::time::Instant::now();
    assert_eq!(by_token(&authenticator, "good").await.unwrap().name, "jane");
    assert_eq!(api.asked("tokenreviews").len(), 4);
    // 500 ms, 750 ms and 1125 ms, each up to a fifth longer, and the clock's millisecond for each.
    let took = start.elapsed();
    assert!((2375..=2853).contains(&took.as_millis()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn trouble_that_stays_is_an_objection_after_five_tries() {
    let api = Api::new();
    api.troubles(&[Trouble::Status(500); 9]);
    let why = by_token(&asking(&api).await, "good").await.unwrap_err();
    assert_eq!(why.to_string(), "trouble 500");
    assert_eq!(api.asked("tokenreviews").len(), 5);
}

#[tokio::test(start_paused = true)]
async fn lasting_trouble_is_not_tried_again() {
    for trouble in [
        Trouble::Status(403),
        Trouble::ConnectionRefused,
        Trouble::Garbage,
    ] {
        let api = Api::new();
        api.troubles(&[trouble]);
        by_token(&asking(&api).await, "secret").await.unwrap_err();
        assert_eq!(api.asked("tokenreviews").len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_does_not_answer_is_given_up_after_ten_seconds() {
    let api = Api::new();
    api.hangs();
    let authenticator = asking(&api).await;
    let start = tokio::time::Instant::now();
    by_token(&authenticator, "good").await.unwrap_err();
    assert!(
        start.elapsed() <= Duration::from_millis(10_002),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_good_token_helps_beside_a_bad_certificate() {
    let (ca, api, folder) = (Ca::new("ca"), Api::new(), Folder::new());
    api.knows("good", "jane", &[]);
    let options = AuthenticationOptions {
        client_ca_file: Some(folder.write("ca.crt", &ca.pem)),
        client: Some(api.client()),
        skip_lookup: true,
        ..Default::default()
    };
    let authenticator = authenticator(options).await;
    let stranger = Ca::new("other").client("eve", &[]);
    let user = authenticator
        .authenticate(&stranger.chain, &bearing("good"))
        .await
        .unwrap();
    assert_eq!(user.name, "jane");
    assert!(
        authenticator
            .authenticate(&stranger.chain, &bearing("bad"))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn without_a_client_tokens_are_ignored() {
    let authenticator = authenticator(AuthenticationOptions::default()).await;
    assert!(
        by_token(&authenticator, "any")
            .await
            .unwrap()
            .is_anonymous()
    );
}
