//! From a definition that was written to kinds that are served, step by step.
//!
//! Each step is a write of its own, as it is when upstream's controllers do it, so that whoever watches
//! definitions sees the same states. All steps happen before the next request is looked at.
//!
//! Upstream: `apiextensions-apiserver/pkg/controller/{status,establish,apiapproval,finalizer}`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_rbac::{MASTERS, User};
use flyball_schema::Resource;
use flyball_storage::{Event, Query as Range, Revision};
use serde_json::{Value, json};

use super::conditions::{self, Condition};
use super::kind::{self, Custom};
use super::{approval, naming};
use crate::managed::Note;
use crate::object::{Meta, Object, at};
use crate::query::Query;
use crate::registry::{Call, Registry, key, prefix};
use crate::request::{Chance, Method, Representation, Request};
use crate::served::Kind;
use crate::stored::Stored;
use crate::update::Part;

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";
/// Where definitions are kept.
const PLACE: &str = "/registry/customresourcedefinitions.apiextensions.k8s.io/";

/// The finalizer of a definition that holds it until its objects are gone.
pub(super) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is known of the definitions, beside what is stored.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    known: BTreeMap<String, Known>,
    /// Those that have to be looked at.
    pending: BTreeSet<String>,
    /// How many schemas there have been.
    schemas: u64,
}

#[derive(Debug, Default)]
struct Known {
    /// What is served follows from these two alone.
    spec: Value,
    names: Value,
    served: Vec<(Resource, Arc<Custom>)>,
    /// Whether it has all the names that it asks for.
    is_settled: bool,
    /// Whether it waits for its objects to go.
    is_going: bool,
}

impl Registry {
    /// Reads all definitions that are stored.
    pub(crate) fn read_definitions(&mut self) {
        let found = self.store().range(&Range::prefix(PLACE));
        let all = found.map(|page| {
            let items = page.items.iter();
            items
                .map(|item| (item.key.to_string(), item.value.clone()))
                .collect::<Vec<_>>()
        });
        for (place, stored) in all.unwrap_or_default() {
            if let Some(name) = place.strip_prefix(PLACE) {
                self.take_up(name, &stored);
            }
        }
    }

    /// Takes note of a change of a definition, or of an object that a definition waits for.
    pub(crate) fn note_definition(&mut self, event: &Event<Arc<Stored>>) {
        if let Some(name) = event.key().strip_prefix(PLACE) {
            return match &event.item {
                Some(item) => {
                    let stored = item.value.clone();
                    self.take_up(name, &stored);
                }
                None => self.forget(name),
            };
        }
        if event.item.is_some() {
            return;
        }
        let rest = event.key().strip_prefix("/registry/").unwrap_or_default();
        let name = rest.split('/').next().unwrap_or_default();
        let definitions = self.definitions_mut();
        if definitions
            .known
            .get(name)
            .is_some_and(|known| known.is_going)
        {
            definitions.pending.insert(name.to_owned());
        }
    }

    /// Serves what a definition says, as far as it says it now.
    fn take_up(&mut self, name: &str, stored: &Stored) {
        let definition = stored.bare_object();
        let is_served = conditions::is_true(&definition, "NamesAccepted")
            || conditions::is_true(&definition, "Established");
        let overlaps = self.is_built_in(&definition);
        let terminating = conditions::is_true(&definition, "Terminating");
        let (spec, names) = (
            at(&definition, "spec"),
            at(&definition, "status.acceptedNames"),
        );
        let definitions = self.definitions_mut();
        definitions.pending.insert(name.to_owned());
        let known = definitions.known.entry(name.to_owned()).or_default();
        if !is_served || overlaps {
            known.served.clear();
        } else if known.served.is_empty() || known.spec != *spec || known.names != *names {
            definitions.schemas += 1;
            known.served = kind::of_definition(&definition, definitions.schemas);
        }
        known.spec = spec.clone();
        known.names = names.clone();
        known.is_settled = naming::is_settled(&definition);
        known.is_going = definition.is_deleting();
        let kinds = known.served.iter().map(|(resource, custom)| {
            Arc::new(Kind::custom(resource.clone(), custom.clone(), terminating))
        });
        let kinds: Vec<Arc<Kind>> = kinds.collect();
        self.served_mut().set_custom(name, kinds);
    }

    fn forget(&mut self, name: &str) {
        self.served_mut().set_custom(name, Vec::new());
        let definitions = self.definitions_mut();
        let Some(gone) = definitions.known.remove(name) else {
            return;
        };
        // The names that it had are free now.
        let group = gone.spec["group"].clone();
        definitions.look_again(&group);
        definitions.pending.insert(name.to_owned());
    }

    pub(super) fn is_built_in(&self, definition: &Object) -> bool {
        let group = at(definition, "spec.group").as_str().unwrap_or_default();
        let plural = at(definition, "spec.names.plural")
            .as_str()
            .unwrap_or_default();
        let mut kinds = self.served().kinds().iter();
        kinds.any(|kind| {
            kind.of_definition().is_none() && kind.group == group && kind.plural == plural
        })
    }

    /// Does everything that is left to do about definitions.
    pub(crate) fn settle_definitions(&mut self, now: Timestamp, chance: &mut Chance<'_>) {
        if self.definitions().pending.is_empty() {
            return;
        }
        while let Some(name) = self.definitions_mut().pending.pop_first() {
            self.settle_definition(&name, now, chance);
        }
        self.settle_api_services(now, chance);
    }

    /// Takes the next step with a definition, if there is one. The write that it is makes the definition
    /// pending again.
    fn settle_definition(&mut self, name: &str, now: Timestamp, chance: &mut Chance<'_>) {
        let Some(call) = self.own_call(GROUP, "v1", PLURAL, now) else {
            return;
        };
        let Some(found) = self.store().get(&key(&call.resource, "", name)) else {
            return;
        };
        let (seen, old) = (found.modified, found.value.object(&call.resource));
        let mut new = old.clone();
        if self.step(&old, &mut new, now) {
            self.put_status(call, (seen, &old), new, chance);
            let group = at(&old, "spec.group").clone();
            self.definitions_mut().look_again(&group);
        } else if old.is_deleting() && old.finalizers().any(|one| one == CLEANUP) {
            self.finalize_definition(call, (seen, &old), now, chance);
        }
    }

    /// What the status of a definition is to say next; whether that differs from what it says.
    fn step(&self, old: &Object, new: &mut Object, now: Timestamp) -> bool {
        if !naming::is_settled(old) {
            let naming = naming::decide(old, &self.definitions().taken(old));
            if !naming::is_told(old, &naming) {
                let status = new.entry("status").or_insert_with(|| json!({}));
                status["acceptedNames"] = Value::Object(naming.accepted.clone());
                conditions::set(new, &naming.condition(), now);
                if !conditions::is_true(old, "Established") {
                    conditions::set(new, &not_established(naming.conflict.is_none()), now);
                }
                return true;
            }
        }
        if conditions::is_true(old, "NamesAccepted") && !conditions::is_true(old, "Established") {
            conditions::set(new, &established(), now);
            return true;
        }
        if approval::is_needed(old) {
            let (state, message) = approval::state(old);
            let (status, reason) = state.condition();
            let condition = Condition {
                kind: "KubernetesAPIApprovalPolicyConformant",
                status,
                reason,
                message: &message,
            };
            if !conditions::is(old, &condition) {
                conditions::set(new, &condition, now);
                return true;
            }
        }
        false
    }

    /// Writes the status of a definition, as the server itself.
    pub(super) fn put_status(
        &mut self,
        mut call: Call<'_>,
        (seen, old): (Revision, &Object),
        new: Object,
        chance: &mut Chance<'_>,
    ) {
        call.path.name = old.name().into();
        call.path.subresource = "status".into();
        // Nobody else writes meanwhile, and what is stored is valid.
        let _ = self.replace(&call, (Part::Status, Note::Update), seen, old, new, chance);
    }

    /// A request of the server's own about a kind.
    pub(super) fn own_call(
        &self,
        group: &str,
        version: &str,
        plural: &str,
        now: Timestamp,
    ) -> Option<Call<'static>> {
        static SERVER: std::sync::OnceLock<User> = std::sync::OnceLock::new();
        let user = SERVER.get_or_init(|| User::of_groups("system:apiserver", &[MASTERS]));
        let request = Request {
            method: Method::Put,
            path: "",
            query: &[],
            body: &[],
            content_type: "",
            accept: "",
            user,
            agent: "kube-apiserver",
            now,
        };
        Some(Call {
            request,
            path: crate::ResourcePath::default(),
            resource: self.served().find(group, version, plural)?.clone(),
            query: Query::default(),
            representation: Representation::Whole,
        })
    }

    /// Whether there are objects of a definition.
    pub(super) fn has_objects(&self, resource: &Resource) -> bool {
        let place = prefix(resource, "");
        let mut range = Range::prefix(&place);
        range.limit = Some(1);
        self.store()
            .range(&range)
            .is_ok_and(|page| !page.items.is_empty())
    }
}

impl Definitions {
    /// Has the definitions of a group that lack a name looked at again.
    fn look_again(&mut self, group: &Value) {
        let lacking = self.known.iter().filter(|(_, known)| !known.is_settled);
        let same = lacking.filter(|(_, known)| known.spec["group"] == *group);
        let names: Vec<String> = same.map(|(name, _)| name.clone()).collect();
        self.pending.extend(names);
    }

    /// The names that definitions of the same group were given, its own included.
    fn taken(&self, definition: &Object) -> naming::Taken {
        let group = at(definition, "spec.group");
        let mut taken = naming::Taken::default();
        for known in self
            .known
            .values()
            .filter(|known| known.spec["group"] == *group)
        {
            taken.add(&known.names);
        }
        taken
    }

    /// What is served for a definition.
    pub(super) fn served_for(&self, name: &str) -> Option<&Resource> {
        let known = self.known.get(name)?;
        known.served.first().map(|(resource, _)| resource)
    }
}

fn not_established(accepted: bool) -> Condition<'static> {
    let (reason, message) = match accepted {
        true => ("Installing", "the initial names have been accepted"),
        false => ("NotAccepted", "not all names are accepted"),
    };
    Condition {
        kind: "Established",
        status: "False",
        reason,
        message,
    }
}

fn established() -> Condition<'static> {
    Condition {
        kind: "Established",
        status: "True",
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted",
    }
}
