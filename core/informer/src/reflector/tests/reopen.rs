use super::*;

#[test]
fn a_watch_goes_on_from_the_last_version() {
    // Accepted.
    let mut script = Script::watching();
    script
        .give(Input::Reopen)
        .says(&[WATCH_10])
        .caches(&["a"], "10");
    // Not accepted yet.
    script.give(Input::Reopen).says(&[WATCH_10]);
    script.give(Input::WatchStarted).bookmark("11").says(&[]);
    assert_eq!(script.informer.readiness(script.now).last_error, None);
}

#[test]
fn a_streamed_list_begins_again() {
    let mut script = Script::watching();
    script.start().says(&[STREAM_10]).give(Input::WatchStarted);
    script.line(&Thing::new("n", "z").at(11).event("ADDED"));
    script.give(Input::Reopen).says(&[STREAM_10]);
    script.give(Input::WatchStarted).initial_end("12");
    script.caches(&[], "12");
    // A consistent one stays consistent.
    script.give(Input::Relist).give(Input::Reopen);
    script.says(&[STREAM, STREAM]);
}

#[test]
fn a_paged_list_begins_again_with_its_first_page() {
    let mut script = Script::new();
    script.start().fail(422, "Invalid");
    script.page("10", "next", &["a"]).said.clear();
    script.give(Input::Reopen).says(&[LIST]);
    script.page("12", "", &["b"]).caches(&["b"], "12");
    script.said.clear();
    script.start().give(Input::Reopen);
    script.says(&["list resourceVersion=12", "list resourceVersion=12"]);
}

#[test]
fn a_list_in_one_piece_stays_in_one_piece() {
    let mut script = Script::new();
    script.start().fail(422, "Invalid");
    script.page("10", "next", &["a"]).fail(410, "Expired");
    script.said.clear();
    script.give(Input::Reopen).says(&["list "]);
}

#[test]
fn nothing_is_reopened_before_the_start_and_during_a_wait() {
    let mut script = Script::new();
    script.give(Input::Reopen).says(&[]);
    assert_eq!(script.informer.deadline(), None);
    script.start().fail(503, "Unavailable").said.clear();
    let until = script.informer.deadline();
    script.give(Input::Reopen).says(&[]);
    assert_eq!(script.informer.deadline(), until);
}

#[test]
fn a_reopened_request_has_a_deadline_of_its_own() {
    let mut script = Script::watching();
    script.pass(100).give(Input::Reopen).says(&[WATCH_10]);
    let deadline = script.now + Duration::from_secs(30);
    assert_eq!(script.informer.deadline(), Some(deadline));
}

#[test]
fn a_wait_that_the_server_did_not_ask_for_ends_when_it_answers_again() {
    let mut script = Script::watching();
    script.fail(503, "Unavailable");
    script.fail(503, "Unavailable").said.clear();
    script.give(Input::Retry).says(&[WATCH_10]);
    // A request under way is not made twice.
    script.give(Input::Retry).says(&[]);
}
