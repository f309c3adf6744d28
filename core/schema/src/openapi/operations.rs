//! What can be asked of a resource, under which paths.

use super::parameters::{self, Parameter};
use super::{Offered, root, schemas};

/// A path and what can be asked there.
pub(super) struct Path {
    pub(super) path: String,
    /// The parts of the path that the client fills in, with what they are.
    pub(super) blanks: Vec<(&'static str, String)>,
    pub(super) operations: Vec<Operation>,
}

/// A request that a server answers.
pub(super) struct Operation {
    /// The HTTP method in small letters.
    pub(super) method: &'static str,
    /// What upstream calls it (`x-kubernetes-action`).
    pub(super) action: &'static str,
    pub(super) id: String,
    pub(super) description: String,
    pub(super) tag: String,
    /// The group, version and kind that it is about.
    pub(super) about: [String; 3],
    pub(super) query: &'static [Parameter],
    pub(super) body: Body,
    /// The name of the type that is answered.
    pub(super) answer: String,
    pub(super) codes: &'static [(&'static str, &'static str)],
}

/// What a request carries.
pub(super) enum Body {
    Nothing,
    /// An object of this type.
    Object(String),
    /// A patch; strategic ones only for built-in kinds.
    Patch {
        strategic: bool,
    },
    /// How to delete, if anything is to be said about it.
    DeleteOptions,
}

const OK: &[(&str, &str)] = &[("200", "OK")];
const UPDATED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created")];
const CREATED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created"), ("202", "Accepted")];
const DELETED: &[(&str, &str)] = &[("200", "OK"), ("202", "Accepted")];

/// The paths of a resource.
pub(super) fn paths(of: Offered<'_>) -> Vec<Path> {
    let resource = of.resource;
    let root = format!("/{}", root(&resource.group, &resource.version));
    let within = match resource.namespaced {
        true => "/namespaces/{namespace}",
        false => "",
    };
    let collection = format!("{root}{within}/{}", resource.plural);
    let item = format!("{collection}/{{name}}");
    let mut paths = vec![
        path(of, collection, false, collection_operations(of)),
        path(of, item.clone(), true, item_operations(of)),
    ];
    if resource.namespaced && has(&resource.verbs, "list") {
        let everywhere = format!("{root}/{}", resource.plural);
        let mut list = list(of);
        list.id = id(of, "list", "", &[], "ForAllNamespaces");
        paths.push(Path {
            path: everywhere,
            blanks: Vec::new(),
            operations: vec![list],
        });
    }
    for part in &resource.subresources {
        let operations = part_operations(of, part);
        paths.push(path(of, format!("{item}/{}", part.name), true, operations));
    }
    paths.retain(|path| !path.operations.is_empty());
    paths
}

fn path(of: Offered<'_>, path: String, of_one: bool, operations: Vec<Operation>) -> Path {
    let mut blanks = Vec::new();
    if of_one {
        blanks.push(("name", format!("name of the {}", of.resource.kind)));
    }
    if of.resource.namespaced {
        blanks.push(("namespace", "the namespace of the object".to_owned()));
    }
    Path {
        path,
        blanks,
        operations,
    }
}

fn collection_operations(of: Offered<'_>) -> Vec<Operation> {
    let kind = &of.resource.kind;
    let verbs = &of.resource.verbs;
    let mut operations = Vec::new();
    if has(verbs, "list") {
        operations.push(list(of));
    }
    if has(verbs, "create") {
        operations.push(Operation {
            description: format!("create {}", one(kind)),
            query: parameters::WRITE,
            body: Body::Object(schemas::name(of)),
            codes: CREATED,
            ..operation(of, "post", "post", "create")
        });
    }
    if has(verbs, "deletecollection") {
        operations.push(Operation {
            id: id(of, "delete", "Collection", &[], ""),
            description: format!("delete collection of {kind}"),
            query: parameters::DELETE_COLLECTION,
            body: Body::DeleteOptions,
            answer: schemas::STATUS.to_owned(),
            ..operation(of, "delete", "deletecollection", "delete")
        });
    }
    operations
}

fn list(of: Offered<'_>) -> Operation {
    let verbs = match has(&of.resource.verbs, "watch") {
        true => "list or watch",
        false => "list",
    };
    Operation {
        description: format!("{verbs} objects of kind {}", of.resource.kind),
        query: parameters::LIST,
        answer: schemas::list_name(of),
        ..operation(of, "get", "list", "list")
    }
}

fn item_operations(of: Offered<'_>) -> Vec<Operation> {
    let kind = &of.resource.kind;
    let verbs = &of.resource.verbs;
    let mut operations = Vec::new();
    if has(verbs, "get") {
        operations.push(Operation {
            description: format!("read the specified {kind}"),
            ..operation(of, "get", "get", "read")
        });
    }
    if has(verbs, "update") {
        operations.push(Operation {
            description: format!("replace the specified {kind}"),
            query: parameters::WRITE,
            body: Body::Object(schemas::name(of)),
            codes: UPDATED,
            ..operation(of, "put", "put", "replace")
        });
    }
    if has(verbs, "patch") {
        operations.push(Operation {
            description: format!("partially update the specified {kind}"),
            query: parameters::PATCH,
            body: patch(of),
            codes: UPDATED,
            ..operation(of, "patch", "patch", "patch")
        });
    }
    if has(verbs, "delete") {
        operations.push(Operation {
            description: format!("delete {}", one(kind)),
            query: parameters::DELETE,
            body: Body::DeleteOptions,
            answer: schemas::STATUS.to_owned(),
            codes: DELETED,
            ..operation(of, "delete", "delete", "delete")
        });
    }
    operations
}

fn part_operations(of: Offered<'_>, part: &crate::Subresource) -> Vec<Operation> {
    let kind = &of.resource.kind;
    let answer = schemas::part_name(of, part);
    let about = [&part.group, &part.version, &part.kind].map(ToString::to_string);
    let words = [part.name.as_str()];
    let base = |method, action, word| Operation {
        id: id(of, word, "", &words, ""),
        answer: answer.clone(),
        about: about.clone(),
        ..operation(of, method, action, word)
    };
    let mut operations = Vec::new();
    for verb in &part.verbs {
        operations.push(match verb.as_str() {
            "get" => Operation {
                description: format!("read {} of the specified {kind}", part.name),
                ..base("get", "get", "read")
            },
            "create" => Operation {
                description: format!("create {} of {}", part.name, one(kind)),
                query: parameters::WRITE,
                body: Body::Object(answer.clone()),
                codes: CREATED,
                ..base("post", "post", "create")
            },
            "update" => Operation {
                description: format!("replace {} of the specified {kind}", part.name),
                query: parameters::WRITE,
                body: Body::Object(answer.clone()),
                codes: UPDATED,
                ..base("put", "put", "replace")
            },
            "patch" => Operation {
                description: format!("partially update {} of the specified {kind}", part.name),
                query: parameters::PATCH,
                body: patch(of),
                codes: UPDATED,
                ..base("patch", "patch", "patch")
            },
            _ => continue,
        });
    }
    operations
}

/// A request without parameters or body that answers with an object.
fn operation(
    of: Offered<'_>,
    method: &'static str,
    action: &'static str,
    word: &'static str,
) -> Operation {
    let resource = of.resource;
    let about = [&resource.group, &resource.version, &resource.kind];
    Operation {
        method,
        action,
        id: id(of, word, "", &[], ""),
        description: String::new(),
        tag: format!("{}_{}", tag(&resource.group), resource.version),
        about: about.map(ToString::to_string),
        query: &[],
        body: Body::Nothing,
        answer: schemas::name(of),
        codes: OK,
    }
}

fn patch(of: Offered<'_>) -> Body {
    // Rules come with the schemas of custom resources only, and those have no strategic merge.
    Body::Patch {
        strategic: of.schema().rules().is_none(),
    }
}

fn has(verbs: &[flyball_api::Text], verb: &str) -> bool {
    verbs.iter().any(|one| one == verb)
}

/// A kind with its article; plural names have none.
fn one(kind: &str) -> String {
    if kind.ends_with('s') && !kind.ends_with("ss") {
        return kind.to_owned();
    }
    match kind.starts_with(['A', 'E', 'I', 'O', 'U']) {
        true => format!("an {kind}"),
        false => format!("a {kind}"),
    }
}

/// `createAppsV1NamespacedDeployment` and the like.
fn id(of: Offered<'_>, word: &str, collection: &str, parts: &[&str], end: &str) -> String {
    let resource = of.resource;
    let group = capital(&tag(&resource.group));
    let version = capital(&resource.version);
    let scope = match resource.namespaced && end.is_empty() {
        true => "Namespaced",
        false => "",
    };
    let parts: String = parts.iter().map(|part| capital(part)).collect();
    format!(
        "{word}{group}{version}{collection}{scope}{}{parts}{end}",
        resource.kind
    )
}

/// `rbacAuthorization` for `rbac.authorization.k8s.io`; `core` for the core group.
fn tag(group: &str) -> String {
    if group.is_empty() {
        return "core".to_owned();
    }
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    let mut words = group.split(['.', '-']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |tag, word| tag + &capital(word))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
