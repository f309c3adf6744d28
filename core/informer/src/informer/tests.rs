//! A whole informer against a model of the server that drops, delays, repeats, forgets and lies
//! dead, but never invents: whatever happens, the cache is a state that the server had, changes add
//! up, and once the trouble ends the cache is what the server has.
//!
//! The server may also be restored from a backup. The cache is then in doubt until a consistent list
//! is complete. From that moment on it is a state of the new history.

mod server;

use proptest::prelude::*;

use super::*;
use crate::testing::Thing;
use server::{Server, State, Stream, bookmark, error, error_line};

#[derive(Clone, Debug)]
enum Op {
    Put(usize),
    Delete(usize),
    Recreate(usize),
    /// Something happens to another kind.
    Elsewhere,
    /// The server forgets what happened up to now.
    Compact,
    Pump(usize),
    Repeat,
    Bookmark,
    Break(Trouble),
    FailNext(usize),
    Lag(u64),
    Restart,
    Relist,
    Reopen,
    /// The server goes back by so many versions; the connection may survive.
    Restore(u64, bool),
    Take(usize),
    Resync,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    End,
    Reset,
    Garbage,
    HalfLine,
    Foreign,
    Busy,
    Internal,
    Expired,
    Silence,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const FAILURES: [(u16, &str); 5] = [
    (429, "TooManyRequests"),
    (500, "InternalError"),
    (503, "ServiceUnavailable"),
    (403, "Forbidden"),
    (410, "Expired"),
];

fn op() -> impl Strategy<Value = Op> {
    use Trouble::*;
    let name = || 0..NAMES.len();
    let troubles = vec![
        End, Reset, Garbage, HalfLine, Foreign, Busy, Internal, Expired, Silence,
    ];
    prop_oneof![
        6 => name().prop_map(Op::Put),
        3 => name().prop_map(Op::Delete),
        1 => name().prop_map(Op::Recreate),
        1 => Just(Op::Elsewhere),
        1 => Just(Op::Compact),
        8 => (1..8usize).prop_map(Op::Pump),
        1 => Just(Op::Repeat),
        1 => Just(Op::Bookmark),
        2 => prop::sample::select(troubles).prop_map(Op::Break),
        1 => (0..FAILURES.len()).prop_map(Op::FailNext),
        1 => (0..4u64).prop_map(Op::Lag),
        1 => Just(Op::Restart),
        1 => Just(Op::Relist),
        1 => Just(Op::Reopen),
        1 => (1..12u64, any::<bool>()).prop_map(|(back, survives)| Op::Restore(back, survives)),
        3 => (1..4usize).prop_map(Op::Take),
        1 => Just(Op::Resync),
    ]
}

/// The request under way.
enum Request {
    None,
    List(crate::ListRequest),
    Watch(crate::WatchRequest),
    Stream(Stream),
}

/// Informer, server, the wire between them, and a consumer that believes what it is told.
struct World {
    server: Server,
    informer: Informer<Thing>,
    request: Request,
    fail_next: Option<usize>,
    last_line: Option<String>,
    now: Duration,
    told: State,
    /// Whether the cache may hold something of a lost history.
    in_doubt: bool,
    /// Whether the list under way is consistent, and was begun in the present history.
    consistent: bool,
}

impl World {
    fn new(streams: bool) -> Self {
        let mut world = Self {
            server: Server::new(streams),
            informer: Informer::new(),
            request: Request::None,
            fail_next: None,
            last_line: None,
            now: Duration::ZERO,
            told: State::new(),
            in_doubt: false,
            consistent: false,
        };
        world.give(Input::Start);
        world
    }

    fn give(&mut self, input: Input<'_>) {
        self.now += Duration::from_millis(300);
        let stepped = self.informer.step(input, self.now, 0.5);
        if stepped.sign.is_some() {
            assert!(self.server.restores > 0, "{:?}", stepped.sign);
        }
        if stepped.listed {
            self.in_doubt &= !self.consistent;
        }
        match stepped.command {
            None => {}
            Some(Command::List(request)) => {
                let is_first = request.continue_token.is_none();
                self.consistent = match is_first {
                    true => request.resource_version.is_none(),
                    false => self.consistent,
                };
                self.request = Request::List(request);
            }
            Some(Command::Watch(request)) => {
                self.consistent =
                    request.send_initial_events && request.resource_version.is_empty();
                self.request = Request::Watch(request);
            }
            Some(Command::Wait(_)) => self.request = Request::None,
        }
        self.check_view();
    }

    /// The cache is exactly what the server had at the version that the cache claims.
    fn check_view(&self) {
        let view = self.informer.store();
        assert_eq!(view.is_complete(), !view.seen().is_empty());
        if self.in_doubt {
            return;
        }
        let cached: Vec<_> = view.list("").map(|thing| (**thing).clone()).collect();
        if view.seen().is_empty() {
            assert!(cached.is_empty());
            return;
        }
        let state = self.server.state_at(view.seen().parse().unwrap());
        assert!(
            cached.iter().eq(state.values()),
            "{cached:?} at {}: {state:?}",
            view.seen()
        );
        for owner in ["x", "y"] {
            let found = view
                .indexed("owner", owner)
                .map(|thing| thing.name.as_str());
            let owned = state.values().filter(|thing| thing.owners[0] == owner);
            assert!(found.eq(owned.map(|thing| thing.name.as_str())));
        }
    }

    fn fail(&mut self, failure: flyball_api::ApiError) {
        self.request = Request::None;
        self.give(Input::Failed(&failure));
    }

    /// Lets the wire or the clock bring one thing; `false` if there is nothing to bring.
    fn pump(&mut self) -> bool {
        let request = std::mem::replace(&mut self.request, Request::None);
        let failure = match request {
            Request::List(_) | Request::Watch(_) => self.fail_next.take(),
            _ => None,
        };
        if let Some(at) = failure {
            self.fail(error(FAILURES[at].0, FAILURES[at].1, "so it is"));
            return true;
        }
        match request {
            Request::None => {
                self.now = self.now.max(self.informer.deadline().unwrap());
                self.give(Input::Elapsed);
            }
            Request::List(request) => match self.server.list(&request) {
                Ok(body) => self.give(Input::Page(body.as_bytes())),
                Err(failure) => self.fail(failure),
            },
            Request::Watch(request) => match self.server.watch(&request) {
                Ok(stream) => {
                    self.request = Request::Stream(stream);
                    self.last_line = None;
                    self.give(Input::WatchStarted);
                }
                Err(failure) => self.fail(failure),
            },
            Request::Stream(mut stream) => {
                let line = self.server.next_line(&mut stream);
                self.request = Request::Stream(stream);
                let Some(line) = line else {
                    return false;
                };
                self.give(Input::Event(line.as_bytes()));
                self.last_line = Some(line);
            }
        }
        true
    }

    fn trouble(&mut self, trouble: Trouble) {
        let Request::Stream(_) = &self.request else {
            return;
        };
        let line = Thing::new("n", "ghost")
            .at(self.server.version + 1)
            .event("ADDED");
        let line = match trouble {
            Trouble::End => return self.give(Input::WatchEnded),
            Trouble::Reset => return self.fail(flyball_api::ApiError::transport("reset")),
            Trouble::Silence => {
                self.now = self.informer.deadline().unwrap();
                return self.give(Input::Elapsed);
            }
            Trouble::Garbage => "\u{0}<html>".to_owned(),
            Trouble::HalfLine => line[..line.len() / 2].to_owned(),
            Trouble::Foreign => line.replace("Thing", "Pod"),
            Trouble::Busy => error_line(&error(429, "TooManyRequests", "busy")),
            Trouble::Internal => error_line(&error(500, "InternalError", "oops")),
            Trouble::Expired => error_line(&error(410, "Expired", "too old")),
        };
        self.give(Input::Event(line.as_bytes()));
    }

    /// Takes changes and checks that they add up.
    fn take(&mut self, max: usize) {
        let mut changes = Vec::new();
        self.informer.changes(&mut changes, max);
        assert!(changes.len() <= max && self.informer.changes_pending() <= NAMES.len());
        for change in changes {
            let states = change.of::<Thing>().unwrap();
            let name = change.name.name.to_string();
            let told = self.told.remove(&name);
            match (told.as_ref(), states.old, states.new) {
                // It came and went unseen.
                (None, Some(_), None) => {}
                (told, old, _) => assert_eq!(told, old.map(|old| &**old)),
            }
            if change.resync {
                assert_eq!(states.old, states.new);
            }
            if let Some(new) = states.new {
                self.told.insert(name, (**new).clone());
            }
        }
    }

    fn act(&mut self, op: Op) {
        match op {
            Op::Put(name) => self.server.put(NAMES[name]),
            Op::Delete(name) => self.server.delete(NAMES[name]),
            Op::Recreate(name) => {
                self.server.delete(NAMES[name]);
                self.server.put(NAMES[name]);
            }
            Op::Elsewhere => self.server.version += 1,
            Op::Compact => self.server.compacted = self.server.version,
            Op::Pump(times) => (0..times).for_each(|_| {
                self.pump();
            }),
            Op::Repeat => {
                if let (Request::Stream(_), Some(line)) = (&self.request, self.last_line.clone()) {
                    self.give(Input::Event(line.as_bytes()));
                }
            }
            Op::Bookmark => {
                if let Request::Stream(stream) = &mut self.request
                    && stream.lines.is_empty()
                {
                    let line = bookmark(stream.sent, "");
                    self.give(Input::Event(line.as_bytes()));
                }
            }
            Op::Break(trouble) => self.trouble(trouble),
            Op::FailNext(failure) => self.fail_next = Some(failure),
            Op::Lag(lag) => self.server.lag = lag,
            Op::Restart => self.give(Input::Start),
            Op::Relist => self.give(Input::Relist),
            Op::Reopen => self.give(Input::Reopen),
            Op::Restore(back, survives) => self.restore(back, survives),
            Op::Take(max) => self.take(max),
            Op::Resync => self.informer.resync(),
        }
    }

    fn restore(&mut self, versions_back: u64, survives: bool) {
        self.server.restore(versions_back);
        self.in_doubt = true;
        self.consistent &= match &self.request {
            Request::List(request) => request.continue_token.is_none(),
            Request::Watch(_) => true,
            Request::None | Request::Stream(_) => false,
        };
        let version = self.server.version;
        match &mut self.request {
            Request::Stream(stream) if survives => stream.sent = stream.sent.min(version),
            Request::Stream(_) => self.fail(flyball_api::ApiError::transport("reset")),
            Request::None | Request::List(_) | Request::Watch(_) => {}
        }
    }

    /// No more trouble: everything must come right, and soon. Where the server has overtaken the
    /// lost history, versions show nothing: only a relist helps.
    fn settle(&mut self) {
        self.fail_next = None;
        if self.in_doubt {
            self.give(Input::Relist);
        }
        for _ in 0..200 {
            if self.pump() {
                continue;
            }
            self.take(usize::MAX);
            let state = self.server.state();
            let view = self.informer.store();
            assert!(view.list("").map(|thing| &**thing).eq(state.values()));
            assert_eq!(self.told, state);
            let readiness = self.informer.readiness(self.now);
            assert!(readiness.synced && !self.in_doubt);
            assert_eq!(readiness.out_of_touch, None);
            return;
        }
        panic!("still not settled");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn the_cache_is_always_a_state_of_the_server_and_ends_up_as_its_present_one(
        streams in any::<bool>(),
        ops in prop::collection::vec(op(), 1..80),
    ) {
        let mut world = World::new(streams);
        for op in ops {
            world.act(op);
        }
        world.settle();
        // It also stays right, by the watch alone.
        world.act(Op::Recreate(0));
        world.act(Op::Put(1));
        world.settle();
    }
}

#[test]
fn repeated_and_outdated_events_do_not_move_the_cache_back() {
    let mut world = World::new(true);
    world.server.put("a");
    world.settle();
    let first = world.server.state()["a"].clone();
    world.act(Op::Recreate(0));
    world.settle();
    let last = world.server.state()["a"].clone();
    for line in [
        last.event("ADDED"),
        last.event("MODIFIED"),
        first.event("MODIFIED"),
        first.clone().at(3).event("DELETED"),
    ] {
        world
            .informer
            .step(Input::Event(line.as_bytes()), world.now, 0.5);
        assert_eq!(**world.informer.store().get("n", "a").unwrap(), last);
    }
    assert_eq!(world.informer.changes_pending(), 0);
}

#[test]
fn a_restored_server_is_noticed_by_the_watch_and_its_state_replaces_the_cache() {
    for (streams, survives) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut world = World::new(streams);
        world.server.put("a");
        world.server.put("b");
        world.settle();
        world.act(Op::Put(0));
        world.act(Op::Put(2));
        world.settle();
        assert_eq!(world.informer.version(), "5");
        world.restore(2, survives);
        // The very version that "a" had in the lost history, but another state.
        world.act(Op::Put(0));
        assert!(world.in_doubt);
        (0..20).for_each(|_| {
            world.pump();
        });
        assert!(!world.in_doubt);
        assert_eq!(world.informer.version(), "4");
        world.settle();
    }
}

#[test]
fn readiness_says_why_and_for_how_long() {
    let mut world = World::new(true);
    let at = |world: &World| world.informer.readiness(world.now + Duration::from_secs(9));
    assert_eq!(
        at(&world).why.as_deref(),
        Some("waiting for the first list")
    );
    world.fail_next = Some(3);
    world.pump();
    assert!(
        at(&world)
            .why
            .unwrap()
            .starts_with("things.test: streamed list failed: so it is")
    );
    world.now += Duration::from_secs(100);
    world.settle();
    assert!(at(&world).since < Duration::from_secs(100));
    assert_eq!(
        (at(&world).synced, at(&world).why, at(&world).last_error),
        (true, None, None)
    );
    world.trouble(Trouble::Internal);
    let broken = at(&world);
    assert!(broken.synced && broken.last_error.unwrap().contains("watch failed: oops"));
    assert_eq!(broken.since, Duration::from_secs(9));
    world.settle();
    assert_eq!(at(&world).last_error, None);
}

#[test]
fn a_resync_delivers_every_object_without_asking_the_server() {
    let mut world = World::new(true);
    world.server.put("a");
    world.server.put("b");
    world.settle();
    world.informer.resync();
    let mut changes = Vec::new();
    world.informer.changes(&mut changes, 10);
    assert!(changes.len() == 2 && changes.iter().all(|change| change.resync));
}
