//! The life of a cache, and what controllers may plan from.

use flyball_api::views::Pod;
use flyball_api::{ApiError, Kind};
use flyball_informer::{Command, Input};

use super::toys::{Bench, Looker, Twins, discovery};
use crate::{Effect, News};

const OLD: Kind = Kind::namespaced("example.com", "v1beta1", "Thing", "things");
const NEW: Kind = Kind::namespaced("example.com", "v1", "Thing", "things");
const NODES: Kind = Kind::cluster("", "v1", "Node", "nodes");

#[test]
fn nothing_is_planned_between_the_end_of_a_list_and_its_publication() {
    let mut bench = Bench::of(Twins, false);
    let pods = bench.cache(Pod::KIND);
    assert!(!bench.has_work());
    bench.list(pods, 7, &["a", "b"]);
    assert!(!bench.has_work(), "the list is read, and not published");
    bench.publish(pods);
    assert!(bench.has_work());
}

fn seeing(kinds: &[Kind]) -> Bench {
    let mut bench = Bench::of(Looker, false);
    bench.core.discovery_asked();
    bench.decide(|core, moment| core.discovered(Ok(discovery(kinds)), moment));
    bench
}

#[test]
fn a_kind_that_changes_its_version_keeps_its_old_view_until_the_new_one_is_complete() {
    let mut bench = seeing(&[NODES, OLD]);
    for kind in [NODES, OLD] {
        let id = bench.cache(kind);
        bench.listed(id, 7, &["a"]);
    }
    let shown = |bench: &Bench, kind| bench.core.snapshot().view_of(kind).map(|view| view.len());
    bench.core.discovery_asked();
    bench.decide(|core, moment| core.discovered(Ok(discovery(&[NODES, NEW])), moment));
    assert_eq!((shown(&bench, OLD), shown(&bench, NEW)), (Some(1), None));
    let old = bench.cache(OLD);
    let new = bench.cache(NEW);
    // Half a list is not shown.
    bench.feed(new, Input::WatchStarted);
    bench.publish(new);
    assert_eq!((shown(&bench, OLD), shown(&bench, NEW)), (Some(1), None));
    bench.listed(new, 9, &["a", "b"]);
    assert_eq!((shown(&bench, OLD), shown(&bench, NEW)), (None, Some(2)));
    assert!(bench.effects.contains(&Effect::Drop(old)));
    let replaced = News::KindReplaced { old: OLD, new: NEW };
    assert!(bench.effects.contains(&Effect::Tell(replaced)));
}

#[test]
fn a_version_that_is_not_served_any_more_is_believed_no_longer_than_its_watch_lasts() {
    let mut bench = seeing(&[NODES, OLD]);
    for kind in [NODES, OLD] {
        let id = bench.cache(kind);
        bench.listed(id, 7, &[]);
    }
    bench.next();
    assert!(bench.core.snapshot().incomplete().is_empty());
    bench.core.discovery_asked();
    bench.decide(|core, moment| core.discovered(Ok(discovery(&[NODES, NEW])), moment));
    bench.next();
    assert!(
        bench.core.snapshot().incomplete().is_empty(),
        "it is watched"
    );
    let old = bench.cache(OLD);
    let gone = ApiError::from_response(404, None, b"");
    bench.feed(old, Input::Failed(&gone));
    bench.next();
    assert_eq!(bench.core.snapshot().incomplete(), [OLD]);
}

#[test]
fn a_kind_that_discovery_omits_is_removed_only_when_its_own_path_is_gone() {
    let mut bench = seeing(&[NODES, OLD]);
    for kind in [NODES, OLD] {
        let id = bench.cache(kind);
        bench.listed(id, 7, &["a"]);
    }
    let things = bench.cache(OLD);
    bench.carried(things);
    bench.core.discovery_asked();
    bench.decide(|core, moment| core.discovered(Ok(discovery(&[NODES])), moment));
    assert!(matches!(bench.carried(things)[..], [Command::Watch(_)]));
    bench.feed(things, Input::WatchStarted);
    assert!(bench.core.snapshot().view_of(OLD).is_some());
    let known = bench.core.snapshot().discovery().cloned().unwrap();
    assert!(known.kind("example.com/v1beta1", "Thing").is_some());
    let gone = ApiError::from_response(404, None, b"");
    bench.feed(things, Input::Failed(&gone));
    assert!(bench.core.snapshot().view_of(OLD).is_none());
}

#[test]
fn a_kind_that_is_discovered_late_is_waited_for_from_then_on() {
    let mut bench = Bench::of(Looker, false);
    bench.later(60);
    bench.core.discovery_asked();
    bench.decide(|core, moment| core.discovered(Ok(discovery(&[NODES, OLD])), moment));
    bench.next();
    assert!(!bench.core.has_begun(0), "nothing is listed");
    for kind in [NODES, OLD] {
        let id = bench.cache(kind);
        bench.listed(id, 7, &[]);
    }
    bench.next();
    assert!(bench.core.has_begun(0));
}
