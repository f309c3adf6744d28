//! Files of one volume that are in each other's way.
//!
//! Upstream: `warningsForOverlappingVirtualPaths` in `pkg/api/pod/warnings.go`.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use crate::warnings::Room;

/// A path, and where it comes from if there are several sources.
struct Place<'v> {
    path: &'v str,
    source: Source<'v>,
}

/// A source of a projected volume. It is borrowed: each of its files has it.
#[derive(Clone, Copy)]
enum Source<'v> {
    Only,
    Kind(&'static str),
    Named(&'static str, &'v str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Source::Only => write!(f, "{:?}", self.path),
            Source::Kind(kind) => write!(f, "{:?} ({kind})", self.path),
            Source::Named(kind, name) => write!(f, "{:?} ({kind} {name:?})", self.path),
        }
    }
}

/// Compares paths by their folders: what is below a path follows it at once.
fn by_folder(one: &str, other: &str) -> Ordering {
    let lowest = |byte: u8| (byte != b'/', byte);
    one.bytes().map(lowest).cmp(other.bytes().map(lowest))
}

/// Whether `path` is `folder`, or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let below = path.strip_prefix(folder);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Paths in the order of their folders.
struct Tree {
    nodes: Vec<Node>,
    /// The node of each path.
    ranks: Vec<usize>,
}

/// A path among the others. It has the size of a few numbers, however deep it is.
struct Node {
    place: usize,
    /// The nearest node that is the same path or above it.
    above: Option<usize>,
    /// The first node that is not below it.
    end: usize,
}

impl Tree {
    fn of(places: &[Place<'_>]) -> Self {
        let mut order: Vec<usize> = (0..places.len()).collect();
        // Of equal paths the earlier one is the upper one.
        order.sort_by(|&one, &other| by_folder(places[one].path, places[other].path));
        let mut ranks = vec![0; places.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(places.len());
        let mut above: Vec<usize> = Vec::new();
        for (rank, place) in order.into_iter().enumerate() {
            let path = places[place].path;
            while let Some(last) =
                above.pop_if(|last| !is_within(path, places[nodes[*last].place].path))
            {
                nodes[last].end = rank;
            }
            nodes.push(Node {
                place,
                above: above.last().copied(),
                end: places.len(),
            });
            above.push(rank);
            ranks[place] = rank;
        }
        Self { nodes, ranks }
    }

    /// The earlier paths that are the same as one, above or below it, in order.
    fn before(&self, place: usize) -> Vec<usize> {
        let node = &self.nodes[self.ranks[place]];
        let above = std::iter::successors(node.above, |at| self.nodes[*at].above);
        let all = above.chain(self.ranks[place] + 1..node.end);
        let all = all.map(|at| self.nodes[at].place);
        let mut before: Vec<usize> = all.filter(|other| *other < place).collect();
        before.sort_unstable();
        before
    }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn items<'v>(list: &'v Value, source: Source<'v>) -> Vec<Place<'v>> {
    let all = list["items"].as_array().into_iter().flatten();
    all.map(|item| place(text(item, "path"), source)).collect()
}

fn place<'v>(path: &'v str, source: Source<'v>) -> Place<'v> {
    Place {
        path: path.trim_end_matches('/'),
        source,
    }
}

/// What is told of volumes with files at the same place, or below each other.
pub(super) fn overlaps(volumes: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let mut room = Room::default();
    for volume in volumes.as_array().into_iter().flatten() {
        let name = text(volume, "name");
        let mut tell = |what: &str, mut places: Vec<Place<'_>>| {
            places.retain(|place| !place.path.is_empty());
            let tree = Tree::of(&places);
            for (at, one) in places.iter().enumerate() {
                // Most paths have no other in their way, so that this is soon at its end or full.
                if room.is_full() {
                    return;
                }
                for other in tree.before(at) {
                    let other = &places[other];
                    let warning =
                        format!("volume {name:?} ({what}): overlapping paths: {one} with {other}");
                    room.take(&warning);
                    told.push(warning);
                    if room.is_full() {
                        break;
                    }
                }
            }
        };
        let map = &volume["configMap"];
        let is_map = format!("ConfigMap {:?}", text(map, "name"));
        tell(&is_map, items(map, Source::Only));
        let secret = &volume["secret"];
        let is_secret = format!("Secret {:?}", text(secret, "secretName"));
        tell(&is_secret, items(secret, Source::Only));
        tell("DownwardAPI", items(&volume["downwardAPI"], Source::Only));
        let sources = volume["projected"]["sources"].as_array();
        let sources = sources.into_iter().flatten();
        tell("Projected", sources.clone().flat_map(projected).collect());
        for source in sources {
            if source.as_object().is_none_or(serde_json::Map::is_empty) {
                told.push(format!(
                    "volume {name:?} (Projected) has no sources provided"
                ));
            }
        }
    }
    told
}

fn projected(source: &Value) -> Vec<Place<'_>> {
    let (map, secret) = (&source["configMap"], &source["secret"]);
    let token = &source["serviceAccountToken"];
    if map["items"].is_array() {
        items(map, Source::Named("ConfigMap", text(map, "name")))
    } else if secret["items"].is_array() {
        items(secret, Source::Named("Secret", text(secret, "name")))
    } else if source["downwardAPI"]["items"].is_array() {
        items(&source["downwardAPI"], Source::Kind("DownwardAPI"))
    } else if token.is_object() {
        let source = Source::Kind("ServiceAccountToken");
        vec![place(text(token, "path"), source)]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn volume(paths: &[&str]) -> Value {
        let items: Vec<Value> = paths.iter().map(|path| json!({"path": path})).collect();
        json!([{"name": "v", "configMap": {"name": "m", "items": items}}])
    }

    #[test]
    fn the_tree_finds_what_a_comparison_of_all_pairs_finds() {
        let mut random: u64 = 1;
        let mut draw = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        for _ in 0..500 {
            let mut path = || {
                let names = (0..=draw(3)).map(|_| ["a", "b", "a-b"][draw(3) as usize]);
                names.collect::<Vec<_>>().join("/")
            };
            let paths: Vec<String> = (0..6).map(|_| path()).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let mut expected = Vec::new();
            for (at, one) in paths.iter().enumerate() {
                for other in &paths[..at] {
                    if is_within(one, other) || is_within(other, one) {
                        expected.push(format!(
                            "volume \"v\" (ConfigMap \"m\"): overlapping paths: {one:?} with {other:?}"
                        ));
                    }
                }
            }
            assert_eq!(overlaps(&volume(&paths)), expected, "{paths:?}");
        }
    }

    #[test]
    fn a_path_may_be_as_deep_as_a_request_is_long() {
        let deep = "a/".repeat(1 << 20);
        assert_eq!(overlaps(&volume(&[&deep, "b"])), [""; 0]);
        assert_eq!(overlaps(&volume(&[&deep, "a"])).len(), 1);
    }

    #[test]
    fn the_name_of_a_source_is_not_copied_for_each_of_its_files() {
        let name = "x".repeat(1 << 20);
        let items: Vec<Value> = (0..50_000)
            .map(|at| json!({"path": at.to_string()}))
            .collect();
        let source = json!({"configMap": {"name": name, "items": items}});
        let volumes = json!([{"name": "v", "projected": {"sources": [source]}}]);
        assert_eq!(overlaps(&volumes), [""; 0]);
    }
}
