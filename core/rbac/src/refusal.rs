//! What a refused request is told, in kube-apiserver's words.

use flyball_api::{Status, StatusDetails};

use crate::quote::Quoted;
use crate::{Attributes, Resource, Target};

/// The answer to a request that [`authorize`](crate::authorize) did not allow, with its reason.
pub fn forbidden(request: &Attributes<'_>, reason: &str) -> Status {
    let mut cause = harmless(&cannot(request));
    if !reason.is_empty() {
        cause = format!("{cause}: {reason}");
    }
    match &request.target {
        Target::Resource(resource) => refused(resource, resource.name, &cause),
        Target::Path(_) => refused(&Resource::default(), "", &cause),
    }
}

/// The answer that an object may not be written, whatever the cause.
pub(crate) fn refused(resource: &Resource<'_>, name: &str, cause: &str) -> Status {
    let message = match (resource.resource, name) {
        ("", _) => format!("forbidden: {cause}"),
        (_, "") => format!("{} is forbidden: {cause}", qualified(resource)),
        (_, name) => format!(
            "{} {} is forbidden: {cause}",
            qualified(resource),
            Quoted(name)
        ),
    };
    about(resource, name, Status::failure(403, "Forbidden", &message))
}

/// The answer that something the request is about does not exist.
pub(crate) fn not_found(resource: &Resource<'_>, name: &str) -> Status {
    let message = missing(resource, name);
    about(resource, name, Status::failure(404, "NotFound", &message))
}

/// That there is no such object.
pub(crate) fn missing(resource: &Resource<'_>, name: &str) -> String {
    format!("{} {} not found", qualified(resource), Quoted(name))
}

fn about(resource: &Resource<'_>, name: &str, status: Status) -> Status {
    let details = StatusDetails {
        name: name.into(),
        group: resource.group.into(),
        kind: resource.resource.into(),
        ..StatusDetails::default()
    };
    Status {
        details: Some(details),
        ..status
    }
}

/// `pods`, or `deployments.apps`.
fn qualified(resource: &Resource<'_>) -> String {
    match resource.group {
        "" => resource.resource.to_owned(),
        group => format!("{}.{group}", resource.resource),
    }
}

fn cannot(request: &Attributes<'_>) -> String {
    let (user, verb) = (Quoted(&request.user.name), request.verb);
    let resource = match &request.target {
        Target::Path(path) => return format!("User {user} cannot {verb} path {}", Quoted(path)),
        Target::Resource(resource) => resource,
    };
    let what = match resource.subresource {
        "" => resource.resource.to_owned(),
        part => format!("{}/{part}", resource.resource),
    };
    let (what, group) = (Quoted(&what), Quoted(resource.group));
    let scope = match resource.namespace {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", Quoted(namespace)),
    };
    format!("User {user} cannot {verb} resource {what} in API group {group} {scope}")
}

/// The text without what a browser could take for markup.
fn harmless(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;

    /// Messages and details as kube-apiserver v1.36.4 gave them when asked.
    #[test]
    fn a_refusal_says_who_cannot_do_what_where() {
        let resource = |group, resource, subresource, namespace, name| {
            Target::Resource(Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
            })
        };
        let missing = r#"RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found"#;
        for (user, verb, target, reason, expected) in [
            (
                "eve",
                "list",
                resource("", "pods", "", "", ""),
                "",
                r#"{"message":"pods is forbidden: User \"eve\" cannot list resource \"pods\" in API group \"\" at the cluster scope","details":{"kind":"pods"}}"#,
            ),
            (
                "eve",
                "list",
                resource("", "services", "", "default", ""),
                "",
                r#"{"message":"services is forbidden: User \"eve\" cannot list resource \"services\" in API group \"\" in the namespace \"default\"","details":{"kind":"services"}}"#,
            ),
            (
                "eve",
                "get",
                resource("", "services", "status", "default", "x"),
                "",
                r#"{"message":"services \"x\" is forbidden: User \"eve\" cannot get resource \"services/status\" in API group \"\" in the namespace \"default\"","details":{"name":"x","kind":"services"}}"#,
            ),
            (
                "eve",
                "get",
                resource("apps", "deployments", "", "default", "x"),
                "",
                r#"{"message":"deployments.apps \"x\" is forbidden: User \"eve\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"default\"","details":{"name":"x","group":"apps","kind":"deployments"}}"#,
            ),
            (
                "bob",
                "get",
                resource("", "nodes", "", "", "n1"),
                missing,
                r#"{"message":"nodes \"n1\" is forbidden: User \"bob\" cannot get resource \"nodes\" in API group \"\" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io \"nope\" not found","details":{"name":"n1","kind":"nodes"}}"#,
            ),
            (
                "eve",
                "get",
                Target::Path("/metrics/x<y"),
                "",
                r#"{"message":"forbidden: User \"eve\" cannot get path \"/metrics/x&lt;y\"","details":{}}"#,
            ),
            (
                "a\"b<c>&d",
                "list",
                resource("", "pods", "", "", ""),
                "",
                r#"{"message":"pods is forbidden: User \"a\\\"b&lt;c&gt;&amp;d\" cannot list resource \"pods\" in API group \"\" at the cluster scope","details":{"kind":"pods"}}"#,
            ),
            (
                "sé\tt",
                "list",
                resource("", "pods", "", "", ""),
                "",
                r#"{"message":"pods is forbidden: User \"sé\\tt\" cannot list resource \"pods\" in API group \"\" at the cluster scope","details":{"kind":"pods"}}"#,
            ),
        ] {
            let user = User::of_groups(user, &[]);
            let user = &user;
            let status = forbidden(&Attributes { user, verb, target }, reason);
            let expected: Status = serde_json::from_str(expected).unwrap();
            assert_eq!(status.message, expected.message);
            assert_eq!(status.details, expected.details);
            assert_eq!((status.code, &*status.reason), (403, "Forbidden"));
            assert_eq!(&*status.status, "Failure");
        }
    }
}
