//! One view per kind: controllers of a process must agree on the type that a kind is cached as.

use std::fmt;

use flyball_api::Kind;
use flyball_informer::View;
use flyball_plan::Descriptor;

/// Two controllers that want one kind cached as different types.
///
/// A process has one watch and one cache per kind. The controller whose type is not the cached one
/// would see an empty cluster that counts as complete.
#[derive(Clone, Copy, Debug)]
pub struct ViewConflict {
    /// The kind.
    pub kind: Kind,
    /// The names of the controllers, each with the view that it wants.
    pub wanted: [(&'static str, View); 2],
}

impl fmt::Display for ViewConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(one, its), (other, others)] = &self.wanted;
        let (kind, its, others) = (self.kind, its.name, others.name);
        write!(
            f,
            "{one} caches {kind} as {its} and {other} as {others}: \
             a process has one cache per kind, so both must use the same view"
        )
    }
}

impl std::error::Error for ViewConflict {}

/// Finds the first kind that two controllers want cached as different types.
pub(crate) fn find_conflict(descriptors: &[Descriptor]) -> Option<ViewConflict> {
    let mut seen: Vec<(Kind, &'static str, View)> = Vec::new();
    let all = descriptors.iter();
    let watches = all.flat_map(|one| one.watches.iter().map(move |watch| (one.name, watch)));
    for (name, watch) in watches {
        let (kind, view) = (watch.kind(), watch.view());
        match seen.iter().find(|(known, ..)| *known == kind) {
            None => seen.push((kind, name, view)),
            Some((_, first, other)) if *other != view => {
                let wanted = [(*first, *other), (name, view)];
                return Some(ViewConflict { kind, wanted });
            }
            Some(_) => {}
        }
    }
    None
}
