//! Deleting objects: at once, after a grace, or when their finalizers are done.
//!
//! Upstream: `apiserver/pkg/registry/rest/delete.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`, `pkg/registry/core/pod/strategy.go`.

mod grace;
mod interrupted;

use std::collections::BTreeSet;
use std::sync::Arc;

use flyball_storage::{Revision, Transaction};
use serde_json::{Value, json};

use self::grace::Grace;
use crate::admission::{self, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::list::unreadable;
use crate::listing::tell_no_more;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::query::{Deletion, Propagation};
use crate::registry::{Call, Registry, key, prefix};
use crate::request::Representation;
use crate::selection::Selection;
use crate::stored::{Stored, text};
use crate::{custom, decode};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What is told of a delete.
struct Deleted {
    answer: Answer,
    /// Whether nothing is left of the object.
    gone: bool,
}

impl Registry {
    pub(crate) fn delete(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let wish = wish(call)?;
        let found = call.path.check().and_then(|()| self.read(call));
        let deleted = found.and_then(|(seen, object)| self.delete_one(call, &wish, seen, object));
        let answer = deleted.map(|deleted| {
            let mut answer = deleted.answer;
            // Who asks in the old words is told that something is left.
            if !deleted.gone && wish.orphan == Some(false) {
                answer.code = 202;
            }
            answer
        });
        Ok(Answer::of(answer).warned(advice(call, &wish)))
    }

    /// Deletes the object of a path as these options ask for.
    pub(crate) fn delete_with(
        &mut self,
        call: &Call<'_>,
        options: &Value,
    ) -> Result<Answer, Failure> {
        let wish = Deletion::of_body(options)?;
        let (seen, object) = self.read(call)?;
        let deleted = self.delete_one(call, &wish, seen, object)?;
        Ok(deleted.answer)
    }

    pub(crate) fn delete_collection(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let selection = Selection::new(&call.resource, &call.query, "")?;
        let wish = wish(call)?;
        let answer = self.delete_selected(call, &selection, &wish);
        Ok(Answer::of(answer).warned(advice(call, &wish)))
    }

    fn delete_selected(
        &mut self,
        call: &Call<'_>,
        selection: &Selection,
        wish: &Deletion,
    ) -> Result<Answer, Failure> {
        let place = prefix(&call.resource, &call.path.namespace);
        // Upstream lists in pages, which makes any version exactly that one.
        let mut range = flyball_storage::Query::prefix(&place);
        range.at = self.read_at(call, true)?;
        let all = self.store().range(&range);
        let all = all.map_err(|error| unreadable(error, false))?;
        let revision = all.revision;
        let chosen = all.items.iter().filter(|item| selection.has(&item.value));
        let mut chosen: Vec<(Revision, Arc<Stored>)> = chosen
            .map(|item| (item.modified, item.value.clone()))
            .collect();
        if call.query.limit > 0 {
            chosen.truncate(call.query.limit);
        }
        let mut items = Vec::with_capacity(chosen.len());
        for (seen, stored) in chosen {
            let mut shown = call.resource.object(&stored);
            let object = call.kept_object(&stored);
            if call.resource.of_definition().is_none() {
                shown.remove("kind");
                shown.remove("apiVersion");
            }
            items.push(Value::Object(shown));
            if range.at.is_none() {
                self.delete_one(call, wish, seen, object)?;
                continue;
            }
            let place = key(&call.resource, object.namespace(), object.name());
            if let Some(now) = self.store().get(&place) {
                let (seen, object) = (now.modified, call.kept_object(&now.value));
                self.delete_one(call, wish, seen, object)?;
            }
        }
        let mut meta = json!({"resourceVersion": revision.0.to_string()});
        if call.resource.of_definition().is_some() && call.representation == Representation::Whole {
            tell_no_more(&mut meta);
        }
        Ok(Answer::document(&json!({
            "kind": call.resource.list_kind,
            "apiVersion": call.resource.api_version(),
            "metadata": meta,
            "items": items,
        })))
    }

    fn delete_one(
        &mut self,
        call: &Call<'_>,
        wish: &Deletion,
        seen: Revision,
        object: Object,
    ) -> Result<Deleted, Failure> {
        check(call, wish, &object)?;
        if is_of(call, "apiextensions.k8s.io", "customresourcedefinitions") && !object.is_deleting()
        {
            admission::delete(&Review::of_delete(self, call, &object))?;
            return self.end_definition(call, wish, seen, object);
        }
        if is_of(call, "", "namespaces") {
            if !object.is_deleting() {
                admission::delete(&Review::of_delete(self, call, &object))?;
                return self.end_namespace(call, wish, seen, object);
            }
            let spec = at(&object, "spec.finalizers").as_array();
            if spec.is_some_and(|all| !all.is_empty()) {
                let answer = Answer::new(200, text(&object));
                return Ok(Deleted {
                    answer,
                    gone: false,
                });
            }
        }
        let grace = grace::of(call, wish.grace_seconds, &object);
        if grace == Grace::Pending {
            return Ok(Deleted {
                answer: last_words(call, &object),
                gone: false,
            });
        }
        admission::delete(&Review::of_delete(self, call, &object))?;
        let finalizers = finalizers(call, wish, &object);
        let mut marked = object.clone();
        marked.set_finalizers(&finalizers);
        let held = !finalizers.is_empty();
        match grace {
            Grace::Seconds(seconds) => grace::mark(call.request.now, &mut marked, seconds),
            _ if held => grace::mark(call.request.now, &mut marked, 0),
            // Nothing holds it back, and nothing is told before it goes.
            _ => return self.remove(call, wish.dry_run, seen, &object),
        }
        let waits = held || matches!(grace, Grace::Seconds(1..));
        if wish.dry_run || marked == object {
            let answer = Answer::new(200, call.told(&marked));
            return Ok(Deleted {
                answer,
                gone: !waits,
            });
        }
        let place = key(&call.resource, object.namespace(), object.name());
        let update = |stored| Transaction::update(place, seen, stored);
        let moved = |_| Failure::modified(&call.resource, object.name());
        let body = self.write(call, &mut marked, update).map_err(moved)?;
        if waits {
            let answer = Answer::new(200, body);
            return Ok(Deleted {
                answer,
                gone: false,
            });
        }
        let seen = self.revision();
        self.remove(call, false, seen, &marked)
    }

    /// Takes the object out of the store.
    fn remove(
        &mut self,
        call: &Call<'_>,
        dry_run: bool,
        seen: Revision,
        object: &Object,
    ) -> Result<Deleted, Failure> {
        if !dry_run {
            let place = key(&call.resource, object.namespace(), object.name());
            let beside = self.beside(call, Some(object), None);
            let remove = Transaction::remove(place, seen);
            let moved = |_| Failure::modified(&call.resource, object.name());
            self.commit(beside.join(remove)).map_err(moved)?;
            // What is told of it is of the moment when it went.
            let version = self.revision().0.to_string();
            let mut last = object.clone();
            last.meta_mut()
                .insert("resourceVersion".to_owned(), version.into());
            return Ok(Deleted {
                answer: last_words(call, &last),
                gone: true,
            });
        }
        Ok(Deleted {
            answer: last_words(call, object),
            gone: true,
        })
    }

    /// A definition is told to end; its objects go first.
    fn end_definition(
        &mut self,
        call: &Call<'_>,
        wish: &Deletion,
        seen: Revision,
        mut object: Object,
    ) -> Result<Deleted, Failure> {
        let name = object.name().to_owned();
        custom::mark(&mut object, call.request.now);
        let body = if wish.dry_run {
            text(&object)
        } else {
            let place = key(&call.resource, "", &name);
            let update = |stored| Transaction::update(place, seen, stored);
            let moved = |_| Failure::modified(&call.resource, &name);
            self.write(call, &mut object, update).map_err(moved)?
        };
        Ok(Deleted {
            answer: Answer::new(200, body),
            gone: false,
        })
    }

    /// A namespace is told to end; what is in it goes first.
    fn end_namespace(
        &mut self,
        call: &Call<'_>,
        wish: &Deletion,
        seen: Revision,
        mut object: Object,
    ) -> Result<Deleted, Failure> {
        let (name, finalizers) = (object.name().to_owned(), finalizers(call, wish, &object));
        object.set_finalizers(&finalizers);
        let now = stamp(call.request.now);
        object
            .meta_mut()
            .insert("deletionTimestamp".to_owned(), now);
        let status = object.entry("status").or_insert_with(|| json!({}));
        status["phase"] = "Terminating".into();
        let body = if wish.dry_run {
            text(&object)
        } else {
            let place = key(&call.resource, "", &name);
            let update = |stored| Transaction::update(place, seen, stored);
            let moved = |_| Failure::modified(&call.resource, &name);
            self.write(call, &mut object, update).map_err(moved)?
        };
        Ok(Deleted {
            answer: Answer::new(200, body),
            gone: false,
        })
    }
}

/// What is told whoever deletes Jobs without saying what becomes of their pods, whether they can be deleted or not.
fn advice(call: &Call<'_>, wish: &Deletion) -> Vec<String> {
    let is_silent = wish.orphan.is_none() && wish.propagation.is_none();
    match is_of(call, "batch", "jobs") && is_silent {
        true => vec![JOBS_ORPHAN.to_owned()],
        false => Vec::new(),
    }
}

/// What a delete asks for: the body says it or, if there is none, the query.
fn wish(call: &Call<'_>) -> Result<Deletion, Failure> {
    if call.request.body.is_empty() {
        return Deletion::of_query(call.request.query);
    }
    decode::check_language(call)?;
    Deletion::of_body(&decode::delete_options(call)?)
}

fn check(call: &Call<'_>, wish: &Deletion, object: &Object) -> Result<(), Failure> {
    let (group, kind) = (call.kept().group.as_str(), call.kept().kind.as_str());
    let pairs = [
        ("UID", &wish.uid, object.uid(), "deleted and then recreated"),
        (
            "ResourceVersion",
            &wish.version,
            object.resource_version(),
            "modified",
        ),
    ];
    for (name, wanted, is, happened) in pairs {
        let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != is) else {
            continue;
        };
        let is_definition = is_of(call, "apiextensions.k8s.io", "customresourcedefinitions");
        if is_definition || is_of(call, "", "namespaces") {
            let why = format!(
                "Precondition failed: {name} in precondition: {wanted}, {name} in object meta: {is}"
            );
            return Err(Failure::conflict(&call.resource, object.name(), &why));
        }
        let why = format!(
            "the {name} in the precondition ({wanted}) does not match the {name} in record ({is}). The object might \
             have been {happened}"
        );
        return Err(Failure::conflict_on(group, kind, object.name(), &why));
    }
    Ok(())
}

/// What the garbage collector does for a kind if nobody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Delete,
    Orphan,
    Unsupported,
}

fn policy(call: &Call<'_>) -> Policy {
    if is_of(call, "", "replicationcontrollers") || is_of(call, "batch", "jobs") {
        Policy::Orphan
    } else if call.resource.plural == "events" {
        Policy::Unsupported
    } else {
        Policy::Delete
    }
}

fn is_of(call: &Call<'_>, group: &str, plural: &str) -> bool {
    call.resource.group == group && call.resource.plural == plural
}

/// The finalizers that an object has once it is told to go: by two of them the garbage collector is asked for its part.
fn finalizers(call: &Call<'_>, wish: &Deletion, object: &Object) -> Vec<String> {
    let before: BTreeSet<&str> = object.finalizers().collect();
    let has = |name: &str| before.contains(name);
    let asked = match wish.orphan {
        Some(true) => Some(Propagation::Orphan),
        Some(false) => Some(Propagation::Background),
        None => wish.propagation,
    };
    let asked = match (policy(call), asked) {
        (Policy::Unsupported, _) => Propagation::Background,
        (_, Some(asked)) => asked,
        (_, None) if has(ORPHAN) => Propagation::Orphan,
        (_, None) if has(FOREGROUND) => Propagation::Foreground,
        (Policy::Orphan, None) => Propagation::Orphan,
        (Policy::Delete, None) => Propagation::Background,
    };
    let kept = object
        .finalizers()
        .filter(|one| !matches!(*one, ORPHAN | FOREGROUND));
    let mut finalizers: Vec<String> = kept.map(str::to_owned).collect();
    match asked {
        Propagation::Background => {}
        Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
        Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
    }
    // One that stands there twice is no other set of them.
    let after: BTreeSet<&str> = finalizers.iter().map(String::as_str).collect();
    let same = before == after;
    if is_of(call, "", "namespaces") {
        // Those of a namespace are a set.
        let mut seen = BTreeSet::new();
        finalizers.retain(|one| seen.insert(one.clone()));
    }
    match same {
        true => object.finalizers().map(str::to_owned).collect(),
        false => finalizers,
    }
}

/// What is told of an object that is gone.
fn last_words(call: &Call<'_>, object: &Object) -> Answer {
    match tells_object(call) {
        true => match call.rules().hide(object) {
            Some((told, _)) => Answer::new(200, text(&told)),
            None => Answer::new(200, text(object)),
        },
        false => Answer::document(&gone(call, object)),
    }
}

const JOBS_ORPHAN: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
                           remove them or set propagationPolicy=Orphan to suppress this warning";

/// Kinds whose deletion is answered with their last state.
const TELL_OBJECT: &[&str] = &[
    "csidrivers",
    "csinodes",
    "namespaces",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "resourcequotas",
    "serviceaccounts",
    "services",
    "storageclasses",
    "volumeattachments",
    "volumeattributesclasses",
];

fn tells_object(call: &Call<'_>) -> bool {
    TELL_OBJECT.contains(&call.resource.plural.as_str())
}

/// The answer to a delete that left nothing behind.
fn gone(call: &Call<'_>, object: &Object) -> Value {
    let mut status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": object.name(),
            "kind": call.resource.plural,
            "uid": object.uid(),
        },
    });
    if !call.resource.group.is_empty() {
        status["details"]["group"] = call.resource.group.as_str().into();
    }
    status
}
