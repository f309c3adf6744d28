use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{ISSUER, Issuer, Signer, SigningFailed};
use crate::tests::Server;

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// Signs with the sum of all bytes: enough to tell a token that was changed.
struct Sum;

impl Signer for Sum {
    fn algorithm(&self) -> &'static str {
        "SUM"
    }

    fn key_id(&self) -> &str {
        "sum"
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningFailed> {
        let sum: u64 = message.iter().map(|byte| u64::from(*byte)).sum();
        Ok(sum.to_be_bytes().to_vec())
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.sign(message).is_ok_and(|own| own == signature)
    }

    fn public_key(&self) -> Value {
        json!({"kid": "sum"})
    }
}

fn server() -> Server {
    let mut server = Server::new();
    let keys_url = "https://127.0.0.1/openid/v1/jwks".to_owned();
    let signer = Arc::new(Sum);
    server.registry.issue_with(Issuer { signer, keys_url });
    let account = json!({"metadata": {"name": "web"}});
    assert_eq!(server.post(ACCOUNTS, &account).0, 201);
    server
}

fn ask(server: &mut Server, spec: &Value) -> (u16, Value) {
    server.post(&format!("{ACCOUNTS}/web/token"), &json!({"spec": spec}))
}

fn token(server: &mut Server, spec: &Value) -> String {
    let (code, answer) = ask(server, spec);
    assert_eq!(code, 201, "{answer}");
    answer["status"]["token"].as_str().unwrap().to_owned()
}

fn review(server: &mut Server, token: &str, audiences: &Value) -> Value {
    let spec = json!({"spec": {"token": token, "audiences": audiences}});
    let (code, mut answer) = server.post(REVIEWS, &spec);
    assert_eq!(code, 201, "{answer}");
    answer["status"].take()
}

fn read(token: &str, part: usize) -> Value {
    let part = token.split('.').nth(part).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// A token with other claims or another head, signed as ours are.
fn forged(token: &str, head: &Value, claims: &Value) -> String {
    let with = |part: usize, changes: &Value| {
        let mut all = read(token, part);
        for (key, value) in changes.as_object().unwrap() {
            match value {
                Value::Null => all.as_object_mut().unwrap().remove(key),
                value => all
                    .as_object_mut()
                    .unwrap()
                    .insert(key.clone(), value.clone()),
            };
        }
        URL_SAFE_NO_PAD.encode(all.to_string())
    };
    let message = format!("{}.{}", with(0, head), with(1, claims));
    let signature = Sum.sign(message.as_bytes()).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn a_token_says_whose_it_is_for_whom_and_how_long() {
    let mut server = server();
    let (code, answer) = ask(&mut server, &json!({}));
    assert_eq!(code, 201);
    assert_eq!(answer["kind"], "TokenRequest");
    assert_eq!(
        answer["spec"],
        json!({"audiences": [ISSUER], "boundObjectRef": null, "expirationSeconds": 3600})
    );
    assert_eq!(
        answer["status"]["expirationTimestamp"],
        "2026-01-02T04:04:05Z"
    );
    let token = answer["status"]["token"].as_str().unwrap();
    assert_eq!(read(token, 0), json!({"alg": "SUM", "kid": "sum"}));
    let claims = read(token, 1);
    let uid = &answer["metadata"]["uid"];
    let id = claims["jti"].as_str().unwrap();
    assert_eq!(
        claims,
        json!({
            "aud": [ISSUER], "iss": ISSUER, "jti": id, "sub": "system:serviceaccount:default:web",
            "iat": 1_767_323_045, "nbf": 1_767_323_045, "exp": 1_767_326_645,
            "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "web", "uid": uid}},
        })
    );
    let found = review(&mut server, token, &Value::Null);
    assert_eq!(
        found,
        json!({
            "authenticated": true, "audiences": [ISSUER],
            "user": {
                "username": "system:serviceaccount:default:web", "uid": uid,
                "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
                "extra": {"authentication.kubernetes.io/credential-id": [format!("JTI={id}")]},
            },
        })
    );
}

#[test]
fn requests_that_make_no_sense_are_refused_in_upstreams_words() {
    let mut server = server();
    let pod = json!({"metadata": {"name": "other"}, "spec": {
        "serviceAccountName": "other", "containers": [{"name": "a", "image": "b"}],
    }});
    let (code, _) = server.post("/api/v1/namespaces/default/pods", &pod);
    assert_eq!(code, 201);
    let to = |kind: &str, version: &str, name: &str| json!({"spec": {"boundObjectRef": {"kind": kind, "apiVersion": version, "name": name}}});
    for (body, code, message) in [
        (
            json!({"spec": {"expirationSeconds": 10}}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 10: may not \
             specify a duration less than 10 minutes",
        ),
        (
            json!({"spec": {"expirationSeconds": 4_294_967_297_i64}}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 4294967297: \
             may not specify a duration larger than 2^32 seconds",
        ),
        (
            json!({"metadata": {"name": "other"}}),
            422,
            "TokenRequest.authentication.k8s.io \"web\" is invalid: metadata.name: Invalid value: \"other\": must \
             match the service account name if specified",
        ),
        (
            json!({"metadata": {"namespace": "other"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (to("Pod", "v1", "none"), 404, "pods \"none\" not found"),
        (
            to("Secret", "v1", "none"),
            404,
            "secrets \"none\" not found",
        ),
        (to("Node", "v1", "none"), 404, "nodes \"none\" not found"),
        (
            to("Pod", "v1", "other"),
            400,
            "cannot bind token for serviceaccount \"web\" to pod running with different serviceaccount name.",
        ),
        (
            to("Deployment", "apps/v1", "x"),
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment",
        ),
    ] {
        let (got, status) = server.post(&format!("{ACCOUNTS}/web/token"), &body);
        assert_eq!((got, &status["message"]), (code, &json!(message)));
    }
    let (code, status) = server.post(&format!("{ACCOUNTS}/none/token"), &json!({}));
    assert_eq!(
        (code, &status["message"]),
        (404, &json!("serviceaccounts \"none\" not found"))
    );
    assert_eq!(server.get(&format!("{ACCOUNTS}/web/token")).0, 405);
}

#[test]
fn tokens_are_believed_only_within_their_time_and_audience() {
    let mut server = server();
    let token = token(&mut server, &json!({"audiences": ["x", "y"]}));
    let refused =
        |why: &str| json!({"user": {}, "error": format!("[invalid bearer token, {why}]")});
    let own = refused(&format!(
        "token audiences [\"x\" \"y\"] is invalid for the target audiences [\"{ISSUER}\"]"
    ));
    assert_eq!(review(&mut server, &token, &Value::Null), own);
    let found = review(&mut server, &token, &json!(["y", "z"]));
    assert_eq!(found["audiences"], json!(["y"]));
    let begun = server.now;
    for (after, why) in [
        (3600 + 59, None),
        (3600 + 61, Some("service account token has expired")),
    ] {
        server.now = begun.saturating_add(Duration::from_secs(after));
        let found = review(&mut server, &token, &json!(["y"]));
        match why {
            None => assert_eq!(found["authenticated"], true),
            Some(why) => assert_eq!(found, refused(why)),
        }
    }
    server.now = begun.saturating_sub(Duration::from_secs(61));
    let found = review(&mut server, &token, &json!(["y"]));
    assert_eq!(found, refused("service account token is not valid yet"));
}

#[test]
fn what_was_not_signed_here_is_not_believed() {
    let mut server = server();
    let good = token(&mut server, &json!({}));
    let (none, broken) = (
        json!({}),
        "go-jose/go-jose: error in cryptographic primitive",
    );
    let message = good.rsplit_once('.').unwrap().0;
    for (token, why) in [
        ("junk".to_owned(), ""),
        ("a.b.c".to_owned(), ""),
        (forged(&good, &none, &json!({"iss": "x"})), ""),
        (format!("{message}."), broken),
        (forged(&good, &json!({"alg": "none"}), &none), broken),
        (
            forged(&good, &json!({"kid": "x"}), &none),
            "invalid signature, no keys found",
        ),
        (
            forged(
                &good,
                &none,
                &json!({"kubernetes.io": {"namespace": "default"}}),
            ),
            "resource name may not be empty",
        ),
    ] {
        let told = match why {
            "" => "invalid bearer token".to_owned(),
            why => format!("[invalid bearer token, {why}]"),
        };
        let found = review(&mut server, &token, &Value::Null);
        assert_eq!(found, json!({"user": {}, "error": told}), "{token}");
    }
    let (code, status) = server.post(REVIEWS, &json!({"spec": {"token": ""}}));
    let message = json!("token is required for TokenReview in authentication");
    assert_eq!((code, &status["message"]), (400, &message));
    for changes in [
        json!({"aud": null}),
        json!({"aud": ISSUER}),
        json!({"exp": null}),
    ] {
        let found = review(&mut server, &forged(&good, &none, &changes), &Value::Null);
        assert_eq!(found["authenticated"], true, "{changes}");
    }
}

#[test]
fn a_token_ends_with_its_account_or_what_it_is_bound_to() {
    let mut server = server();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "serviceAccountName": "web", "nodeName": "n", "containers": [{"name": "a", "image": "b"}],
    }});
    assert_eq!(server.post(pods, &pod).0, 201);
    let bound = json!({"expirationSeconds": 3607, "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}});
    let of_pod = token(&mut server, &bound);
    let claims = read(&of_pod, 1);
    assert_eq!(claims["exp"].as_i64(), Some(1_767_323_045 + 31_536_000));
    assert_eq!(claims["kubernetes.io"]["warnafter"], 1_767_326_652);
    assert_eq!(claims["kubernetes.io"]["node"], json!({"name": "n"}));
    let found = review(&mut server, &of_pod, &Value::Null);
    let extra = &found["user"]["extra"];
    assert_eq!(extra["authentication.kubernetes.io/pod-name"], json!(["p"]));
    assert_eq!(
        extra["authentication.kubernetes.io/node-name"],
        json!(["n"])
    );
    let of_account = token(&mut server, &json!({}));

    let at_once = json!({"gracePeriodSeconds": 0});
    assert_eq!(server.delete(&format!("{pods}/p"), &at_once).0, 200);
    let found = review(&mut server, &of_pod, &Value::Null);
    let told = "[invalid bearer token, service account token has been invalidated]";
    assert_eq!(found["error"], told);

    assert_eq!(
        server.delete(&format!("{ACCOUNTS}/web"), &Value::Null).0,
        200
    );
    let found = review(&mut server, &of_account, &Value::Null);
    assert_eq!(
        found["error"],
        "[invalid bearer token, serviceaccounts \"web\" not found]"
    );
    assert_eq!(
        server
            .post(ACCOUNTS, &json!({"metadata": {"name": "web"}}))
            .0,
        201
    );
    let found = review(&mut server, &of_account, &Value::Null);
    let error = found["error"].as_str().unwrap();
    assert!(error.contains("does not match claim"), "{error}");
}

#[test]
fn others_find_the_key_that_verifies_tokens() {
    let mut server = server();
    let (code, document) = server.get("/.well-known/openid-configuration");
    assert_eq!((code, &document["issuer"]), (200, &json!(ISSUER)));
    assert_eq!(document["jwks_uri"], "https://127.0.0.1/openid/v1/jwks");
    let (code, keys) = server.get("/openid/v1/jwks");
    assert_eq!((code, keys), (200, json!({"keys": [{"kid": "sum"}]})));
}
