//! Who asks: a client certificate, else a token, else nobody in particular.
//!
//! Upstream: `pkg/kubeapiserver/authenticator`, `apiserver/pkg/endpoints/filters/authentication.go`.

use std::sync::Arc;

use flyball_rbac::{UNAUTHENTICATED, User};
use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::certificates::Shown;
use crate::server::{ApiServer, now};

/// The user of a request, or why nobody believes the sender. Whoever shows nothing is anonymous.
pub(crate) async fn authenticate(
    server: &ApiServer,
    shown: &Shown,
    headers: &HeaderMap,
) -> Result<Arc<User>, String> {
    let mut refused = Vec::new();
    match shown {
        Shown::Nothing => {}
        Shown::User(user, until) if now().unix_seconds() <= *until => return Ok(user.clone()),
        Shown::User(..) => refused.push("the client certificate has expired".to_owned()),
        Shown::Refused(why) => refused.push(why.clone()),
    }
    if let Some(token) = bearer(headers) {
        match server.identify(token).await {
            Ok(user) => return Ok(Arc::new(user)),
            Err(why) => refused.push(why.0),
        }
    }
    match refused.is_empty() {
        true => Ok(Arc::new(anonymous())),
        false => Err(refused.join("; ")),
    }
}

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let mut words = text.split(' ');
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|token| is_bearer && !token.is_empty())
}

/// A client without credentials.
pub(crate) fn anonymous() -> User {
    User::of_groups("system:anonymous", &[UNAUTHENTICATED])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_word_after_bearer() {
        for (text, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer abc def", Some("abc")),
            ("  BEARER abc  ", Some("abc")),
            ("Bearer  abc", None),
            ("Bearer", None),
            ("Basic abc", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, text.parse().unwrap());
            assert_eq!(bearer(&headers), token, "{text}");
        }
    }
}
