use super::*;

impl Script {
    /// For how many seconds there has been no contact.
    fn is_out_of_touch(&mut self, seconds: Option<u64>) -> &mut Self {
        let readiness = self.informer.readiness(self.now);
        assert_eq!(readiness.out_of_touch, seconds.map(Duration::from_secs));
        self
    }
}

#[test]
fn contact_is_counted_from_the_start_until_the_first_answer() {
    let mut script = Script::new();
    script.pass(50).is_out_of_touch(None);
    script.start().pass(3).is_out_of_touch(Some(3));
    // Failures do not begin the count again, nor does another start.
    script.fail(429, "TooManyRequests").pass(4);
    script.start().pass(1).is_out_of_touch(Some(8));
    script.give(Input::WatchStarted).is_out_of_touch(None);
}

#[test]
fn a_page_or_a_line_is_contact() {
    let mut script = Script::new();
    script.start().fail(422, "Invalid").is_out_of_touch(Some(0));
    script.page("10", "more", &["a"]).is_out_of_touch(None);
    script.fail(503, "Unavailable").pass(2);
    script.give(Input::Elapsed).is_out_of_touch(Some(2));
    script.page("10", "", &["a"]).is_out_of_touch(None);

    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded).fail(503, "");
    script.deadline().line("").is_out_of_touch(None);
}

#[test]
fn an_answer_that_is_no_list_is_not_contact() {
    let mut script = Script::watching_by_pages();
    script.start().fail(503, "Unavailable").pass(7);
    script.give(Input::Elapsed).is_out_of_touch(Some(7));
    script.give(Input::Page(b"<html>")).is_out_of_touch(Some(7));
    let mut script = Script::watching_by_pages();
    script.start().is_out_of_touch(None);
    script.give(Input::Page(b"<html>")).is_out_of_touch(Some(0));
}

#[test]
fn a_watch_whose_line_cannot_be_read_is_not_contact() {
    let mut script = Script::watching();
    script.line("<html>").is_out_of_touch(Some(0)).pass(5);
    // Whether the next one is a watch shows its first line.
    script.give(Input::WatchStarted).is_out_of_touch(None);
    script.line("<html>").pass(1).is_out_of_touch(Some(6));
    script.deadline().give(Input::WatchStarted);
    script.line("").is_out_of_touch(None);
    script.pass(9).line("<html>").is_out_of_touch(Some(0));
}

#[test]
fn a_watch_or_streamed_list_that_brings_an_error_is_not_contact() {
    let error = r#"{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"gone"}}"#;
    let mut script = Script::watching();
    script.line(error).is_out_of_touch(Some(0)).pass(5);
    // The streamed list that follows is accepted, and ends like the watch before it.
    script.give(Input::WatchStarted).line(error);
    script.is_out_of_touch(Some(5));
    script.fail(500, "InternalError").pass(2);
    script.is_out_of_touch(Some(7));
}

#[test]
fn the_orderly_end_of_a_watch_is_contact_until_the_next_request_fails() {
    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded).pass(9);
    script.is_out_of_touch(None);
    script.fail(503, "Unavailable").is_out_of_touch(Some(0));
    script.pass(5).give(Input::Elapsed).pass(5);
    script.fail(503, "Unavailable").is_out_of_touch(Some(10));
    script.deadline().give(Input::WatchStarted);
    script.is_out_of_touch(None);
}

#[test]
fn a_broken_watch_and_an_unanswered_request_lose_contact() {
    let mut broken = Script::watching();
    broken
        .pass(5)
        .give(Input::Failed(&ApiError::transport("reset by peer")));
    let mut silent = Script::watching();
    silent.deadline();
    let mut unanswered = Script::watching();
    unanswered.pass(400).give(Input::WatchEnded).deadline();
    let mut unlisted = Script::watching_by_pages();
    unlisted.start().deadline();
    for mut script in [broken, silent, unanswered, unlisted] {
        script.is_out_of_touch(Some(0)).pass(1);
        script.is_out_of_touch(Some(1));
    }
}

#[test]
fn requests_that_are_made_again_on_purpose_lose_nothing() {
    let mut script = Script::watching();
    script.give(Input::Reopen).pass(9).is_out_of_touch(None);
    script.give(Input::Relist).pass(9).is_out_of_touch(None);
    script.deadline().pass(2).is_out_of_touch(Some(2));
    // An answer to no request shows nothing.
    script.page("12", "", &[]).give(Input::WatchStarted);
    script.is_out_of_touch(Some(2));
}

#[test]
fn an_informer_that_was_not_started_is_in_no_condition_yet() {
    let mut script = Script::new();
    script.pass(1000);
    let before = script.informer.readiness(script.now);
    assert_eq!((before.since, before.synced), (Duration::ZERO, false));
    script.start().pass(6);
    let after = script.informer.readiness(script.now);
    assert_eq!(after.since, Duration::from_secs(6));
}
