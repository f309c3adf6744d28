//! The way of a request: told apart, authorized, dispatched to what is asked of its kind.

use std::sync::Arc;

use flyball_rbac::{Attributes, Target};

use super::{Call, Registry};
use crate::answer::{Answer, Reply};
use crate::failure::Failure;
use crate::negotiation::{self, Offer};
use crate::path::{Path, ResourcePath};
use crate::query::Query;
use crate::request::{Chance, Method, Representation, Request};
use crate::selection::Selection;
use crate::served::Kind;
use crate::{
    components, documents, patch, reviews, route, scale, sent, served, shown, versions, warnings,
};

impl Registry {
    /// Whether whoever asks may do so at all, whatever the body of the request is.
    pub fn check_access(&self, request: &Request<'_>) -> Result<(), Failure> {
        match Path::parse(request.path) {
            Path::Resource(path) => {
                self.authorize_resource(request, route::verb(request, &path), &path)
            }
            Path::Other => {
                let target = Target::Path(request.path);
                self.authorize(request, path_verb(request.method), target)
            }
        }
    }

    /// Does what a request asks for, or says why not.
    pub fn handle(&mut self, request: Request<'_>, chance: &mut Chance<'_>) -> Reply {
        let mut reply = match self.try_handle(request, chance) {
            Ok(reply) => reply,
            Err(failure) => Reply::Answer(Answer::refusal(failure, request.accept)),
        };
        match &mut reply {
            Reply::Answer(answer) => warnings::cut(&mut answer.warnings),
            Reply::List(list) => warnings::cut(&mut list.warnings),
            Reply::Watch(watch) => warnings::cut(&mut watch.warnings),
            Reply::Page => {}
        }
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
        self.authorize_resource(&request, verb, &path)?;
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
        let mut call = Call {
            request,
            path,
            resource,
            query: Query::default(),
            representation: Representation::default(),
        };
        if verb == "patch" {
            patch::check_type(&call)?;
            if is_unnamed {
                return Err(unnamed());
            }
        }
        let choice = negotiation::choose(request.accept, offer)?;
        call.representation = choice.representation;
        call.query = route::options(verb, &call)?;
        // A stream is shown in fewer ways, which is found out when everything else is in order.
        if verb == "watch" {
            Selection::new(&call.resource, &call.query, "")?;
            negotiation::check_stream(choice)?;
        }
        // Those that read a body do so before, and of a custom object that has no such part nothing is read.
        let part = call.path.subresource.as_str();
        let has_part = part.is_empty() || call.resource.subresource(part).is_some();
        let is_custom = call.resource.of_definition().is_some();
        // Nor does anybody look at the name under which a custom object is to be made.
        let is_made = verb == "create" && part.is_empty();
        let is_looked_for = !is_custom || (has_part && !is_made);
        if !matches!(verb, "update" | "delete") && is_looked_for {
            call.path.check()?;
        }
        let sent = sent::read(&call).map_err(|refusal| match (verb, part) {
            ("update", "scale") => scale::unread(&call, refusal),
            _ => refusal,
        })?;
        let request = Request {
            body: &sent.body,
            content_type: sent.content_type,
            ..call.request
        };
        let mut call = Call { request, ..call };
        call.query.doubles.clone_from(&sent.doubles);
        Ok(match self.dispatch(verb, &call, chance)? {
            Reply::Answer(mut answer) => {
                answer.warnings.splice(0..0, sent.warnings.iter().cloned());
                if let Some(version) = versions::of(&call.resource) {
                    version.tell_answer(&mut answer);
                }
                Reply::Answer(match answer.code {
                    ..400 => answer.shown(choice),
                    _ => answer.refused(call.request.accept),
                })
            }
            Reply::List(mut list) => {
                list.layout = choice.layout();
                Reply::List(list)
            }
            Reply::Watch(mut watch) => {
                watch.media = choice.media;
                Reply::Watch(watch)
            }
            Reply::Page => Reply::Page,
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

    fn authorize_resource(
        &self,
        request: &Request<'_>,
        verb: &str,
        path: &ResourcePath,
    ) -> Result<(), Failure> {
        let target = flyball_rbac::Resource {
            name: &route::authorized_name(request, verb, path),
            ..path.target()
        };
        self.authorize(request, verb, Target::Resource(target))
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
        Err(Failure::of(refusal))
    }
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
    if resource.of_definition().is_some() {
        Offer::Customs
    } else if is_row && is_kept {
        Offer::Objects
    } else {
        Offer::Parts
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
