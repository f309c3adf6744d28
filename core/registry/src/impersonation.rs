//! Acting as somebody else: who may, and who they are then.
//!
//! There are two ways. The older one asks for the verb `impersonate` on whom one wants to be, and
//! then allows everything that they may do. The newer one is constrained: it also asks for a verb
//! such as `impersonate-on:user-info:list` on what the request is about. All ways are tried, the
//! constrained ones first; the first refusal is told.
//!
//! Upstream: `apiserver/pkg/endpoints/filters/impersonation`.

use flyball_api::Text;
use flyball_rbac::{
    AUTHENTICATED, Attributes, MASTERS, Resource, SERVICE_ACCOUNTS, Target, UNAUTHENTICATED, User,
};

use crate::failure::Failure;
use crate::kinds::NameRule;
use crate::names;
use crate::path::Path;
use crate::registry::{self, Registry};
use crate::request::Request;
use crate::route;

#[cfg(test)]
mod tests;

const ANONYMOUS: &str = "system:anonymous";
const NODES: &str = "system:nodes";
const AUTHENTICATION: &str = "authentication.k8s.io";
const NODE_OF_TOKEN: &str = "authentication.kubernetes.io/node-name";

/// From so many on, a right to all of a kind is looked for first.
const MANY: usize = 4;

/// What a path may have beside letters and digits.
const PATH_MARKS: &[u8] = b"/-._~%!$&'()*+,;=:";

/// The constrained ways, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
}

impl Way {
    const ALL: [Self; 4] = [
        Self::AssociatedNode,
        Self::ArbitraryNode,
        Self::ServiceAccount,
        Self::UserInfo,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
        }
    }

    /// Whether this way leads to whom one wants to be.
    fn leads_to(self, wanted: &User, asks: &User) -> bool {
        let node = node_name(&wanted.name);
        let account = account_name(&wanted.name);
        let only_named =
            wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        match self {
            Self::AssociatedNode => {
                let on = asks.extra.get(NODE_OF_TOKEN).map(Vec::as_slice);
                let is_there = matches!((on, node), (Some([on]), Some(node)) if on == node);
                only_named && is_there && account_name(&asks.name).is_some()
            }
            Self::ArbitraryNode => only_named && node.is_some(),
            Self::ServiceAccount => only_named && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
        }
    }
}

/// What a request is about, as authorization sees it.
struct Asked<'a> {
    verb: &'static str,
    path: Path,
    text: &'a str,
}

impl<'a> Asked<'a> {
    fn of(request: &Request<'a>) -> Self {
        let path = Path::parse(request.path);
        let verb = match &path {
            Path::Resource(path) => route::verb(request, path),
            Path::Other => registry::path_verb(request.method),
        };
        Self {
            verb,
            path,
            text: request.path,
        }
    }

    fn target(&self) -> Target<'_> {
        match &self.path {
            Path::Resource(path) => Target::Resource(path.target()),
            Path::Other => Target::Path(self.text),
        }
    }
}

impl Registry {
    /// Who does a request whose sender wants to be somebody else; a refusal if the sender may not.
    pub fn impersonate(&self, request: &Request<'_>, wanted: &User) -> Result<User, Failure> {
        let asked = Asked::of(request);
        let mut refused = None;
        for way in Way::ALL {
            if !way.leads_to(wanted, request.user) {
                continue;
            }
            match self.constrained(request, &asked, wanted, way) {
                Ok(user) => return Ok(user),
                Err(failure) => refused = refused.or(Some(failure)),
            }
        }
        self.become_them(request.user, wanted, None)
            .map_err(|failure| refused.unwrap_or(failure))
    }

    fn constrained(
        &self,
        request: &Request<'_>,
        asked: &Asked<'_>,
        wanted: &User,
        way: Way,
    ) -> Result<User, Failure> {
        let verb = format!("impersonate-on:{}:{}", way.name(), asked.verb);
        self.allow(&Attributes {
            user: request.user,
            verb: &verb,
            target: asked.target(),
        })?;
        self.become_them(request.user, wanted, Some(way))
    }

    /// Checks each thing that one wants to be, and adds the groups that go without saying.
    fn become_them(&self, asks: &User, wanted: &User, way: Option<Way>) -> Result<User, Failure> {
        let verb = match way {
            Some(way) => format!("impersonate:{}", way.name()),
            None => "impersonate".to_owned(),
        };
        let group = match way {
            Some(_) => AUTHENTICATION,
            None => "",
        };
        let check = |of: Resource<'_>| {
            self.allow(&Attributes {
                user: asks,
                verb: &verb,
                target: Target::Resource(of),
            })
        };
        let mut actual = wanted.clone();
        let named = |resource, name| Resource {
            group,
            resource,
            name,
            ..Resource::default()
        };
        let mut user = named("users", wanted.name.as_str());
        if let Some(node) = node_name(&wanted.name)
            && let Some(way) = way
        {
            // Whoever may be the node they run on may be any node they happen to run on.
            let any = way == Way::AssociatedNode;
            user = named("nodes", if any { "*" } else { node });
            actual.groups = vec![NODES.into()];
        }
        if let Some((namespace, name)) = account_name(&wanted.name) {
            user = Resource {
                namespace,
                ..named("serviceaccounts", name)
            };
            if wanted.groups.is_empty() {
                let own = format!("{SERVICE_ACCOUNTS}:{namespace}");
                actual.groups = vec![SERVICE_ACCOUNTS.into(), own.into()];
            }
        }
        check(user)?;
        if !wanted.uid.is_empty() {
            check(Resource {
                group: AUTHENTICATION,
                ..named("uids", wanted.uid.as_str())
            })?;
        }
        let groups = named("groups", "");
        self.check_groups(asks, &verb, groups, &wanted.groups, way.is_some())?;
        self.check_extra(asks, &verb, wanted, way.is_some())?;
        let mut ensure = |group: &str| {
            if !actual.groups.iter().any(|one| one == group) {
                actual.groups.push(group.into());
            }
        };
        if wanted.name == ANONYMOUS {
            ensure(UNAUTHENTICATED);
        } else if !wanted.groups.iter().any(|one| one == UNAUTHENTICATED) {
            ensure(AUTHENTICATED);
        }
        Ok(actual)
    }

    fn check_groups(
        &self,
        asks: &User,
        verb: &str,
        of: Resource<'_>,
        groups: &[Text],
        is_constrained: bool,
    ) -> Result<(), Failure> {
        let attributes = |name| Attributes {
            user: asks,
            verb,
            target: Target::Resource(Resource { name, ..of }),
        };
        if is_constrained {
            let refused =
                |name, why: &str| Err(Failure::of(flyball_rbac::forbidden(&attributes(name), why)));
            if groups.iter().any(Text::is_empty) {
                return refused("", "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|group| group == MASTERS) {
                return refused(
                    MASTERS,
                    "impersonating the system:masters group is not allowed",
                );
            }
            if groups.len() >= MANY && self.allow(&attributes("*")).is_ok() {
                return Ok(());
            }
        }
        let mut all = groups.iter();
        all.try_for_each(|group| self.allow(&attributes(group)))
    }

    fn check_extra(
        &self,
        asks: &User,
        verb: &str,
        wanted: &User,
        is_constrained: bool,
    ) -> Result<(), Failure> {
        let attributes = |subresource, name| Attributes {
            user: asks,
            verb,
            target: Target::Resource(Resource {
                group: AUTHENTICATION,
                resource: "userextras",
                subresource,
                name,
                ..Resource::default()
            }),
        };
        if is_constrained && !wanted.extra.is_empty() {
            if let Some(why) = extra_mistake(wanted) {
                let refusal = flyball_rbac::forbidden(&attributes("", ""), &why);
                return Err(Failure::of(refusal));
            }
            let values: usize = wanted.extra.values().map(Vec::len).sum();
            if values >= MANY && self.allow(&attributes("*", "*")).is_ok() {
                return Ok(());
            }
        }
        for (key, values) in &wanted.extra {
            for value in values {
                self.allow(&attributes(key.as_str(), value.as_str()))?;
            }
        }
        Ok(())
    }
}

/// What is wrong with the extra facts that one wants to be known by.
fn extra_mistake(wanted: &User) -> Option<String> {
    for (key, values) in &wanted.extra {
        if key.is_empty() {
            return Some("impersonating the empty string key in extra is not allowed".to_owned());
        }
        let well_formed = key.split_once('/').is_some_and(|(domain, path)| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || PATH_MARKS.contains(&byte);
            names::mistakes(NameRule::Subdomain, domain, false).is_empty()
                && !path.is_empty()
                && path.bytes().all(allowed)
        });
        if !well_formed {
            return Some(format!(
                "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {key:?}: must be a \
                 domain-prefixed path (such as \"acme.io/foo\")"
            ));
        }
        if values.iter().any(Text::is_empty) {
            let why = "impersonating the empty string value in extra is not allowed";
            return Some(why.to_owned());
        }
    }
    None
}

/// The node whose user name this is.
fn node_name(user: &str) -> Option<&str> {
    let name = user.strip_prefix("system:node:")?;
    let fits = names::mistakes(NameRule::Subdomain, name, false).is_empty();
    fits.then_some(name)
}

/// The namespace and name of the service account whose user name this is.
fn account_name(user: &str) -> Option<(&str, &str)> {
    let rest = user.strip_prefix("system:serviceaccount:")?;
    let (namespace, name) = rest.split_once(':')?;
    let fits = names::mistakes(NameRule::Label, namespace, false).is_empty()
        && names::mistakes(NameRule::Subdomain, name, false).is_empty();
    fits.then_some((namespace, name))
}
