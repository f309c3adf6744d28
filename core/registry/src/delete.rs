//! Deleting objects: at once, after a grace, or when their finalizers are done.
//!
//! Upstream: `apiserver/pkg/registry/rest/delete.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`, `pkg/registry/core/pod/strategy.go`.

use std::time::Duration;

use flyball_storage::{Revision, Transaction};
use serde_json::{Value, json};

use crate::admission::{self, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::query::{Propagation, Query};
use crate::registry::{Call, Registry, key, prefix};
use crate::selection::Selection;
use crate::stored::text;
use crate::{custom, decode};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What a delete asks for beside the object.
struct Wish {
    query: Query,
    uid: Option<String>,
    version: Option<String>,
}

impl Wish {
    fn read(call: &Call<'_>) -> Result<Self, Failure> {
        let mut query = call.query.clone();
        let options = match call.request.body {
            [] => Value::Null,
            _ => decode::any(call)?,
        };
        query.merge_delete_options(&options)?;
        let wanted = |field: &str| {
            let wanted = options["preconditions"][field].as_str();
            wanted
                .filter(|wanted| !wanted.is_empty())
                .map(str::to_owned)
        };
        Ok(Self {
            query,
            uid: wanted("uid"),
            version: wanted("resourceVersion"),
        })
    }

    fn check(&self, call: &Call<'_>, object: &Object) -> Result<(), Failure> {
        let pairs = [
            ("UID", &self.uid, object.uid()),
            ("ResourceVersion", &self.version, object.resource_version()),
        ];
        for (name, wanted, is) in pairs {
            if let Some(wanted) = wanted
                && wanted != is
            {
                let why = format!(
                    "Precondition failed: {name} in precondition: {wanted}, {name} in object meta: {is}"
                );
                return Err(Failure::conflict(&call.resource, object.name(), &why));
            }
        }
        Ok(())
    }
}

impl Registry {
    pub(crate) fn delete(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let wish = Wish::read(call)?;
        let (seen, object) = self.read(call)?;
        wish.check(call, &object)?;
        self.delete_one(call, &wish, seen, object)
    }

    pub(crate) fn delete_collection(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let wish = Wish::read(call)?;
        let selection = Selection::new(&call.resource, &call.query, "")?;
        let place = prefix(&call.resource, &call.path.namespace);
        let all = self.store().range(&flyball_storage::Query::prefix(&place));
        let all = all.map_err(|error| Failure::new(500, "InternalError", error.to_string()))?;
        let chosen = all.items.iter().filter(|item| selection.has(&item.value));
        let chosen: Vec<(Revision, Object)> = chosen
            .map(|item| (item.modified, call.resource.object(&item.value)))
            .collect();
        let mut items = Vec::with_capacity(chosen.len());
        for (seen, object) in chosen {
            items.push(Value::Object(object.clone()));
            self.delete_one(call, &wish, seen, object)?;
        }
        Ok(Answer::document(&json!({
            "kind": call.resource.list_kind,
            "apiVersion": call.resource.api_version(),
            "metadata": {"resourceVersion": self.revision().0.to_string()},
            "items": items,
        })))
    }

    fn delete_one(
        &mut self,
        call: &Call<'_>,
        wish: &Wish,
        seen: Revision,
        mut object: Object,
    ) -> Result<Answer, Failure> {
        admission::delete(&Review::of_delete(self, call, &object))?;
        let place = key(&call.resource, object.namespace(), object.name());
        let before = object.clone();
        let is_definition = call.resource.plural == "customresourcedefinitions"
            && call.resource.group == "apiextensions.k8s.io";
        if is_definition && !object.is_deleting() {
            custom::mark(&mut object, call.request.now);
            if wish.query.dry_run {
                return Ok(Answer::new(200, text(&object)));
            }
            let update = |stored| Transaction::update(place, seen, stored);
            let body = self.write(call, &mut object, update);
            let body = body.map_err(|_| Failure::modified(&call.resource, before.name()))?;
            return Ok(Answer::new(200, body));
        }
        hold_back(call, wish.query.propagation, &mut object);
        let grace = grace(call, wish.query.grace_seconds, &object);
        let held = object.has_finalizers() || holds_itself(call, &object);
        let moved = |_| Failure::modified(&call.resource, before.name());
        if grace == 0 && !held {
            if !wish.query.dry_run {
                let beside = self.beside(call, Some(&before), None);
                let remove = Transaction::remove(place, seen);
                self.commit(beside.join(remove)).map_err(moved)?;
            }
            return Ok(match tells_object(call) {
                true => Answer::new(200, text(&before)),
                false => Answer::document(&gone(call, &before)),
            });
        }
        mark(call, &mut object, grace);
        if object == before || wish.query.dry_run {
            return Ok(Answer::new(200, text(&object)));
        }
        let update = |stored| Transaction::update(place, seen, stored);
        let body = self.write(call, &mut object, update).map_err(moved)?;
        Ok(Answer::new(200, body))
    }
}

/// Adds or removes the finalizers by which the garbage collector is asked for its part.
fn hold_back(call: &Call<'_>, asked: Option<Propagation>, object: &mut Object) {
    let by_default = match call.resource.plural.as_str() {
        "replicationcontrollers" => Propagation::Orphan,
        _ => Propagation::Background,
    };
    // Without a wish, finalizers that are there already are left alone.
    let wish = match asked {
        Some(wish) => wish,
        None if object
            .finalizers()
            .any(|one| one == ORPHAN || one == FOREGROUND) =>
        {
            return;
        }
        None => by_default,
    };
    object.remove_finalizer(ORPHAN);
    object.remove_finalizer(FOREGROUND);
    match wish {
        Propagation::Background => {}
        Propagation::Orphan => object.add_finalizer(ORPHAN),
        Propagation::Foreground => object.add_finalizer(FOREGROUND),
    }
}

/// How many seconds the object has to go. Only pods that run somewhere take their time.
fn grace(call: &Call<'_>, asked: Option<i64>, object: &Object) -> i64 {
    let is_pod = call.resource.plural == "pods" && call.resource.group.is_empty();
    let runs = !at(object, "spec.nodeName")
        .as_str()
        .unwrap_or_default()
        .is_empty();
    let ended = matches!(
        at(object, "status.phase").as_str(),
        Some("Succeeded" | "Failed")
    );
    if !is_pod || !runs || ended {
        return 0;
    }
    let own = at(object, "spec.terminationGracePeriodSeconds").as_i64();
    let asked = asked.unwrap_or_else(|| own.unwrap_or(30)).max(0);
    match object.meta()["deletionGracePeriodSeconds"].as_i64() {
        // Whoever asks again can only shorten it.
        Some(left) if object.is_deleting() => asked.min(left),
        _ => asked,
    }
}

/// Whether the object is held back by something of its own beside finalizers.
fn holds_itself(call: &Call<'_>, object: &Object) -> bool {
    let is_namespace = call.resource.plural == "namespaces" && call.resource.group.is_empty();
    is_namespace
        && at(object, "spec.finalizers")
            .as_array()
            .is_some_and(|all| !all.is_empty())
}

/// Marks the object as on its way out.
fn mark(call: &Call<'_>, object: &mut Object, grace: i64) {
    let already = object.is_deleting();
    let shorter = object.meta()["deletionGracePeriodSeconds"]
        .as_i64()
        .is_none_or(|left| grace < left);
    if call.resource.plural == "namespaces" && call.resource.group.is_empty() {
        let status = object.entry("status").or_insert_with(|| json!({}));
        status["phase"] = "Terminating".into();
    }
    if already && !shorter {
        return;
    }
    let counts = call.rules().has_generation() && !already;
    let generation = object.generation() + 1;
    let wait = Duration::from_secs(grace.unsigned_abs());
    let at = stamp(call.request.now.saturating_add(wait));
    let meta = object.meta_mut();
    meta.insert("deletionTimestamp".to_owned(), at);
    meta.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    if counts {
        meta.insert("generation".to_owned(), generation.into());
    }
}

/// Kinds whose deletion is answered with their last state.
const TELL_OBJECT: &[&str] = &[
    "csidrivers",
    "csinodes",
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
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": object.name(),
            "group": (!call.resource.group.is_empty()).then(|| call.resource.group.as_str()),
            "kind": call.resource.plural,
            "uid": object.uid(),
        },
    })
}
