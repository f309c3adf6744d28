use super::*;

#[test]
fn the_first_list_of_a_process_asks_for_the_newest_state() {
    let mut script = Script::new();
    script.start().says(&[STREAM]).fail(422, "Invalid");
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
}

#[test]
fn every_try_at_the_first_list_is_consistent() {
    let mut script = Script::new();
    script.start().fail(500, "InternalError").deadline();
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
    script.fail(503, "ServiceUnavailable").deadline();
    assert_eq!(script.said.pop().as_deref(), Some(STREAM));
}

#[test]
fn a_version_of_zero_is_never_asked_for_because_it_means_any_state() {
    let mut script = Script::new();
    script
        .start()
        .fail(422, "Invalid")
        .page("0", "", &["a"])
        .said
        .clear();
    script.start().says(&[LIST]);
    let mut script = Script::new();
    script
        .start()
        .give(Input::WatchStarted)
        .initial_end("0")
        .said
        .clear();
    script.start().says(&[STREAM]);
}

#[test]
fn a_relist_is_consistent_and_the_cache_serves_meanwhile() {
    let mut script = Script::watching();
    script.give(Input::Relist).says(&[STREAM]);
    script.give(Input::WatchStarted);
    script
        .line(&Thing::new("n", "b").at(11).event("ADDED"))
        .caches(&["a"], "10");
    script.initial_end("12").caches(&["b"], "12").shows(&[]);

    let mut script = Script::watching_by_pages();
    script.give(Input::Relist).says(&[LIST]);
    script
        .page("12", "", &["b"])
        .caches(&["b"], "12")
        .shows(&[]);
    // Later lists are content with a state that is not older.
    script.said.clear();
    script.start().says(&["list resourceVersion=12"]);
}

#[test]
fn a_relist_before_the_start_is_ignored() {
    let mut script = Script::new();
    script.give(Input::Relist).says(&[]);
    assert_eq!(script.informer.deadline(), None);
}

#[test]
fn a_relist_drops_whatever_is_under_way() {
    let under_way: [fn(&mut Script); 5] = [
        // A plain watch that is not accepted yet.
        |script| {
            script.pass(400).give(Input::WatchEnded);
        },
        // A streamed list, begun and half complete.
        |script| {
            script.start().give(Input::WatchStarted);
            script.line(&Thing::new("n", "z").at(11).event("ADDED"));
        },
        // A wait before the next watch.
        |script| {
            script
                .pass(400)
                .give(Input::WatchEnded)
                .fail(503, "Unavailable");
        },
        // A wait before the next list.
        |script| {
            script.start().fail(429, "TooManyRequests");
        },
        // Another relist.
        |script| {
            script.give(Input::Relist);
        },
    ];
    for begin in under_way {
        let mut script = Script::watching();
        begin(&mut script);
        script.said.clear();
        script.give(Input::Relist).says(&[STREAM]);
        script.give(Input::WatchStarted).initial_end("12");
        script.caches(&[], "12");
    }
    // A page half way through a list: what came before counts no more.
    let mut script = Script::new();
    script.start().fail(422, "Invalid");
    script.page("10", "next", &["a"]).said.clear();
    script.give(Input::Relist).says(&[LIST]);
    script.page("11", "", &["b"]).caches(&["b"], "11");
}

#[test]
fn a_relist_stays_consistent_until_one_list_is_complete() {
    let mut script = Script::watching();
    script.give(Input::Relist).fail(503, "Unavailable");
    script.deadline();
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
    script.page("11", "next", &["b"]).deadline().deadline();
    assert_eq!(script.said.pop().as_deref(), Some(STREAM));
    script.give(Input::WatchStarted).give(Input::WatchEnded);
    script.deadline();
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
    script.give(Input::Page(b"garbage")).deadline();
    assert_eq!(script.said.pop().as_deref(), Some(STREAM));
    script.start();
    assert_eq!(script.said.pop().as_deref(), Some(STREAM));
    script.give(Input::WatchStarted).initial_end("12");
    script.said.clear();
    script.start();
    assert!(script.said[0].ends_with("resourceVersion=12"));
}

#[test]
fn a_relist_that_expires_between_pages_stays_consistent() {
    let mut script = Script::watching_by_pages();
    script.give(Input::Relist).page("12", "next", &["b"]);
    script.said.clear();
    script.fail(410, "Expired");
    assert_eq!(script.said.pop().as_deref(), Some("list "));
    script.fail(503, "Unavailable").deadline();
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
}

#[test]
fn a_list_that_was_paged_unasked_and_expires_is_followed_by_consistent_ones() {
    let mut script = Script::watching_by_pages();
    script.start().page("12", "next", &["b"]);
    script.says(&["list resourceVersion=10", "list continue=next"]);
    script.fail(410, "Expired");
    script.fail(503, "Unavailable").deadline();
    assert_eq!(script.said.pop().as_deref(), Some(LIST));
}

#[test]
fn a_relist_replaces_the_cache_by_an_older_state_of_another_history() {
    let listed: [fn(&mut Script); 2] = [
        |script| {
            script.give(Input::WatchStarted);
            let old = Thing::new("n", "a").at(2).owned_by(&["x"]);
            script.line(&old.event("ADDED")).initial_end("4");
        },
        |script| {
            let old = Thing::new("n", "a").at(2).owned_by(&["x"]).json();
            let page = format!(r#"{{"metadata":{{"resourceVersion":"4"}},"items":[{old}]}}"#);
            script
                .fail(422, "Invalid")
                .give(Input::Page(page.as_bytes()));
            script.give(Input::WatchStarted);
        },
    ];
    for list in listed {
        let mut script = Script::watching();
        script.line(&Thing::new("n", "a").at(11).event("MODIFIED"));
        script.line(&Thing::new("n", "b").at(12).event("ADDED"));
        script.give(Input::Relist);
        list(&mut script);
        script.caches(&["a"], "4").shows(&[Sign::WentBack {
            seen: "12".into(),
            told: "4".into(),
        }]);
        assert_eq!(script.informer.store().get("n", "a").unwrap().version, "2");
        // Events that follow are judged against the new version.
        script.line(&Thing::new("n", "a").at(5).event("MODIFIED"));
        script.line(&Thing::new("n", "c").at(6).event("ADDED"));
        script.caches(&["a", "c"], "6").shows(&[]);
        assert_eq!(script.informer.store().get("n", "a").unwrap().version, "5");
    }
}

/// The one cached object, and how many changes wait.
fn owner_and_changes(script: &Script) -> (String, usize) {
    let cached = script.informer.store().get("n", "a").unwrap();
    let pending = script.informer.changes_pending();
    (cached.owners.join(","), pending)
}

#[test]
fn a_relist_replaces_even_an_object_of_the_same_version() {
    // The restored server has come to version 5 again, by another write to the same object.
    for by_pages in [false, true] {
        let mut script = match by_pages {
            true => Script::watching_by_pages(),
            false => Script::watching(),
        };
        let mine = Thing::new("n", "a").at(11).owned_by(&["lost"]);
        script.line(&mine.event("MODIFIED"));
        script.informer.changes(&mut Vec::new(), 10);
        script.give(Input::Relist);
        let other = mine.owned_by(&["new"]);
        match by_pages {
            true => {
                let json = other.json();
                let page = format!(r#"{{"metadata":{{"resourceVersion":"20"}},"items":[{json}]}}"#);
                script.give(Input::Page(page.as_bytes()));
            }
            false => {
                script.give(Input::WatchStarted);
                script.line(&other.event("ADDED")).initial_end("20");
            }
        }
        assert_eq!(owner_and_changes(&script), ("new".into(), 1));
    }
}

#[test]
fn a_step_that_completes_a_list_says_so() {
    let mut informer = Informer::<Thing>::new();
    let mut listed = |input: Input<'_>| informer.step(input, Duration::ZERO, 0.0).listed;
    assert!(!listed(Input::Start) && !listed(Input::WatchStarted));
    let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    assert!(listed(Input::Event(end.as_bytes())));
    assert!(!listed(Input::Event(end.as_bytes())));
    assert!(!listed(Input::Relist) && !listed(Input::WatchStarted));
    assert!(listed(Input::Event(end.as_bytes())));
}
