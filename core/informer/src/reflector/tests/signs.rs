use super::*;

fn went_back(seen: &str, told: &str) -> Sign {
    Sign::WentBack {
        seen: seen.into(),
        told: told.into(),
    }
}

#[test]
fn a_watch_that_goes_back_changes_nothing_and_lists_consistently() {
    let older = Thing::new("n", "a").at(4).owned_by(&["x"]);
    for line in [
        older.event("MODIFIED"),
        older.event("DELETED"),
        Thing::new("n", "new").at(4).event("ADDED"),
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"4"}}}"#.to_owned(),
    ] {
        let mut script = Script::watching();
        let before = script.informer.store().get("n", "a").unwrap().clone();
        script.line(&line).shows(&[went_back("10", "4")]);
        script.says(&["! version went back from 10 to 4, listing again", STREAM]);
        script.caches(&["a"], "10");
        let after = script.informer.store().get("n", "a").unwrap();
        assert!(Arc::ptr_eq(&before, after));
        assert!(script.informer.readiness(script.now).last_error.is_some());
        // The list replaces the cache, and goes back too.
        script.give(Input::WatchStarted).line(&older.event("ADDED"));
        script.initial_end("5").caches(&["a"], "5");
        script.shows(&[went_back("10", "5")]);
        assert_eq!(script.informer.store().get("n", "a").unwrap().version, "4");
        // From here on all is well.
        script.bookmark("6").says(&[]).shows(&[]);
        assert_eq!(script.informer.readiness(script.now).last_error, None);
    }
}

#[test]
fn a_server_that_goes_back_again_and_again_is_met_with_patience() {
    let mut script = Script::watching();
    script.bookmark("9").said.clear();
    script.give(Input::WatchStarted).initial_end("10");
    script.bookmark("9").says(&[
        "! version went back from 10 to 9, listing again",
        "wait 1600 ms",
    ]);
    script.deadline().says(&[STREAM]);
}

#[test]
fn a_repeated_event_is_no_sign() {
    let mut script = Script::watching();
    let line = Thing::new("n", "b").at(11).event("ADDED");
    script.line(&line).line(&line).bookmark("11").bookmark("11");
    script.says(&[]).shows(&[]).caches(&["a", "b"], "11");
}

#[test]
fn versions_that_are_not_numbers_are_followed_without_a_sign() {
    let mut script = Script::watching();
    script.bookmark("x2").bookmark("x1").bookmark("3");
    script.says(&[]).shows(&[]).caches(&["a"], "3");
}

#[test]
fn events_within_a_streamed_list_have_no_order() {
    let mut script = Script::watching();
    script.start().give(Input::WatchStarted);
    script.line(&Thing::new("n", "b").at(9).event("ADDED"));
    script.line(&Thing::new("n", "a").at(3).event("ADDED"));
    script
        .initial_end("10")
        .shows(&[])
        .caches(&["a", "b"], "10");
}

#[test]
fn a_list_older_than_asked_for_is_taken_with_a_sign() {
    let mut script = Script::watching_by_pages();
    script.start().says(&["list resourceVersion=10"]);
    script.page("7", "", &["b"]).caches(&["b"], "7");
    script.shows(&[went_back("10", "7")]);
    script.says(&["watch timeoutSeconds=300&resourceVersion=7"]);

    let mut script = Script::watching();
    script.start().give(Input::WatchStarted).initial_end("7");
    script.caches(&[], "7").shows(&[went_back("10", "7")]);
}

#[test]
fn a_version_that_is_too_new_is_a_sign_and_the_next_list_is_consistent() {
    let too_new = Status::failure(504, "Timeout", "Too large resource version: 10, current: 3");
    let too_new = ApiError::from_status(too_new);
    // A watch as it begins, one that was accepted, a streamed list and a paged one.
    let mut begun = Script::watching();
    begun.pass(400).give(Input::WatchEnded);
    let accepted = Script::watching();
    let mut streamed = Script::watching();
    streamed.start();
    let mut paged = Script::watching_by_pages();
    paged.start();
    for (mut script, next) in [
        (begun, STREAM),
        (accepted, STREAM),
        (streamed, STREAM),
        (paged, LIST),
    ] {
        script.give(Input::Failed(&too_new)).shows(&[Sign::TooNew]);
        assert_eq!(script.said.pop().as_deref(), Some(next));
        script.caches(&["a"], "10");
    }
    let mut script = Script::watching();
    script.line(r#"{"type":"ERROR","object":{"code":504,"reason":"Timeout","message":"Too large resource version: 10"}}"#);
    script.shows(&[Sign::TooNew]);
    // What merely expired is no sign.
    let mut script = Script::watching();
    script.error_event(410, "Expired").shows(&[]);
    script.fail(410, "Expired").shows(&[]);
}
