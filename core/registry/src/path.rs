//! What a method and a path ask for.
//!
//! Upstream: `apiserver/pkg/endpoints/request/requestinfo.go`.

use flyball_api::Text;

use crate::failure::Failure;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// A collection, an object or a part of one.
    Resource(ResourcePath),
    /// Anything else: health, discovery, documents.
    Other,
}

/// The path of a collection, an object or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath {
    /// The API group; empty for the core group.
    pub group: Text,
    /// The version within the group.
    pub version: Text,
    /// The namespace; empty for cluster-scoped kinds and for all namespaces.
    pub namespace: Text,
    /// The resource, such as `pods`.
    pub resource: Text,
    /// The name of the object; empty for the collection.
    pub name: Text,
    /// The part of the object; empty for the whole.
    pub subresource: Text,
}

/// Parts of namespaces themselves; after any other word a namespace's path goes on to what is in it.
const PARTS_OF_NAMESPACES: &[&str] = &["status", "finalize"];

impl ResourcePath {
    /// What the path is about, as authorization sees it.
    pub(crate) fn target(&self) -> flyball_rbac::Resource<'_> {
        flyball_rbac::Resource {
            group: &self.group,
            resource: &self.resource,
            subresource: &self.subresource,
            namespace: &self.namespace,
            name: &self.name,
        }
    }
}

impl Path {
    /// Reads a decoded path.
    pub fn parse(path: &str) -> Self {
        if path.starts_with("//") {
            return Self::Other;
        }
        // Empty words at both ends mean nothing; in between they are words.
        let mut parts = path.trim_matches('/').split('/');
        let group = match parts.next() {
            Some("api") => "",
            Some("apis") => match parts.next() {
                Some(group) => group,
                None => return Self::Other,
            },
            _ => return Self::Other,
        };
        let Some(version) = parts.next() else {
            return Self::Other;
        };
        let rest: Vec<&str> = parts.collect();
        let (namespace, rest) = match rest.as_slice() {
            [] => return Self::Other,
            ["namespaces", name] => (*name, &["namespaces", *name][..]),
            ["namespaces", name, part, ..] if PARTS_OF_NAMESPACES.contains(part) => {
                (*name, &rest[..])
            }
            ["namespaces", namespace, rest @ ..] => (*namespace, rest),
            rest => ("", rest),
        };
        let text = |at: usize| {
            rest.get(at)
                .map(|part| Text::from(*part))
                .unwrap_or_default()
        };
        Self::Resource(ResourcePath {
            group: group.into(),
            version: version.into(),
            namespace: namespace.into(),
            resource: text(0),
            name: text(1),
            subresource: rest.get(2..).unwrap_or_default().join("/").into(),
        })
    }
}

impl ResourcePath {
    /// Refuses words that would lead out of the place where objects are kept, as upstream does.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let name = self.name.as_str();
        let fault = match name {
            "." => Some("may not be '.'"),
            ".." => Some("may not be '..'"),
            name if name.contains('/') => Some("may not contain '/'"),
            name if name.contains('%') => Some("may not contain '%'"),
            _ => None,
        };
        if let Some(fault) = fault {
            let message = format!("Name parameter invalid: {name:?}: {fault}");
            return Err(Failure::bad_request(message));
        }
        if matches!(self.namespace.as_str(), "." | "..") {
            let mut key = format!("/{}/{}", self.resource, self.namespace);
            if !name.is_empty() {
                key.push('/');
                key.push_str(name);
            }
            return Err(Failure::new(500, "", format!("invalid key: {key:?}")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(path: &str) -> Option<(String, String)> {
        match Path::parse(path) {
            Path::Other => None,
            Path::Resource(at) => Some((
                format!("{}/{}", at.group, at.version),
                format!(
                    "{}|{}|{}|{}",
                    at.namespace, at.resource, at.name, at.subresource
                ),
            )),
        }
    }

    #[test]
    fn nothing_leads_out_of_the_place_of_a_kind() {
        let told = |path: &str| match Path::parse(path) {
            Path::Resource(at) => at.check().err().map(|failure| failure.0.message),
            Path::Other => Some("nothing".into()),
        };
        for (path, want) in [
            ("/api/v1/namespaces/a/pods/b.c", None),
            (
                "/api/v1/namespaces/a/pods/..",
                Some("Name parameter invalid: \"..\": may not be '..'"),
            ),
            (
                "/api/v1/nodes/.",
                Some("Name parameter invalid: \".\": may not be '.'"),
            ),
            (
                "/api/v1/nodes/a%b",
                Some("Name parameter invalid: \"a%b\": may not contain '%'"),
            ),
            (
                "/api/v1/namespaces/../pods",
                Some("invalid key: \"/pods/..\""),
            ),
            ("//api/v1/namespaces/a", Some("nothing")),
        ] {
            assert_eq!(told(path).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn paths_name_collections_objects_and_parts() {
        for (path, version, rest) in [
            ("/api/v1/pods", "/v1", "|pods||"),
            ("/api/v1/namespaces/a/pods", "/v1", "a|pods||"),
            ("/api/v1/namespaces/a/pods/b", "/v1", "a|pods|b|"),
            (
                "/api/v1/namespaces/a/pods/b/status",
                "/v1",
                "a|pods|b|status",
            ),
            ("/api/v1/namespaces", "/v1", "|namespaces||"),
            ("/api/v1/namespaces/a", "/v1", "a|namespaces|a|"),
            (
                "/api/v1/namespaces/a/finalize",
                "/v1",
                "a|namespaces|a|finalize",
            ),
            (
                "/apis/apps/v1/namespaces/a/deployments/",
                "apps/v1",
                "a|deployments||",
            ),
            ("/api/v1/nodes/n/proxy/a/b", "/v1", "|nodes|n|proxy/a/b"),
        ] {
            let want = Some((version.to_owned(), rest.to_owned()));
            assert_eq!(parsed(path), want, "{path}");
        }
    }

    #[test]
    fn other_paths_name_no_resource() {
        for path in [
            "/",
            "/healthz",
            "/api",
            "/api/v1",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
        ] {
            assert_eq!(parsed(path), None, "{path}");
        }
    }
}
