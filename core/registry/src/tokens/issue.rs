//! TokenRequests: a token for a service account, for some time, to some audience.
//!
//! Upstream: `pkg/registry/core/serviceaccount/storage/token.go`, `pkg/serviceaccount/claims.go`.

use std::time::Duration;

use flyball_schema::{Resource, builtin};
use serde_json::{Value, json};

use super::claims::{Claims, Private, Ref};
use super::{ISSUER, signed};
use crate::admission::{self, Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry};
use crate::request::Chance;
use crate::served::Kind;
use crate::stored::text;
use crate::{decode, managed, meta};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";

/// How long a token lasts if nobody says.
const LASTS_SECONDS: i64 = 3600;
const LASTS_SECONDS_MIN: i64 = 600;
const LASTS_SECONDS_MAX: i64 = 1 << 32;

/// What the volumes of pods ask for; such a token may be used longer, for clients that never read it
/// anew, and is only noted when it is.
const WATCHED_SECONDS: i64 = 3607;
const EXTENDED_SECONDS: i64 = 365 * 24 * 3600;

impl Registry {
    /// Issues a token.
    pub(crate) fn issue(
        &self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let whole = call;
        let call = &sent_to(call)?;
        let (object, warnings) = decode::object(call)?;
        let answer = self.issue_for(whole, call, object, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    fn issue_for(
        &self,
        whole: &Call<'_>,
        call: &Call<'_>,
        mut object: Object,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        default(&mut object);
        meta::place(call, &mut object)?;
        managed::note(call, None, &mut object);
        let review = Review::of_create(self, whole, &call.path.name);
        admission::mutate(&review, &mut object, &mut Effects::default())?;
        let account = self.asked_for(call, &mut object)?;
        object.insert("status".to_owned(), json!({}));
        let now = call.request.now;
        object
            .meta_mut()
            .insert("creationTimestamp".to_owned(), stamp(now));
        let errors = mistakes(&object);
        if !errors.is_empty() {
            return Err(Failure::invalid(GROUP, KIND, "", &errors));
        }
        let lasts = at(&object, "spec.expirationSeconds")
            .as_i64()
            .unwrap_or_default();
        let claims = self.claims(call, &object, &account, chance.uid())?;
        let written = self
            .issuer()
            .map(|issuer| signed::write(&*issuer.signer, &claims));
        let Some(Ok(token)) = written else {
            let message =
                "Internal error occurred: failed to generate token: there is no signing key";
            return Err(Failure::new(500, "InternalError", message));
        };
        let ends = now.saturating_add(Duration::from_secs(lasts.unsigned_abs()));
        let status = json!({"token": token, "expirationTimestamp": stamp(ends)});
        object.insert("status".to_owned(), status);
        Ok(Answer::new(201, text(&object)))
    }

    /// The account, if the request is really about it.
    fn asked_for(&self, call: &Call<'_>, object: &mut Object) -> Result<Object, Failure> {
        let (namespace, name) = (&call.path.namespace, call.path.name.as_str());
        let sent = object.name();
        if !sent.is_empty() && sent != name {
            let why = "must match the service account name if specified";
            let errors = [FieldError::invalid("metadata.name", sent, why)];
            return Err(Failure::invalid(GROUP, KIND, name, &errors));
        }
        let account = self.stored("serviceaccounts", namespace, name);
        let account = account.ok_or_else(|| missing("serviceaccounts", name))?;
        let uid = object.uid();
        if !uid.is_empty() && uid != account.uid() {
            let why = format!(
                "the UID in the token request ({uid}) does not match the UID of the service account ({})",
                account.uid()
            );
            return Err(conflict(GROUP, KIND, name, &why));
        }
        let meta = object.meta_mut();
        meta.insert("name".to_owned(), name.into());
        meta.insert("uid".to_owned(), account.uid().into());
        let spec = object.entry("spec").or_insert_with(|| json!({}));
        if spec["audiences"].as_array().is_none_or(Vec::is_empty) {
            spec["audiences"] = json!([ISSUER]);
        }
        if spec.get("boundObjectRef").is_none() {
            spec["boundObjectRef"] = Value::Null;
        }
        Ok(account)
    }

    fn claims(
        &self,
        call: &Call<'_>,
        object: &Object,
        account: &Object,
        id: String,
    ) -> Result<Claims, Failure> {
        let namespace = call.path.namespace.as_str();
        let mut private = Private {
            namespace: namespace.to_owned(),
            serviceaccount: named(account),
            ..Private::default()
        };
        self.bind_token(object, account.name(), &mut private)?;
        let now = call.request.now.unix_seconds();
        let asked = at(object, "spec.expirationSeconds")
            .as_i64()
            .unwrap_or_default();
        let audiences = at(object, "spec.audiences")
            .as_array()
            .into_iter()
            .flatten();
        let audiences = audiences.filter_map(|one| one.as_str().map(str::to_owned));
        let audiences: Vec<String> = audiences.collect();
        let is_watched = private.pod.is_some()
            && asked == WATCHED_SECONDS
            && audiences.iter().all(|one| one == ISSUER);
        let lasts = match is_watched {
            true => EXTENDED_SECONDS,
            false => asked,
        };
        private.warnafter = is_watched.then_some(now + asked);
        Ok(Claims {
            aud: audiences,
            exp: Some(now.saturating_add(lasts)),
            iat: Some(now),
            nbf: Some(now),
            iss: ISSUER.to_owned(),
            jti: id,
            sub: format!("system:serviceaccount:{namespace}:{}", account.name()),
            kubernetes: private,
        })
    }

    /// Binds the claims to the object that the request names.
    fn bind_token(
        &self,
        object: &Object,
        account: &str,
        into: &mut Private,
    ) -> Result<(), Failure> {
        let to = at(object, "spec.boundObjectRef");
        if !to.is_object() {
            return Ok(());
        }
        let word = |field: &str| to[field].as_str().unwrap_or_default();
        let (kind, name, version) = (word("kind"), word("name"), word("apiVersion"));
        if name.is_empty() && !version.contains('/') && matches!(kind, "Pod" | "Node" | "Secret") {
            return Err(Failure::bad_request("Name parameter required."));
        }
        let found = match (version.contains('/'), kind) {
            (false, "Pod") => {
                let pod = self.stored("pods", &into.namespace, name);
                let pod = pod.ok_or_else(|| missing("pods", name))?;
                if at(&pod, "spec.serviceAccountName") != account {
                    return Err(Failure::bad_request(format!(
                        "cannot bind token for serviceaccount {account:?} to pod running with different \
                         serviceaccount name."
                    )));
                }
                into.pod = Some(named(&pod));
                into.node = self.node_of(&pod);
                pod
            }
            (false, "Node") => {
                let node = self.stored("nodes", "", name);
                let node = node.ok_or_else(|| missing("nodes", name))?;
                into.node = Some(named(&node));
                node
            }
            (false, "Secret") => {
                let secret = self.stored("secrets", &into.namespace, name);
                let secret = secret.ok_or_else(|| missing("secrets", name))?;
                into.secret = Some(named(&secret));
                secret
            }
            _ => {
                let (group, version) = version.split_once('/').unwrap_or(("", version));
                return Err(Failure::bad_request(format!(
                    "cannot bind token to object of type {group}/{version}, Kind={kind}"
                )));
            }
        };
        let uid = word("uid");
        if !uid.is_empty() && uid != found.uid() {
            let why = format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might \
                 have been deleted and then recreated"
            );
            return Err(conflict("", kind, name, &why));
        }
        Ok(())
    }

    /// The node of a pod; only its name if it is not there any more.
    fn node_of(&self, pod: &Object) -> Option<Ref> {
        let name = at(pod, "spec.nodeName").as_str()?;
        let node = self.stored("nodes", "", name);
        Some(node.as_ref().map(named).unwrap_or(Ref {
            name: name.to_owned(),
            uid: String::new(),
        }))
    }
}

/// The call as one about the request that was sent, not about the account.
fn sent_to<'a>(call: &Call<'a>) -> Result<Call<'a>, Failure> {
    let of = builtin().kind(GROUP, "v1", KIND);
    let of = of.ok_or_else(Failure::no_such_path)?.id();
    let resource = Resource {
        group: GROUP.into(),
        version: "v1".into(),
        kind: KIND.into(),
        subresources: Box::default(),
        of,
        ..Resource::clone(&call.resource)
    };
    Ok(Call {
        request: call.request,
        path: call.path.clone(),
        resource: Kind::alone(resource).into(),
        query: call.query.clone(),
        representation: call.representation,
    })
}

fn default(object: &mut Object) {
    let spec = object.entry("spec").or_insert_with(|| json!({}));
    if spec["expirationSeconds"].is_null() {
        spec["expirationSeconds"] = LASTS_SECONDS.into();
    }
}

fn mistakes(object: &Object) -> Vec<FieldError> {
    let lasts = at(object, "spec.expirationSeconds")
        .as_i64()
        .unwrap_or_default();
    let why = match lasts {
        ..LASTS_SECONDS_MIN => "may not specify a duration less than 10 minutes",
        LASTS_SECONDS_MIN..=LASTS_SECONDS_MAX => return Vec::new(),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    vec![FieldError::invalid("spec.expirationSeconds", lasts, why)]
}

fn named(object: &Object) -> Ref {
    Ref {
        name: object.name().to_owned(),
        uid: object.uid().to_owned(),
    }
}

fn missing(plural: &str, name: &str) -> Failure {
    match builtin().resource("", "v1", plural) {
        Some(resource) => Failure::not_found(resource, name),
        None => Failure::no_such_path(),
    }
}

/// A conflict about a kind, which upstream tells by the kind's own name and not by its plural.
fn conflict(group: &str, kind: &str, name: &str, why: &str) -> Failure {
    let qualified = match group {
        "" => kind.to_owned(),
        group => format!("{kind}.{group}"),
    };
    let message = format!("Operation cannot be fulfilled on {qualified} {name:?}: {why}");
    let mut failure = Failure::new(409, "Conflict", message);
    failure.0.details = Some(flyball_api::StatusDetails {
        name: name.into(),
        group: group.into(),
        kind: kind.into(),
        ..flyball_api::StatusDetails::default()
    });
    failure
}
