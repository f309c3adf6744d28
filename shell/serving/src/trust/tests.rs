//! Whom the server believes.

use serde_json::json;

use super::*;
use crate::tests::api::{Api, Trouble};
use crate::tests::authority::{Ca, Folder};

fn believes(trust: &TrustSource, ca: &Ca) -> bool {
    let identity = ca.client("jane", &[]);
    trust
        .current()
        .client_ca
        .as_ref()
        .is_some_and(|known| known.verify(&identity.chain[0], &[]).is_ok())
}

fn believes_proxy(trust: &TrustSource, ca: &Ca) -> bool {
    let identity = ca.client("front", &[]);
    let current = trust.current();
    current
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.authority.verify(&identity.chain[0], &[]).is_ok())
}

fn published(clients: &Ca, proxies: &Ca) -> serde_json::Value {
    json!({
        "client-ca-file": clients.pem,
        "requestheader-client-ca-file": proxies.pem,
        "requestheader-allowed-names": "[\"front-proxy-client\"]",
        "requestheader-username-headers": "[\"X-Remote-User\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
    })
}

fn looking_up(api: &std::sync::Arc<Api>) -> AuthenticationOptions {
    AuthenticationOptions {
        client: Some(api.client()),
        ..Default::default()
    }
}

#[tokio::test]
async fn what_no_file_says_comes_from_the_cluster() {
    let (clients, proxies, api) = (Ca::new("clients"), Ca::new("proxies"), Api::new());
    api.publishes(published(&clients, &proxies));
    let trust = TrustSource::start(&looking_up(&api)).await.unwrap();
    assert!(trust.wants_certificates());
    assert!(believes(&trust, &clients) && believes_proxy(&trust, &proxies));
    assert!(!believes(&trust, &proxies) && !believes_proxy(&trust, &clients));
    let proxy = trust.current().proxy.clone().unwrap();
    assert_eq!(proxy.names.allowed_names, ["front-proxy-client"]);
    assert_eq!(proxy.names.username_headers, ["X-Remote-User"]);
    assert!(proxy.names.uid_headers.is_empty());
    assert_eq!(trust.current().subjects().len(), 2);
}

#[tokio::test]
async fn a_file_wins_over_the_cluster() {
    let (clients, proxies, mine) = (Ca::new("clients"), Ca::new("proxies"), Ca::new("mine"));
    let (api, folder) = (Api::new(), Folder::new());
    api.publishes(published(&clients, &proxies));
    let client_ca_file = Some(folder.write("ca.crt", &mine.pem));
    let options = AuthenticationOptions {
        client_ca_file,
        ..looking_up(&api)
    };
    let trust = TrustSource::start(&options).await.unwrap();
    assert!(believes(&trust, &mine) && !believes(&trust, &clients));
    assert!(believes_proxy(&trust, &proxies));
}

#[tokio::test]
async fn nothing_is_looked_up_when_told_so_or_when_files_say_it_all() {
    let (ca, api, folder) = (Ca::new("ca"), Api::new(), Folder::new());
    let options = AuthenticationOptions {
        skip_lookup: true,
        ..looking_up(&api)
    };
    assert!(
        !TrustSource::start(&options)
            .await
            .unwrap()
            .wants_certificates()
    );
    let file = Some(folder.write("ca.crt", &ca.pem));
    let request_header = RequestHeaderOptions {
        client_ca_file: file.clone(),
        ..Default::default()
    };
    let options = AuthenticationOptions {
        client_ca_file: file,
        request_header,
        ..looking_up(&api)
    };
    TrustSource::start(&options).await.unwrap();
    assert!(api.asked("extension-apiserver-authentication").is_empty());
}

#[tokio::test]
async fn a_cluster_without_the_configmap_is_fine() {
    let api = Api::new();
    let trust = TrustSource::start(&looking_up(&api)).await.unwrap();
    assert!(trust.current().client_ca.is_none() && trust.current().proxy.is_none());
    let (clients, proxies) = (Ca::new("clients"), Ca::new("proxies"));
    api.publishes(published(&clients, &proxies));
    trust.refresh_lookup().await.unwrap();
    assert!(believes(&trust, &clients) && believes_proxy(&trust, &proxies));
}

#[tokio::test]
async fn a_failed_lookup_stops_the_start_unless_it_is_tolerated() {
    let api = Api::new();
    api.troubles(&[Trouble::Status(403)]);
    let error = TrustSource::start(&looking_up(&api))
        .await
        .map(|_| ())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("unable to load configmap based request-header-client-ca-file"),
        "{text}"
    );
    api.troubles(&[Trouble::Status(403)]);
    let options = AuthenticationOptions {
        tolerate_lookup_failure: true,
        ..looking_up(&api)
    };
    let trust = TrustSource::start(&options).await.unwrap();
    let (clients, proxies) = (Ca::new("clients"), Ca::new("proxies"));
    api.publishes(published(&clients, &proxies));
    trust.refresh_lookup().await.unwrap();
    assert!(believes(&trust, &clients));
}

#[tokio::test]
async fn a_failed_lookup_is_no_matter_when_the_proxy_comes_from_a_file() {
    let (ca, api, folder) = (Ca::new("ca"), Api::new(), Folder::new());
    api.troubles(&[Trouble::Status(403)]);
    let client_ca_file = Some(folder.write("proxy.crt", &ca.pem));
    let request_header = RequestHeaderOptions {
        client_ca_file,
        ..Default::default()
    };
    let options = AuthenticationOptions {
        request_header,
        ..looking_up(&api)
    };
    assert!(believes_proxy(
        &TrustSource::start(&options).await.unwrap(),
        &ca
    ));
}

#[tokio::test]
async fn a_changed_configmap_is_taken_over_and_a_bad_one_is_not() {
    let (old, new, proxies, api) = (
        Ca::new("old"),
        Ca::new("new"),
        Ca::new("proxies"),
        Api::new(),
    );
    api.publishes(published(&old, &proxies));
    let trust = TrustSource::start(&looking_up(&api)).await.unwrap();
    api.publishes(json!({"client-ca-file": "nonsense", "requestheader-client-ca-file": ""}));
    trust.refresh_lookup().await.unwrap();
    assert!(believes(&trust, &old) && believes_proxy(&trust, &proxies));
    api.publishes(json!({"requestheader-allowed-names": "not json"}));
    assert!(trust.refresh_lookup().await.is_err());
    api.publishes(published(&new, &proxies));
    trust.refresh_lookup().await.unwrap();
    assert!(believes(&trust, &new) && !believes(&trust, &old));
}

#[tokio::test(start_paused = true)]
async fn a_lookup_without_an_answer_is_given_up() {
    let api = Api::new();
    api.hangs();
    let error = TrustSource::start(&looking_up(&api))
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(
        error.to_string().contains("no answer within 10s"),
        "{error}"
    );
}

#[tokio::test]
async fn a_changed_file_is_taken_over_and_a_bad_one_is_not() {
    let (old, new, folder) = (Ca::new("old"), Ca::new("new"), Folder::new());
    let file = folder.write("ca.crt", &old.pem);
    let options = AuthenticationOptions {
        client_ca_file: Some(file.clone()),
        ..Default::default()
    };
    let trust = TrustSource::start(&options).await.unwrap();
    folder.write("ca.crt", &new.pem[..new.pem.len() / 2]);
    assert!(trust.refresh_files().await.is_err());
    assert!(believes(&trust, &old));
    folder.write("ca.crt", &format!("{}{}", old.pem, new.pem));
    trust.refresh_files().await.unwrap();
    assert!(believes(&trust, &old) && believes(&trust, &new));
    std::fs::remove_file(file).unwrap();
    assert!(trust.refresh_files().await.is_err());
    assert!(believes(&trust, &new));
}

#[tokio::test]
async fn a_ca_file_that_is_missing_or_empty_stops_the_start() {
    let folder = Folder::new();
    let with = |file: PathBuf| AuthenticationOptions {
        client_ca_file: Some(file),
        ..Default::default()
    };
    let missing = TrustSource::start(&with(folder.path().join("none.crt")))
        .await
        .map(|_| ());
    assert!(missing.unwrap_err().to_string().contains("none.crt"));
    let empty = TrustSource::start(&with(folder.write("empty.crt", "")))
        .await
        .map(|_| ());
    assert!(
        empty
            .unwrap_err()
            .to_string()
            .contains("no usable CA certificate")
    );
}
