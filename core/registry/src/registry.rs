//! The registry: what is stored, who may do what, and the one way in.

use std::collections::VecDeque;
use std::sync::Arc;

use flyball_rbac::{Attributes, RoleIndex, Target};
use flyball_schema::Resource;
use flyball_storage::{
    CommitError, Committed, Item, Limits, ReadError, Revision, Store, Transaction,
};

use crate::answer::{Answer, Reply};
pub(crate) use crate::call::Call;
use crate::custom::Definitions;
use crate::failure::Failure;
use crate::negotiation::{self, Offer};
use crate::object::Object;
use crate::path::{Path, ResourcePath};
use crate::query::Query;
use crate::request::{Chance, Method, Request};
use crate::selection::Selection;
use crate::served::{Kind, Served};
use crate::services::NodePorts;
use crate::stored::Stored;
use crate::tokens::Issuer;
use crate::{
    bootstrap, components, documents, patch, reviews, route, sent, served, shown, versions,
};

/// An API server's state and rules.
pub struct Registry {
    store: Store<Arc<Stored>>,
    committed: VecDeque<Committed<Arc<Stored>>>,
    roles: RoleIndex,
    served: Served,
    node_ports: NodePorts,
    definitions: Definitions,
    issuer: Option<Issuer>,
    /// Where clients reach the server: ranges of clients, and the address that they should use.
    addresses: Vec<(String, String)>,
    requires_accounts: bool,
}

impl Registry {
    /// A registry over what was stored before, or over nothing.
    pub fn new(store: Store<Arc<Stored>>) -> Self {
        let mut registry = Self {
            store,
            committed: VecDeque::new(),
            roles: RoleIndex::default(),
            served: Served::built_in(),
            node_ports: NodePorts::default(),
            definitions: Definitions::default(),
            issuer: None,
            addresses: Vec::new(),
            requires_accounts: false,
        };
        registry.read_roles();
        registry.read_node_ports();
        registry.read_definitions();
        registry
    }

    /// A registry of an empty cluster.
    pub fn empty() -> Self {
        Self::new(Store::new(Self::limits()))
    }

    /// How much of the past is kept for watches: some minutes of a busy cluster, weighed by the text of objects,
    /// so that large ones cannot fill the memory.
    pub fn limits() -> Limits<Arc<Stored>> {
        Limits {
            weigh: |stored| stored.weight(),
            ..Limits::default()
        }
    }

    /// What is stored, and nothing else.
    pub fn into_store(self) -> Store<Arc<Stored>> {
        self.store
    }

    /// Makes what every cluster has from its start: namespaces and roles.
    pub fn bootstrap(&mut self, now: flyball_api::Timestamp, chance: &mut Chance<'_>) {
        bootstrap::run(self, now, chance);
        self.settle_definitions(now, chance);
        self.settle_api_services(now, chance);
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        self.store.revision()
    }

    /// The oldest revision that can be read and watched from.
    pub fn oldest(&self) -> Revision {
        self.store.oldest()
    }

    /// Forgets what happened before this revision: a watch that has not come so far is told that it
    /// cannot go on.
    pub fn compact(&mut self, before: Revision) -> Result<(), ReadError> {
        self.store.compact(before)
    }

    /// From now on discovery tells clients to reach the server at this address.
    pub(crate) fn tell_address(&mut self, address: String) {
        self.addresses = vec![("0.0.0.0/0".to_owned(), address)];
    }

    /// Whether what a path names is served.
    pub fn serves(&self, path: &ResourcePath) -> bool {
        let kind = self.served.find(&path.group, &path.version, &path.resource);
        kind.is_some_and(|kind| {
            path.subresource.is_empty() || kind.subresource(&path.subresource).is_some()
        })
    }

    /// How many objects there are: by group and resource.
    pub fn object_counts(&self) -> Vec<(String, String, usize)> {
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for item in self.store.iter() {
            let kind = item.key.split('/').nth(2).unwrap_or_default();
            *counts.entry(kind).or_default() += 1;
        }
        let named = counts.into_iter().map(|(kind, count)| {
            let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
            (group.to_owned(), resource.to_owned(), count)
        });
        named.collect()
    }

    /// The paths of documents: discovery, schemas, version.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = ["/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3"]
            .map(str::to_owned)
            .to_vec();
        paths.extend(["/openapi/v3/", "/version"].map(str::to_owned));
        if self.issuer().is_some() {
            paths.extend(
                ["/.well-known/openid-configuration", "/openid/v1/jwks"].map(str::to_owned),
            );
        }
        for kind in self.served.kinds() {
            match kind.group.as_str() {
                "" => paths.push(format!("/api/{}", kind.version)),
                group => {
                    paths.push(format!("/apis/{group}"));
                    paths.push(format!("/apis/{group}/{}", kind.version));
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// Whether something was committed that nobody has taken yet.
    pub fn has_committed(&self) -> bool {
        !self.committed.is_empty()
    }

    /// The oldest commit that nobody has taken yet, to be made durable before anything that was
    /// answered since is told to anybody.
    pub fn take_committed(&mut self) -> Option<Committed<Arc<Stored>>> {
        self.committed.pop_front()
    }

    /// Whether whoever asks may do so at all, whatever the body of the request is.
    pub fn check_access(&self, request: &Request<'_>) -> Result<(), Failure> {
        match Path::parse(request.path) {
            Path::Resource(path) => {
                let target = Target::Resource(path.target());
                self.authorize(request, route::verb(request, &path), target)
            }
            Path::Other => {
                let target = Target::Path(request.path);
                self.authorize(request, path_verb(request.method), target)
            }
        }
    }

    /// Does what a request asks for, or says why not.
    pub fn handle(&mut self, request: Request<'_>, chance: &mut Chance<'_>) -> Reply {
        let reply = match self.try_handle(request, chance) {
            Ok(reply) => reply,
            Err(failure) => Reply::Answer(Answer::refusal(failure, request.accept)),
        };
        self.settle_definitions(request.now, chance);
        reply
    }

    fn try_handle(
        &mut self,
        request: Request<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Reply, Failure> {
        let path = match Path::parse(request.path) {
            Path::Resource(path) => path,
            Path::Other => {
                let target = Target::Path(request.path);
                self.authorize(&request, path_verb(request.method), target)?;
                let found = documents::answer(&request, &self.served, &self.addresses)?;
                let found = found.or_else(|| self.openid(request.path));
                return Ok(found.map_or(Reply::Page, Reply::Answer));
            }
        };
        let verb = route::verb(&request, &path);
        self.authorize(&request, verb, Target::Resource(path.target()))?;
        let resource = self.served.find(&path.group, &path.version, &path.resource);
        let Some(resource) = resource.cloned() else {
            return match self.served.has_built_in(&path.group) {
                true => Err(Failure::no_such_path()),
                false => Ok(Reply::Page),
            };
        };
        if matches!(
            request.method,
            Method::Head | Method::Options | Method::Other
        ) {
            return Err(Failure::method_not_allowed());
        }
        if resource.of_definition().is_some() {
            if !route::leads_to_custom(verb, &path, &resource) {
                return Ok(Reply::Page);
            }
        } else {
            route::check(verb, &path, &resource)?;
        }
        check_routed(&request, verb, &resource)?;
        let warnings = resource.warnings();
        let reply = self.serve(request, (path, verb), resource, chance);
        // What is told of the kind is told with refusals too.
        Ok(match reply {
            Ok(Reply::Answer(mut answer)) => {
                answer.warnings.splice(0..0, warnings);
                Reply::Answer(answer)
            }
            Ok(Reply::List(mut list)) => {
                list.warnings = warnings;
                Reply::List(list)
            }
            Ok(other) => other,
            Err(failure) => {
                let answer = Answer::refusal(failure, request.accept);
                Reply::Answer(answer.warned(warnings))
            }
        })
    }

    /// Does what is asked of a kind.
    fn serve(
        &mut self,
        request: Request<'_>,
        (path, verb): (ResourcePath, &'static str),
        resource: Arc<Kind>,
        chance: &mut Chance<'_>,
    ) -> Result<Reply, Failure> {
        // The router knows only routes to objects of built-in kinds.
        let is_unnamed = path.name.is_empty() && resource.of_definition().is_some();
        let unnamed = || Failure::bad_request("name must be provided");
        if verb == "update" && is_unnamed {
            return Err(unnamed());
        }
        let offer = offer(&path, &resource);
        let mut choice = negotiation::choose(request.accept, offer)?;
        let mut call = Call {
            request,
            path,
            resource,
            query: Query::default(),
            representation: choice.representation,
        };
        if verb == "patch" && is_unnamed {
            patch::check_type(&call)?;
            return Err(unnamed());
        }
        call.query = route::options(verb, &call)?;
        // A stream is shown in fewer ways, which is found out when everything else is in order.
        if verb == "watch" {
            Selection::new(&call.resource, &call.query, "")?;
            choice = negotiation::choose(request.accept, Offer::Changes)?;
            call.representation = choice.representation;
        }
        // Those that read a body do so before.
        if !matches!(verb, "update" | "delete") {
            call.path.check()?;
        }
        let sent = sent::read(&call)?;
        let request = Request {
            body: &sent.body,
            content_type: sent.content_type,
            ..call.request
        };
        let call = Call { request, ..call };
        Ok(match self.dispatch(verb, &call, chance)? {
            Reply::Answer(mut answer) => {
                answer.warnings.splice(0..0, sent.warnings.iter().cloned());
                if let Some(version) = versions::of(&call.resource) {
                    version.tell_answer(&mut answer);
                }
                Reply::Answer(answer.shown(choice))
            }
            Reply::List(mut list) => {
                list.layout = choice.layout();
                Reply::List(list)
            }
            other => other,
        })
    }

    fn dispatch(
        &mut self,
        verb: &str,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Reply, Failure> {
        let answered = |answer: Answer| Ok(Reply::Answer(answer));
        if reviews::is_review(&call.resource) {
            return answered(shown::as_asked(call, self.review(verb, call)?));
        }
        if !call.path.subresource.is_empty() {
            let answer = self.part(verb, call, chance)?;
            return answered(shown::as_asked(call, answer));
        }
        if components::are(&call.resource) {
            return answered(shown::as_asked(call, components::answer(call)?));
        }
        if served::is_bindings(&call.resource) {
            return answered(self.bind_named(call)?);
        }
        let answer = match verb {
            "get" => return answered(self.get(call)?),
            "list" => return self.list(call).map(|list| Reply::List(Box::new(list))),
            "watch" => return self.watch(call).map(|watch| Reply::Watch(Box::new(watch))),
            "create" => self.create(call, chance)?,
            "update" => self.update(call, chance)?,
            "patch" => self.patch(call, chance)?,
            "delete" => self.delete(call)?,
            _ => self.delete_collection(call)?,
        };
        answered(shown::as_asked(call, answer))
    }

    fn authorize(
        &self,
        request: &Request<'_>,
        verb: &str,
        target: Target<'_>,
    ) -> Result<(), Failure> {
        self.allow(&Attributes {
            user: request.user,
            verb,
            target,
        })
    }

    /// Refuses what no role allows.
    pub(crate) fn allow(&self, attributes: &Attributes<'_>) -> Result<(), Failure> {
        let decision = flyball_rbac::authorize(attributes, &self.roles);
        if decision.allowed {
            return Ok(());
        }
        let refusal = flyball_rbac::forbidden(attributes, &decision.reason);
        Err(Failure(Box::new(refusal)))
    }

    /// The object at a path, if there is one.
    pub(crate) fn find(&self, call: &Call<'_>) -> Option<&Item<Arc<Stored>>> {
        let key = key(&call.resource, &call.path.namespace, &call.path.name);
        self.store.get(&key)
    }

    /// The object at a path.
    pub(crate) fn read(&self, call: &Call<'_>) -> Result<(Revision, Object), Failure> {
        let found = self.find(call);
        let found = found.ok_or_else(|| Failure::not_found(&call.resource, &call.path.name))?;
        Ok((found.modified, call.resource.object(&found.value)))
    }

    pub(crate) fn store(&self) -> &Store<Arc<Stored>> {
        &self.store
    }

    /// Commits a transaction that was made from what is stored now.
    pub(crate) fn commit(
        &mut self,
        transaction: Transaction<Arc<Stored>>,
    ) -> Result<(), CommitError<Arc<Stored>>> {
        let committed = self.store.commit(transaction)?;
        for event in &committed.events {
            self.note_role(event);
            self.note_service(event);
            self.note_definition(event);
        }
        if !committed.events.is_empty() {
            self.committed.push_back(committed);
        }
        Ok(())
    }

    /// Lets this registry issue tokens from now on.
    pub fn issue_with(&mut self, issuer: Issuer) {
        self.issuer = Some(issuer);
    }

    /// Refuses pods from now on whose service account does not exist: somebody gives every namespace
    /// its account.
    pub fn require_accounts(&mut self) {
        self.requires_accounts = true;
    }

    pub(crate) fn requires_accounts(&self) -> bool {
        self.requires_accounts
    }

    pub(crate) fn issuer(&self) -> Option<&Issuer> {
        self.issuer.as_ref()
    }

    /// What is served now.
    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    pub(crate) fn node_ports(&self) -> &NodePorts {
        &self.node_ports
    }

    pub(crate) fn node_ports_mut(&mut self) -> &mut NodePorts {
        &mut self.node_ports
    }

    pub(crate) fn served_mut(&mut self) -> &mut Served {
        &mut self.served
    }

    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    pub(crate) fn definitions_mut(&mut self) -> &mut Definitions {
        &mut self.definitions
    }

    pub(crate) fn roles(&self) -> &RoleIndex {
        &self.roles
    }

    pub(crate) fn roles_mut(&mut self) -> &mut RoleIndex {
        &mut self.roles
    }
}

/// Where the objects of a kind are kept; versions of one resource share the place.
pub(crate) fn prefix(resource: &Resource, namespace: &str) -> String {
    let kept = versions::kept(resource).unwrap_or(resource);
    let mut prefix = format!("/registry/{}/", crate::failure::qualified(kept));
    if !namespace.is_empty() && resource.namespaced {
        prefix.push_str(namespace);
        prefix.push('/');
    }
    prefix
}

/// Where an object is kept.
pub(crate) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut key = prefix(resource, namespace);
    key.push_str(name);
    key
}

pub(crate) fn path_verb(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Patch => "patch",
        Method::Delete => "delete",
        Method::Head => "head",
        Method::Options => "options",
        Method::Other => "",
    }
}

/// What a path can show, and whether it can do so in a table.
fn offer(path: &ResourcePath, resource: &Kind) -> Offer {
    let is_row = matches!(path.subresource.as_str(), "" | "scale" | "status");
    let is_kept = !reviews::is_review(resource) && !served::is_bindings(resource);
    match resource.of_definition().is_some() || (is_row && is_kept) {
        true => Offer::Objects,
        false => Offer::Parts,
    }
}

/// What upstream's router thinks of a request, before anything is told of the kind. Custom resources are no matter of
/// the router's.
fn check_routed(request: &Request<'_>, verb: &str, resource: &Kind) -> Result<(), Failure> {
    if resource.of_definition().is_some() {
        return Ok(());
    }
    if verb == "patch" {
        patch::check_route(request.content_type)?;
    }
    let produces = match verb {
        "list" | "watch" => negotiation::ROUTED_COLLECTION,
        _ => negotiation::ROUTED,
    };
    negotiation::check_route(request.accept, produces)
}
