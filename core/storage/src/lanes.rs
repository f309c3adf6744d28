//! Which events concern a prefix, without looking at all of them.
//!
//! An event is noted under the second and the third folder of its key: for a pod, all pods and the
//! pods of its namespace. A watch then looks only at the lane of the deepest such folder that
//! holds everything it wants. A thousand watches of a namespace each cost what happens in it.

use std::collections::{HashMap, VecDeque};

/// The number of an event: counts up, without gaps, for the life of a history.
pub(crate) type Number = u64;

/// How deep the folders are that have lanes.
const DEPTHS: [usize; 2] = [2, 3];

/// The numbers of events, by folder, each in order.
// Invariant: no lane is empty.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    by_folder: HashMap<Box<str>, VecDeque<Number>>,
}

/// Where to look for events with a prefix.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lane<'a> {
    /// Anything may match: look at all events.
    All,
    /// Look at these.
    Only(&'a VecDeque<Number>),
    /// Nothing can match.
    Nothing,
}

impl Lanes {
    /// Notes the newest event.
    pub(crate) fn push(&mut self, key: &str, number: Number) {
        for folder in DEPTHS.iter().filter_map(|depth| folder(key, *depth)) {
            match self.by_folder.get_mut(folder) {
                Some(lane) => lane.push_back(number),
                None => {
                    let lane = VecDeque::from([number]);
                    self.by_folder.insert(folder.into(), lane);
                }
            }
        }
    }

    /// Strikes the oldest event out.
    pub(crate) fn pop(&mut self, key: &str, number: Number) {
        for folder in DEPTHS.iter().filter_map(|depth| folder(key, *depth)) {
            let Some(lane) = self.by_folder.get_mut(folder) else {
                continue;
            };
            if lane.front() == Some(&number) {
                lane.pop_front();
            }
            if lane.is_empty() {
                self.by_folder.remove(folder);
            }
        }
    }

    /// Where all events are whose keys begin with `prefix`.
    pub(crate) fn find(&self, prefix: &str) -> Lane<'_> {
        let mut folders = DEPTHS
            .iter()
            .rev()
            .filter_map(|depth| folder(prefix, *depth));
        match folders.next() {
            None => Lane::All,
            Some(folder) => match self.by_folder.get(folder) {
                None => Lane::Nothing,
                Some(lane) => Lane::Only(lane),
            },
        }
    }
}

/// The beginning of a path that ends with its folder number `depth`, slash included.
fn folder(path: &str, depth: usize) -> Option<&str> {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    let end = slashes.nth(depth)?;
    Some(&path[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_ends_with_its_slash() {
        for (path, depth, expected) in [
            ("/registry/pods/default/web", 2, Some("/registry/pods/")),
            (
                "/registry/pods/default/web",
                3,
                Some("/registry/pods/default/"),
            ),
            ("/registry/nodes/one", 3, None),
            ("/registry/pods", 2, None),
            ("/registry/pods/", 2, Some("/registry/pods/")),
            ("", 2, None),
        ] {
            assert_eq!(folder(path, depth), expected, "{path} at {depth}");
        }
    }

    #[test]
    fn a_prefix_is_looked_up_in_the_smallest_lane_that_holds_all_of_it() {
        let mut lanes = Lanes::default();
        lanes.push("/registry/pods/one/a", 0);
        lanes.push("/registry/pods/two/a", 1);
        lanes.push("/registry/nodes/a", 2);
        let numbers = |prefix: &str| match lanes.find(prefix) {
            Lane::All => None,
            Lane::Nothing => Some(vec![]),
            Lane::Only(lane) => Some(lane.iter().copied().collect::<Vec<_>>()),
        };
        for (prefix, expected) in [
            ("/registry/", None),
            ("/registry/pods", None),
            ("/registry/pods/", Some(vec![0, 1])),
            ("/registry/pods/on", Some(vec![0, 1])),
            ("/registry/pods/one/", Some(vec![0])),
            ("/registry/pods/one/a", Some(vec![0])),
            ("/registry/pods/three/", Some(vec![])),
            ("/registry/nodes/a", Some(vec![2])),
        ] {
            assert_eq!(numbers(prefix), expected, "{prefix}");
        }
    }

    #[test]
    fn what_is_struck_out_leaves_no_trace() {
        let mut lanes = Lanes::default();
        lanes.push("/registry/pods/one/a", 0);
        lanes.push("/registry/pods/one/b", 1);
        lanes.pop("/registry/pods/one/a", 0);
        assert_eq!(
            lanes.find("/registry/pods/one/"),
            Lane::Only(&VecDeque::from([1]))
        );
        lanes.pop("/registry/pods/one/b", 1);
        assert!(lanes.by_folder.is_empty());
    }
}
