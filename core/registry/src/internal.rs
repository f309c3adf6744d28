//! What the server asks of itself, as itself.

use std::sync::{Arc, OnceLock};

use flyball_api::Timestamp;
use flyball_rbac::{MASTERS, User};

use crate::path::ResourcePath;
use crate::query::Query;
use crate::registry::Call;
use crate::request::{Method, Representation, Request};
use crate::served::Kind;

/// The name under which the server owns fields of what it makes.
const AGENT: &str = "kube-apiserver";

/// A call of the server's own, about an object or a collection of this kind.
pub(crate) fn call(kind: Arc<Kind>, namespace: &str, name: &str, now: Timestamp) -> Call<'static> {
    static USER: OnceLock<User> = OnceLock::new();
    let user = USER.get_or_init(|| User::of_groups("system:apiserver", &[MASTERS]));
    let request = Request {
        method: Method::Post,
        path: "",
        query: &[],
        body: &[],
        content_type: "",
        accept: "",
        user,
        agent: AGENT,
        now,
    };
    Call {
        request,
        path: ResourcePath {
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource: kind.plural.clone(),
            namespace: namespace.into(),
            name: name.into(),
            ..ResourcePath::default()
        },
        resource: kind,
        query: Query::default(),
        representation: Representation::Whole,
    }
}
