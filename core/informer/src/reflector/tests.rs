//! Scripts: what the server says, and what the reflector then asks for.

mod contact;
mod relist;
mod reopen;
mod signs;

use std::sync::Arc;

use flyball_api::{ApiError, Status};

use super::*;
use crate::testing::Thing;
use crate::{AnyInformer, Informer};

/// A whole informer, so that what is cached can be looked at, at a clock of its own.
struct Script {
    informer: Informer<Thing>,
    now: Duration,
    /// The commands since the last look, and what was noticed.
    said: Vec<String>,
    /// The signs since the last look.
    signs: Vec<Sign>,
}

impl Script {
    fn new() -> Self {
        Self {
            informer: Informer::new(),
            now: Duration::ZERO,
            said: Vec::new(),
            signs: Vec::new(),
        }
    }

    fn give(&mut self, input: Input<'_>) -> &mut Self {
        let stepped = self.informer.step(input, self.now, 0.0);
        self.signs.extend(stepped.sign);
        self.said
            .extend(stepped.notice.map(|notice| format!("! {}", notice.problem)));
        self.said
            .extend(stepped.command.map(|command| match command {
                Command::List(list) => format!("list {}", text(&list.query())),
                Command::Watch(watch) => {
                    let mut query = watch.query();
                    query.retain(|(key, _)| !matches!(*key, "watch" | "allowWatchBookmarks"));
                    format!("watch {}", text(&query))
                }
                Command::Wait(wait) => format!("wait {} ms", wait.as_millis()),
            }));
        self
    }

    fn start(&mut self) -> &mut Self {
        self.give(Input::Start)
    }

    fn line(&mut self, line: &str) -> &mut Self {
        self.give(Input::Event(line.as_bytes()))
    }

    fn page(&mut self, version: &str, continue_token: &str, names: &[&str]) -> &mut Self {
        let items: Vec<_> = names
            .iter()
            .map(|name| Thing::new("n", name).at(1).json())
            .collect();
        let items = items.join(",");
        self.give(Input::Page(
            format!(
                r#"{{"metadata":{{"resourceVersion":"{version}","continue":"{continue_token}"}},"items":[{items}]}}"#
            )
            .as_bytes(),
        ))
    }

    fn fail(&mut self, code: u16, reason: &str) -> &mut Self {
        self.give(Input::Failed(&api_error(code, reason)))
    }

    fn error_event(&mut self, code: u16, reason: &str) -> &mut Self {
        self.line(&format!(
            r#"{{"type":"ERROR","object":{{"status":"Failure","code":{code},"reason":"{reason}","message":"{reason}"}}}}"#
        ))
    }

    fn bookmark(&mut self, version: &str) -> &mut Self {
        self.line(&format!(
            r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}"}}}}}}"#
        ))
    }

    fn initial_end(&mut self, version: &str) -> &mut Self {
        self.line(&format!(
            r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}"#
        ))
    }

    fn pass(&mut self, seconds: u64) -> &mut Self {
        self.now += Duration::from_secs(seconds);
        self
    }

    /// Lets the deadline come.
    fn deadline(&mut self) -> &mut Self {
        self.now = self.informer.deadline().unwrap();
        self.give(Input::Elapsed)
    }

    /// What was said since the last look.
    fn says(&mut self, expected: &[&str]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.said), expected);
        self
    }

    /// The signs since the last look.
    fn shows(&mut self, expected: &[Sign]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.signs), expected);
        self
    }

    fn caches(&mut self, names: &[&str], version: &str) -> &mut Self {
        let view = self.informer.store();
        let cached: Vec<_> = view.list("").map(|thing| thing.name.as_str()).collect();
        assert_eq!((cached.as_slice(), view.seen()), (names, version));
        self
    }

    /// Through a streamed list with one object to a watch that has come to version 10.
    fn watching() -> Self {
        let mut script = Self::new();
        script.start().give(Input::WatchStarted);
        script
            .line(&Thing::new("n", "a").at(1).event("ADDED"))
            .initial_end("9")
            .bookmark("10");
        script.said.clear();
        script
    }

    /// The same by a paged list, from a server that refuses to stream.
    fn watching_by_pages() -> Self {
        let mut script = Self::new();
        script
            .start()
            .fail(422, "Invalid")
            .page("9", "", &["a"])
            .give(Input::WatchStarted)
            .bookmark("10");
        script.said.clear();
        script
    }
}

fn text(query: &[(&'static str, String)]) -> String {
    let pairs: Vec<_> = query
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join("&")
}

fn api_error(code: u16, reason: &str) -> ApiError {
    ApiError::from_status(Status::failure(code, reason, reason))
}

const STREAM: &str =
    "watch timeoutSeconds=300&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const STREAM_10: &str = "watch timeoutSeconds=300&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=10";
const WATCH_10: &str = "watch timeoutSeconds=300&resourceVersion=10";
/// The first page of a consistent list.
const LIST: &str = "list limit=500";

#[test]
fn a_streamed_list_fills_the_cache_in_one_step_and_goes_on_as_the_watch() {
    let mut script = Script::new();
    script.start().says(&[STREAM]).give(Input::WatchStarted);
    script.line(&Thing::new("n", "a").at(5).event("ADDED"));
    script.line(&Thing::new("n", "b").at(3).event("ADDED"));
    script.bookmark("9").caches(&[], "");
    assert!(!script.informer.readiness(script.now).synced);
    script.initial_end("10").caches(&["a", "b"], "10");
    assert!(script.informer.readiness(script.now).synced);
    script
        .line(&Thing::new("n", "c").at(11).event("ADDED"))
        .caches(&["a", "b", "c"], "11");
    script
        .line(&Thing::new("n", "a").at(12).event("DELETED"))
        .caches(&["b", "c"], "12");
    script.bookmark("20").caches(&["b", "c"], "20").says(&[]);
}

#[test]
fn changes_during_a_streamed_list_count_too() {
    let mut script = Script::new();
    script.start().give(Input::WatchStarted);
    script.line(&Thing::new("n", "a").at(5).event("ADDED"));
    script.line(&Thing::new("n", "b").at(3).event("ADDED"));
    script.line(&Thing::new("n", "a").at(8).event("DELETED"));
    script.line(&Thing::new("n", "b").at(9).event("MODIFIED"));
    script.initial_end("10").caches(&["b"], "10");
    assert_eq!(script.informer.store().get("n", "b").unwrap().version, "9");
}

#[test]
fn a_server_that_refuses_to_stream_is_asked_for_pages_ever_after() {
    for (code, reason) in [(400, "BadRequest"), (422, "Invalid")] {
        let mut script = Script::new();
        let refused = format!("! the server does not stream lists, paging instead: {reason}");
        script
            .start()
            .fail(code, reason)
            .says(&[STREAM, &refused, LIST]);
        script
            .page("10", "", &["a"])
            .says(&[WATCH_10])
            .caches(&["a"], "10");
        script
            .give(Input::WatchStarted)
            .bookmark("11")
            .error_event(410, "Expired");
        script.says(&[
            "! watch expired, listing again: Expired",
            "list resourceVersion=11",
        ]);
    }
}

#[test]
fn other_failures_of_a_streamed_list_make_the_next_try_a_paged_one() {
    let mut script = Script::new();
    script.start().fail(500, "InternalError");
    script.says(&[
        STREAM,
        "! streamed list failed: InternalError",
        "wait 800 ms",
    ]);
    script.deadline().says(&[LIST]);
    script
        .fail(403, "Forbidden")
        .says(&["! list failed: Forbidden", "wait 1600 ms"]);
    script.deadline().says(&[STREAM]);
    assert_eq!(
        script.informer.readiness(script.now).why.as_deref(),
        Some("things.test: list failed: Forbidden; trying again in 1.6 s")
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_not_taken_for_one_that_cannot_stream() {
    let mut script = Script::new();
    script
        .start()
        .give(Input::Failed(&ApiError::transport("connection refused")));
    script.says(&[
        STREAM,
        "! streamed list failed: connection refused",
        "wait 800 ms",
    ]);
    script.deadline().says(&[STREAM]);
}

#[test]
fn a_streamed_list_that_stops_before_its_end_changes_nothing() {
    let ends: [fn(&mut Script); 2] = [
        |script| {
            script.give(Input::WatchEnded);
        },
        |script| {
            script.deadline();
        },
    ];
    for end in ends {
        let mut script = Script::watching();
        script
            .give(Input::Start)
            .says(&[STREAM_10])
            .give(Input::WatchStarted);
        script.line(&Thing::new("n", "z").at(11).event("ADDED"));
        end(&mut script);
        script.says(&[
            "! streamed list stopped before it was complete",
            "wait 800 ms",
        ]);
        script
            .caches(&["a"], "10")
            .deadline()
            .says(&["list resourceVersion=10"]);
    }
}

#[test]
fn lists_go_on_page_by_page_and_count_only_when_complete() {
    let mut script = Script::new();
    script.start().fail(422, "Invalid").said.clear();
    script
        .page("10", "next", &["a"])
        .says(&["list limit=500&continue=next"])
        .caches(&[], "");
    script
        .page("10", "last", &["b"])
        .says(&["list limit=500&continue=last"]);
    // What the first page says counts: a watch from there misses nothing.
    script
        .page("12", "", &["c"])
        .says(&[WATCH_10])
        .caches(&["a", "b", "c"], "10");
    // A server answers a list not older than a version from its cache, in one piece.
    script
        .give(Input::WatchStarted)
        .bookmark("11")
        .error_event(410, "Gone");
    script.says(&[
        "! watch expired, listing again: Gone",
        "list resourceVersion=11",
    ]);
}

#[test]
fn a_list_that_expires_between_pages_is_asked_for_in_one_piece() {
    let mut script = Script::new();
    script
        .start()
        .fail(422, "Invalid")
        .page("10", "next", &["a"])
        .said
        .clear();
    script
        .fail(410, "Expired")
        .says(&["! list failed: Expired", "list "]);
    script.page("12", "", &["b"]).caches(&["b"], "12");
}

#[test]
fn a_list_at_a_version_that_is_too_old_or_too_new_asks_for_the_newest() {
    let too_new = Status::failure(504, "Timeout", "Too large resource version: 10, current: 3");
    for error in [api_error(410, "Expired"), ApiError::from_status(too_new)] {
        let mut script = Script::watching_by_pages();
        script.give(Input::Start).says(&["list resourceVersion=10"]);
        script.give(Input::Failed(&error));
        assert_eq!(script.said.pop().as_deref(), Some(LIST));
        // Once the newest state is there its version is good again.
        script
            .page("3", "", &["b"])
            .caches(&["b"], "3")
            .said
            .clear();
        script.give(Input::Start).says(&["list resourceVersion=3"]);

        let mut script = Script::watching();
        script.give(Input::Start).give(Input::Failed(&error));
        assert_eq!(script.said.pop().as_deref(), Some(STREAM));
    }
}

#[test]
fn an_expired_watch_lists_again_at_once_and_the_cache_keeps_serving() {
    let mut script = Script::watching();
    script.pass(5).error_event(410, "Expired");
    script
        .says(&["! watch expired, listing again: Expired", STREAM_10])
        .caches(&["a"], "10");
    script
        .give(Input::WatchStarted)
        .line(&Thing::new("n", "b").at(20).event("ADDED"));
    script
        .caches(&["a"], "10")
        .initial_end("21")
        .caches(&["b"], "21");
    let mut changes = Vec::new();
    script.informer.changes(&mut changes, 10);
    let names: Vec<_> = changes
        .iter()
        .map(|change| change.name.to_string())
        .collect();
    assert_eq!(names, ["n/a", "n/b"]);
    assert!(changes[0].tombstone && !changes[1].tombstone);
    // Twice within two minutes is no longer nothing.
    script.error_event(410, "Expired");
    script.says(&["! watch expired, listing again: Expired", "wait 1600 ms"]);
}

#[test]
fn a_list_too_old_to_watch_from_makes_the_next_one_ask_for_the_newest() {
    let mut script = Script::new();
    script
        .start()
        .fail(422, "Invalid")
        .page("10", "", &["a"])
        .give(Input::WatchStarted);
    script.said.clear();
    script.error_event(410, "Expired");
    script.says(&["! watch expired, listing again: Expired", LIST]);
}

#[test]
fn a_watch_that_expires_as_it_begins_lists_again() {
    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded).says(&[WATCH_10]);
    script
        .fail(410, "Gone")
        .says(&["! watch expired, listing again: Gone", STREAM_10]);
}

#[test]
fn a_watch_at_a_version_that_is_too_new_asks_for_the_newest_state() {
    let mut script = Script::watching();
    let line = r#"{"type":"ERROR","object":{"code":504,"reason":"Timeout","message":"x","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}}"#;
    script.line(line).says(&["! watch failed: x", STREAM]);
}

#[test]
fn a_busy_or_absent_server_is_watched_again_without_a_list() {
    let down = ApiError::transport("connection refused");
    for error in [api_error(429, "TooManyRequests"), api_error(503, ""), down] {
        let mut script = Script::watching();
        script.pass(400).give(Input::WatchEnded).says(&[WATCH_10]);
        script.give(Input::Failed(&error));
        script.says(&[&format!("! watch failed: {error}"), "wait 800 ms"]);
        script.deadline().says(&[WATCH_10]).caches(&["a"], "10");
    }
    let mut script = Script::watching();
    script.error_event(429, "TooManyRequests");
    script
        .says(&["! watch failed: TooManyRequests", "wait 800 ms"])
        .deadline()
        .says(&[WATCH_10]);
}

#[test]
fn a_server_that_asks_for_time_gets_it() {
    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded);
    script.give(Input::Failed(&ApiError::from_response(
        429,
        Some("17"),
        b"",
    )));
    assert_eq!(script.said.pop().as_deref(), Some("wait 17000 ms"));
}

#[test]
fn no_server_keeps_a_cache_waiting_for_minutes() {
    let hours = ApiError::from_response(429, Some("7200"), b"");
    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded);
    script.give(Input::Failed(&hours));
    assert_eq!(script.said.pop().as_deref(), Some("wait 30000 ms"));
    // The same for lists, streamed and paged.
    for (mut script, begun) in [
        (Script::watching(), STREAM_10),
        (Script::watching_by_pages(), "list resourceVersion=10"),
    ] {
        script.start().says(&[begun]).give(Input::Failed(&hours));
        assert_eq!(script.said.pop().as_deref(), Some("wait 30000 ms"));
    }
}

#[test]
fn other_refusals_and_error_events_lead_to_a_list_after_a_wait() {
    let mut script = Script::watching();
    script
        .pass(400)
        .give(Input::WatchEnded)
        .fail(404, "NotFound");
    script
        .says(&[WATCH_10, "! watch failed: NotFound", "wait 800 ms"])
        .deadline();
    script.says(&[STREAM_10]);
    // A server that starts refuses everyone, and the version is as good as before.
    let mut script = Script::watching();
    script.pass(400).give(Input::WatchEnded);
    script.fail(403, "Forbidden").deadline();
    script.says(&[
        WATCH_10,
        "! watch failed: Forbidden",
        "wait 800 ms",
        WATCH_10,
    ]);
    let mut script = Script::watching();
    script.error_event(500, "InternalError").deadline();
    script.says(&["! watch failed: InternalError", "wait 800 ms", STREAM_10]);
}

#[test]
fn a_watch_that_ends_is_begun_again_at_once_from_the_last_version() {
    let mut script = Script::watching();
    script.pass(1).bookmark("15").give(Input::WatchEnded);
    script
        .says(&["watch timeoutSeconds=300&resourceVersion=15"])
        .give(Input::WatchStarted);
    script.pass(300).give(Input::WatchEnded);
    script.says(&["watch timeoutSeconds=300&resourceVersion=15"]);
}

#[test]
fn a_broken_connection_costs_no_list() {
    let mut script = Script::watching();
    script
        .pass(2)
        .give(Input::Failed(&ApiError::transport("reset by peer")));
    script.says(&["! watch broken off: reset by peer", WATCH_10]);
    assert_eq!(script.informer.readiness(script.now).last_error, None);
}

#[test]
fn a_watch_that_ends_at_once_without_bringing_anything_is_an_error() {
    let mut script = Script::watching();
    script.give(Input::WatchEnded).says(&[WATCH_10]);
    for wait in [800, 1600, 3200, 6400] {
        script.give(Input::WatchStarted).give(Input::WatchEnded);
        let wait = format!("wait {wait} ms");
        script.says(&["! watch ended at once and brought nothing", &wait]);
        script.deadline().says(&[WATCH_10]);
    }
    // The fifth in a row puts the version itself in doubt.
    script
        .give(Input::WatchStarted)
        .give(Input::WatchEnded)
        .deadline();
    script.says(&[
        "! watch ended at once and brought nothing",
        "wait 12800 ms",
        STREAM_10,
    ]);
}

#[test]
fn a_repeated_bookmark_does_not_make_a_short_watch_worth_repeating_at_once() {
    let mut script = Script::watching();
    script
        .give(Input::WatchEnded)
        .give(Input::WatchStarted)
        .bookmark("10")
        .said
        .clear();
    script.give(Input::WatchEnded);
    script.says(&["! watch ended at once and brought nothing", "wait 800 ms"]);
}

#[test]
fn garbage_on_a_watch_is_named_and_everything_listed_again() {
    let half = &Thing::new("n", "b").at(11).event("ADDED")[..50];
    for line in [
        "nonsense",
        half,
        r#"{"type":"ADDED","object":{"kind":"Thing"}}"#,
    ] {
        let mut script = Script::watching();
        script.line(line);
        assert!(script.said[0].starts_with("! malformed watch event, listing again: "));
        assert_eq!(script.said[1..], [STREAM_10]);
        script.caches(&["a"], "10");
        assert!(script.informer.readiness(script.now).last_error.is_some());
        // Garbage again and again is met with patience.
        script.give(Input::WatchStarted).line(line);
        assert_eq!(script.said.pop().as_deref(), Some("wait 1600 ms"));
        script
            .deadline()
            .give(Input::WatchStarted)
            .initial_end("30")
            .caches(&[], "30");
        assert_eq!(script.informer.readiness(script.now).last_error, None);
    }
}

#[test]
fn a_malformed_list_changes_nothing_and_is_tried_again() {
    let mut script = Script::watching_by_pages();
    script.give(Input::Start).said.clear();
    script.give(Input::Page(
        br#"{"metadata":{"resourceVersion":"12"},"items":[{}]}"#,
    ));
    assert!(
        script.said[0].starts_with("! malformed list: item 0: "),
        "{}",
        script.said[0]
    );
    assert_eq!(script.said.pop().as_deref(), Some("wait 800 ms"));
    script.said.clear();
    script
        .caches(&["a"], "10")
        .deadline()
        .says(&["list resourceVersion=10"]);
}

#[test]
fn an_object_of_another_kind_is_named_and_dropped() {
    let mut script = Script::watching();
    script.line(
        &Thing::new("n", "b")
            .at(11)
            .event("ADDED")
            .replace("Thing", "Pod"),
    );
    script
        .says(&["! unexpected object dropped: Pod of test/v1"])
        .caches(&["a"], "10");
}

#[test]
fn blank_lines_say_nothing() {
    Script::watching()
        .line("")
        .line("\r\n")
        .says(&[])
        .caches(&["a"], "10");
}

#[test]
fn a_silent_watch_is_taken_for_dead() {
    // Bookmarks have come, so that their absence means something.
    let mut script = Script::watching();
    script
        .pass(100)
        .bookmark("11")
        .pass(179)
        .give(Input::Elapsed)
        .says(&[]);
    script.pass(1).give(Input::Elapsed).says(&[
        "! watch silent for 180 s, taken for dead",
        "watch timeoutSeconds=300&resourceVersion=11",
    ]);
    // Without bookmarks the server's own time limit, and some grace, must be over.
    script
        .give(Input::WatchStarted)
        .pass(329)
        .give(Input::Elapsed)
        .says(&[]);
    script.pass(1).give(Input::Elapsed).says(&[
        "! watch silent for 330 s, taken for dead",
        "watch timeoutSeconds=300&resourceVersion=11",
    ]);
    // A live watch does not outlive its time either.
    script.give(Input::WatchStarted);
    for version in 12..17 {
        script.pass(60).bookmark(&version.to_string());
    }
    assert_eq!(
        script.informer.deadline(),
        Some(script.now + Duration::from_secs(30))
    );
}

#[test]
fn requests_that_are_never_answered_are_given_up() {
    let mut script = Script::watching();
    script
        .pass(400)
        .give(Input::WatchEnded)
        .deadline()
        .deadline();
    script.says(&[
        WATCH_10,
        "! watch not answered within 30 s",
        "wait 800 ms",
        WATCH_10,
    ]);
    let mut script = Script::watching_by_pages();
    script.give(Input::Start).deadline().deadline();
    let list = "list resourceVersion=10";
    script.says(&[list, "! list not answered within 90 s", "wait 800 ms", list]);
}

#[test]
fn timeouts_are_spread_by_jitter_over_five_to_ten_minutes() {
    for (jitter, expected) in [(0.0, 300), (0.5, 450), (0.9999, 599), (1.0, 599)] {
        let stepped = Informer::<Thing>::new().step(Input::Start, Duration::ZERO, jitter);
        let Some(Command::Watch(watch)) = stepped.command else {
            panic!("{stepped:?}");
        };
        assert_eq!(watch.timeout_seconds, expected);
    }
}

#[test]
fn inputs_that_belong_to_no_request_are_ignored() {
    let mut script = Script::new();
    script
        .line("garbage")
        .page("1", "", &["a"])
        .give(Input::Elapsed)
        .says(&[]);
    script
        .start()
        .page("1", "", &["a"])
        .says(&[STREAM])
        .caches(&[], "");
    script.fail(403, "").deadline().said.clear();
    script
        .line("garbage")
        .give(Input::WatchEnded)
        .give(Input::WatchStarted)
        .says(&[]);
}

#[test]
fn a_watch_from_no_version_counts_versions_only_after_what_there_was() {
    let mut script = Script::new();
    script
        .start()
        .fail(422, "Invalid")
        .page("", "", &[])
        .give(Input::WatchStarted);
    script
        .line(&Thing::new("n", "a").at(9).event("ADDED"))
        .caches(&["a"], "");
    script
        .line(&Thing::new("n", "b").at(4).event("ADDED"))
        .caches(&["a", "b"], "");
    script
        .line(&Thing::new("n", "b").at(11).event("MODIFIED"))
        .caches(&["a", "b"], "11");
}

#[test]
fn a_relist_keeps_the_cached_copy_of_what_did_not_change() {
    let mut script = Script::watching();
    let before = script.informer.store().get("n", "a").unwrap().clone();
    script.give(Input::Start).give(Input::WatchStarted);
    script
        .line(&Thing::new("n", "a").at(1).event("ADDED"))
        .initial_end("12");
    assert!(Arc::ptr_eq(
        &before,
        script.informer.store().get("n", "a").unwrap()
    ));
}
