//! What a user may do.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::options::Backoff;
use crate::tests::api::{Api, Trouble};

fn user(name: &str, groups: &[&str]) -> User {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    User {
        name: name.to_owned(),
        groups,
        ..User::default()
    }
}

fn asking(api: &Arc<Api>) -> Authorizer {
    let options = AuthorizationOptions {
        client: Some(api.client()),
        deny_ttl: Duration::from_secs(3),
        backoff: Backoff {
            first: Duration::from_millis(1),
            ..Backoff::default()
        },
        ..AuthorizationOptions::default()
    };
    Authorizer::new(options).unwrap()
}

async fn may(authorizer: &Authorizer, user: &User, path: &str) -> bool {
    authorizer.authorize(user, "get", path).await.unwrap() == Decision::Allowed
}

fn open(paths: &[&str]) -> Result<Authorizer, ServeError> {
    let always_allow_paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Authorizer::new(AuthorizationOptions {
        always_allow_paths,
        ..Default::default()
    })
}

#[tokio::test]
async fn without_a_client_only_masters_and_open_paths_are_allowed() {
    let authorizer = Authorizer::new(AuthorizationOptions::default()).unwrap();
    let (jane, root) = (user("jane", &["ops"]), user("root", &["system:masters"]));
    for path in ["/healthz", "/readyz", "/livez"] {
        assert!(may(&authorizer, &jane, path).await);
    }
    for path in ["/metrics", "/healthz/etcd", "/healthz/", "/", ""] {
        assert!(!may(&authorizer, &jane, path).await, "{path}");
        assert!(may(&authorizer, &root, path).await, "{path}");
    }
}

#[tokio::test]
async fn open_paths_may_end_in_a_star_and_need_no_slash() {
    let authorizer = open(&["/metrics", "debug/*", "/"]).unwrap();
    let jane = user("jane", &[]);
    for allowed in ["/metrics", "/debug/", "/debug/pprof/heap", "/"] {
        assert!(may(&authorizer, &jane, allowed).await, "{allowed}");
    }
    for other in ["/metrics/", "/metricsx", "/debug", "/healthz"] {
        assert!(!may(&authorizer, &jane, other).await, "{other}");
    }
    assert!(may(&open(&["*"]).unwrap(), &jane, "/anything").await);
}

#[test]
fn a_star_elsewhere_is_an_error() {
    let error = open(&["/de*bug/"]).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "only trailing * allowed in \"de*bug/\"");
}

#[tokio::test]
async fn everything_else_is_asked_with_all_that_is_known_about_the_user() {
    let api = Api::new();
    api.allows("jane", "get", "/metrics");
    let mut jane = user("jane", &["ops"]);
    jane.uid = "7".to_owned();
    jane.extra.insert("scope".to_owned(), vec!["a".to_owned()]);
    let authorizer = asking(&api);
    assert!(may(&authorizer, &jane, "/metrics").await);
    assert!(!may(&authorizer, &jane, "/configz").await);
    let expected = serde_json::json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            "user": "jane", "groups": ["ops"], "uid": "7", "extra": {"scope": ["a"]},
        },
    });
    assert_eq!(api.asked("subjectaccessreviews")[0], expected);
}

#[tokio::test(start_paused = true)]
async fn decisions_are_kept_each_for_its_own_time() {
    let api = Api::new();
    api.allows("jane", "get", "/metrics");
    let authorizer = asking(&api);
    let jane = user("jane", &[]);
    let asked = || api.asked("subjectaccessreviews").len();
    for _ in 0..3 {
        assert!(may(&authorizer, &jane, "/metrics").await);
        assert!(!may(&authorizer, &jane, "/configz").await);
    }
    assert_eq!(asked(), 2);
    api.allows("jane", "get", "/configz");
    tokio::time::advance(Duration::from_secs(3)).await;
    assert!(may(&authorizer, &jane, "/configz").await);
    assert!(may(&authorizer, &jane, "/metrics").await);
    assert_eq!(asked(), 3);
    tokio::time::advance(Duration::from_secs(7)).await;
    assert!(may(&authorizer, &jane, "/metrics").await);
    assert_eq!(asked(), 4);
}

#[tokio::test]
async fn a_decision_holds_for_one_user_verb_and_path() {
    let api = Api::new();
    api.allows("jane", "get", "/metrics");
    let authorizer = asking(&api);
    assert!(may(&authorizer, &user("jane", &[]), "/metrics").await);
    assert!(!may(&authorizer, &user("joe", &[]), "/metrics").await);
    let put = authorizer
        .authorize(&user("jane", &[]), "put", "/metrics")
        .await
        .unwrap();
    assert_ne!(put, Decision::Allowed);
}

#[tokio::test]
async fn trouble_with_the_api_server_is_an_error_and_not_a_decision() {
    let api = Api::new();
    api.allows("jane", "get", "/metrics");
    let authorizer = asking(&api);
    api.troubles(&[Trouble::Status(500); 5]);
    let jane = user("jane", &[]);
    let error = authorizer
        .authorize(&jane, "get", "/metrics")
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "trouble 500");
    assert_eq!(api.asked("subjectaccessreviews").len(), 5);
    assert!(may(&authorizer, &jane, "/metrics").await);
}

#[test]
fn an_answer_that_allows_and_denies_is_a_denial() {
    let status: ReviewStatus =
        serde_json::from_str(r#"{"allowed": true, "denied": true, "reason": "no"}"#).unwrap();
    assert_eq!(
        status.decision(),
        Decision::Forbidden {
            reason: "no".to_owned()
        }
    );
}
