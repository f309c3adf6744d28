//! Cost in proportion to size: a request with twice as many entries in a list costs at most 2.5 times as much.
//!
//! Work is counted in bytes allocated, never timed. Every list field of ten kinds, generated from their schemas, is
//! filled with many entries: in a new object, and in a PUT, a merge patch and a server-side apply of an object that exists.
//! By default there are 200 and 400 entries, each field is in one kind of update with entries that differ, and the pods of
//! a Deployment count as covered by those of Pod. `FLYBALL_SCALING_MAX=8000` leaves nothing out, begins at 1,000 and goes on doubling to 8,000;
//! `FLYBALL_SCALING_KIND=Pod` looks at one kind. What scans without allocating is not seen here.
//!
//! Known beyond these kinds, and left: a RuntimeClass compares its `scheduling.tolerations` with each other.

mod fields;
mod subjects;

use fields::{Flavour, ListField, Step, lists};
use flyball_api::Timestamp;
use flyball_rbac::{MASTERS, User};
use flyball_registry::{Answer, Chance, Method, Registry, Reply, Request};
use flyball_schema::builtin;
use serde_json::{Value, json};
use subjects::{Subject, subjects};

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// The entries that the smallest request has, and the largest, unless the environment asks for more.
const ENTRIES: (usize, usize) = (200, 400);
/// The entries that the smallest request has if the environment asks for more.
const SMALLEST: usize = 1_000;
/// The growth that a doubling may lead to.
const GROWTH_MAX: f64 = 2.5;

/// How the entries are sent.
#[derive(Clone, Copy, Debug)]
enum Write {
    Post,
    Put,
    MergePatch,
    Apply,
}

impl Write {
    const ALL: [Self; 4] = [Self::Post, Self::Put, Self::MergePatch, Self::Apply];

    fn method(self) -> Method {
        match self {
            Self::Post => Method::Post,
            Self::Put => Method::Put,
            Self::MergePatch | Self::Apply => Method::Patch,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Post | Self::Put => "application/json",
            Self::MergePatch => "application/merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

/// A server whose user is an administrator without being a master, so that all checks are made.
struct Server {
    registry: Registry,
    user: User,
    random: u64,
}

impl Server {
    fn new() -> Self {
        let mut server = Self {
            registry: Registry::empty(),
            user: User::of_groups("admin", &[MASTERS]),
            random: 7,
        };
        let mut random = server.random;
        let mut draw = || next(&mut random);
        server
            .registry
            .bootstrap(Timestamp::UNIX_EPOCH, &mut Chance(&mut draw));
        let binding = json!({"metadata": {"name": "jane"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]});
        let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        assert_eq!(
            server.send(Write::Post, bindings, &[], &binding).0.code,
            201
        );
        server.user = User::of_groups("jane", &["system:authenticated"]);
        server
    }

    /// The answer, and the bytes that were allocated on the way to it.
    fn send(
        &mut self,
        write: Write,
        path: &str,
        query: &[(&str, &str)],
        body: &Value,
    ) -> (Answer, usize) {
        let body = body.to_string();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let query: Vec<(String, String)> = query.iter().map(owned).collect();
        let request = Request {
            method: write.method(),
            path,
            query: &query,
            body: body.as_bytes(),
            content_type: write.content_type(),
            accept: "",
            user: &self.user,
            agent: "tests/1",
            now: Timestamp::UNIX_EPOCH,
        };
        let random = &mut self.random;
        let mut draw = || next(random);
        let before = ALLOCATOR.total_allocated();
        let reply = self.registry.handle(request, &mut Chance(&mut draw));
        let bytes = ALLOCATOR.total_allocated() - before;
        match reply {
            Reply::Answer(answer) => (answer, bytes),
            other => panic!("{path}: {other:?}"),
        }
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// A list whose cost grows faster than its size, if it does.
fn fault(
    server: &mut Server,
    subject: &Subject,
    field: &ListField<'_>,
    (write, flavour): (Write, Flavour),
    (smallest, largest): (usize, usize),
) -> Option<String> {
    let name = subject.base["metadata"]["name"]
        .as_str()
        .unwrap_or_default();
    let one = format!("{}/{name}", subject.target);
    let (target, query) = match write {
        Write::Post => (subject.target, &[("dryRun", "All")][..]),
        Write::Apply => (&*one, &[("dryRun", "All"), ("fieldManager", "m")][..]),
        Write::Put | Write::MergePatch => (&*one, &[("dryRun", "All")][..]),
    };
    let mut before: Option<usize> = None;
    let mut count = smallest;
    while count <= largest {
        let body = field.filled(&subject.base, count, flavour);
        let (answer, bytes) = server.send(write, target, query, &body);
        if let Some(before) = before {
            let growth = bytes as f64 / before as f64;
            if growth > GROWTH_MAX {
                return Some(format!(
                    "{write:?} {}.{} {flavour:?}: {growth:.2} times the bytes for {count} entries ({}): {before} then {bytes}",
                    subject.kind,
                    field.path(),
                    answer.code,
                ));
            }
        }
        before = Some(bytes);
        count *= 2;
    }
    None
}

// One test, because everything that runs at the same time would be counted.
#[test]
fn every_list_field_costs_in_proportion_to_its_size() {
    let largest = std::env::var("FLYBALL_SCALING_MAX").ok();
    let largest: Option<usize> = largest.and_then(|text| text.parse().ok());
    let sizes = largest.map_or(ENTRIES, |largest| (SMALLEST, largest));
    let only = std::env::var("FLYBALL_SCALING_KIND").unwrap_or_default();
    let mut server = Server::new();
    let (mut covered, mut faults) = (0, Vec::new());
    for mut subject in subjects() {
        if !only.is_empty() && subject.kind != only {
            continue;
        }
        let schema = builtin().kind(subject.group, "v1", subject.kind).unwrap();
        let mut found = Vec::new();
        lists(schema, &mut Vec::new(), &mut Vec::new(), &mut found);
        println!("{}: {} list fields", subject.kind, found.len());
        assert!(found.iter().any(|field| matches!(&field.way[..], [Step::Field(_), Step::Field(name)] if name == "ownerReferences")));
        let is_thorough = largest.is_some();
        found.retain(|field| is_thorough || !field.path().starts_with("spec.template.spec"));
        covered += found.len();
        for (turn, write) in Write::ALL.into_iter().enumerate() {
            let is_whole = is_thorough || matches!(write, Write::Post);
            let flavours = match is_whole {
                true => &[Flavour::Equal, Flavour::Different, Flavour::Plausible][..],
                false => &[Flavour::Different],
            };
            let is_due = |at: usize| is_whole || at % (Write::ALL.len() - 1) == turn - 1;
            let due = found.iter().enumerate().filter(|(at, _)| is_due(*at));
            let due: Vec<&ListField<'_>> = due.map(|(_, field)| field).collect();
            let entries = flavours.iter();
            let pairs = entries.flat_map(|one| due.iter().map(move |field| (field, *one)));
            for (field, flavour) in pairs {
                let how = (write, flavour);
                if let Some(fault) = self::fault(&mut server, &subject, field, how, sizes) {
                    println!("  {fault}");
                    faults.push(fault);
                }
            }
            // What is updated must exist.
            if let Write::Post = write {
                let (made, _) = server.send(write, subject.target, &[], &subject.base);
                assert_eq!(made.code, 201, "{}", subject.kind);
                let made: Value = serde_json::from_slice(&made.body).unwrap();
                let version = made["metadata"]["resourceVersion"].clone();
                subject.base["metadata"]["resourceVersion"] = version;
            }
        }
    }
    println!(
        "{covered} list fields covered, up to {} entries each",
        sizes.1
    );
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
