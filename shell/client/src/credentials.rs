//! A service account per controller: `--use-service-account-credentials`.
//!
//! Each named client acts as the service account of the same name in `kube-system`, which is made
//! if it is missing. Its token is asked for an hour and replaced when four fifths are over.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::{ApiError, Class, Kind};
use http::HeaderValue;
use kube::Config;
use kube::config::AuthInfo;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{Client, LoadError, Method, RateLimit, Request, user_agent};

const NAMESPACE: &str = "kube-system";
const NAMESPACES: Kind = Kind::cluster("", "v1", "Namespace", "namespaces");
const SERVICE_ACCOUNTS: Kind = Kind::namespaced("", "v1", "ServiceAccount", "serviceaccounts");

/// How long a token is asked for.
const TOKEN_SECONDS: u64 = 3600;

/// Makes clients that act as service accounts.
pub struct ServiceAccounts {
    root: Client,
    bare: Client,
}

impl ServiceAccounts {
    /// `root` is allowed to make service accounts and to ask for their tokens; the clients made
    /// here talk to the same server without `root`'s own credentials.
    pub fn new(root: Client, config: &Config, program: &str) -> Result<Self, LoadError> {
        let mut config = config.clone();
        config.auth_info = AuthInfo::default();
        Ok(Self {
            root,
            bare: Client::new(&config, program)?,
        })
    }

    /// The client that acts as the service account `name`.
    pub fn client(
        &self,
        program: &str,
        version: &str,
        name: &str,
        limit: Option<RateLimit>,
    ) -> Client {
        let suffix = format!("system:serviceaccount:{NAMESPACE}:{name}");
        let tokens = TokenSource {
            root: self.root.clone(),
            account: name.to_owned(),
            held: Mutex::new(None),
            asking: tokio::sync::Mutex::new(()),
        };
        self.bare
            .named(&user_agent(program, version, &suffix), limit)
            .with_tokens(Arc::new(tokens))
    }
}

/// The current token of one service account.
pub(crate) struct TokenSource {
    root: Client,
    account: String,
    held: Mutex<Option<Held>>,
    /// One asks, the others wait for what it gets.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Held {
    header: HeaderValue,
    replace_at: Instant,
}

#[derive(Deserialize)]
struct TokenRequest {
    status: TokenStatus,
}

#[derive(Deserialize)]
struct TokenStatus {
    token: String,
}

impl TokenSource {
    /// The token as an `Authorization` header. Boxed: asking for one is a request of its own.
    pub(crate) fn token(
        &self,
    ) -> Pin<Box<dyn Future<Output = Result<HeaderValue, ApiError>> + Send + '_>> {
        Box::pin(self.find_token())
    }

    async fn find_token(&self) -> Result<HeaderValue, ApiError> {
        if let Some(header) = self.fresh() {
            return Ok(header);
        }
        let _asking = self.asking.lock().await;
        if let Some(header) = self.fresh() {
            return Ok(header);
        }
        let mut pause = Duration::from_millis(500);
        let mut tries = 1;
        let token = loop {
            match self.ask().await {
                Ok(token) => break token,
                Err(error) if tries < 4 => {
                    tracing::warn!(account = self.account, err = %error, "cannot get a token yet");
                    tries += 1;
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => return Err(error),
            }
        };
        let mut header = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| ApiError::transport("the server sent a malformed token".to_owned()))?;
        header.set_sensitive(true);
        let replace_at = Instant::now() + Duration::from_secs(TOKEN_SECONDS * 4 / 5);
        *lock(&self.held) = Some(Held {
            header: header.clone(),
            replace_at,
        });
        Ok(header)
    }

    /// The server no longer takes the token: get another for the next request.
    pub(crate) fn reset(&self) {
        *lock(&self.held) = None;
    }

    fn fresh(&self) -> Option<HeaderValue> {
        let held = lock(&self.held).clone()?;
        (Instant::now() < held.replace_at).then_some(held.header)
    }

    async fn ask(&self) -> Result<String, ApiError> {
        let path = format!(
            "{}/token",
            SERVICE_ACCOUNTS.object_path(NAMESPACE, &self.account)
        );
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        });
        let request = Request::with(Method::Post, path, body.to_string());
        let answer = match self.root.send(&request).await {
            Err(error) if error.class() == Class::NotFound => {
                self.make_account().await?;
                self.root.send(&request).await?
            }
            answer => answer?,
        };
        let answer: TokenRequest = serde_json::from_slice(&answer).map_err(|error| {
            ApiError::transport(format!("the server's TokenRequest cannot be read: {error}"))
        })?;
        Ok(answer.status.token)
    }

    /// Makes the service account, and its namespace if that is missing. Upstream's role may read
    /// namespaces but not make them, so failing to is no reason to stop: if the namespace really
    /// is missing, making the account says so.
    async fn make_account(&self) -> Result<(), ApiError> {
        let namespace = Request::get(NAMESPACES.object_path("", NAMESPACE));
        if let Err(error) = self.root.send(&namespace).await
            && error.class() == Class::NotFound
            && let Err(error) = self.make(NAMESPACES, "", NAMESPACE).await
        {
            tracing::warn!(namespace = NAMESPACE, err = %error, "cannot create the namespace");
        }
        self.make(SERVICE_ACCOUNTS, NAMESPACE, &self.account).await
    }

    async fn make(&self, kind: Kind, namespace: &str, name: &str) -> Result<(), ApiError> {
        let body = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "metadata": {"name": name},
        });
        let path = kind.collection_path(namespace);
        match self
            .root
            .send(&Request::with(Method::Post, path, body.to_string()))
            .await
        {
            Ok(_) => Ok(()),
            Err(error) if error.class() == Class::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Only whole values are put in, so a panic elsewhere cannot have left half of one.
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
