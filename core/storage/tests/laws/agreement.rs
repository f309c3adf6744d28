//! The store answers as the naive one does.

use flyball_storage::{
    CommitError, Event, Expect, Item, Key, Limits, Query, Revision, Store, Transaction, Write,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::model::{Model, Noted, Value};

/// Few keys, so that they meet; among them prefixes of each other, and neighbours of a slash.
const KEYS: &[&str] = &[
    "/registry/pods/one/a",
    "/registry/pods/one/ab",
    "/registry/pods/one/b",
    "/registry/pods/one-more/a",
    "/registry/pods/two/a",
    "/registry/nodes/a",
    "/registry/nodes/a/b",
    "/registry/nodes0",
    "/other",
];

const PREFIXES: &[&str] = &[
    "",
    "/",
    "/registry/",
    "/registry/pods",
    "/registry/pods/",
    "/registry/pods/one",
    "/registry/pods/one/",
    "/registry/pods/one/a",
    "/registry/pods/three/",
    "/registry/nodes/",
    "/nowhere/",
];

#[derive(Clone, Debug)]
enum Expected {
    Absent,
    /// As it is now, or so many revisions off.
    Modified(u64),
    Any,
}

#[derive(Clone, Debug)]
enum Call {
    Commit(Vec<(usize, Expected)>, Vec<(usize, Option<Value>)>),
    /// Counted back from the present; a negative number is the future.
    Compact(i64),
    Range {
        prefix: usize,
        after: Option<usize>,
        limit: Option<usize>,
        back: Option<i64>,
    },
    Watch {
        prefix: usize,
        back: i64,
        max: usize,
    },
    Restore,
}

fn call() -> impl Strategy<Value = Call> {
    let key = 0..KEYS.len();
    let prefix = 0..PREFIXES.len();
    let expected = prop_oneof![
        Just(Expected::Absent),
        (0..3u64).prop_map(Expected::Modified),
        Just(Expected::Any),
    ];
    let writes = prop::collection::vec((key.clone(), prop::option::of(any::<Value>())), 0..4);
    let expectations = prop::collection::vec((key.clone(), expected), 0..2);
    let back = || -2..40i64;
    prop_oneof![
        10 => (expectations, writes).prop_map(|(given, writes)| Call::Commit(given, writes)),
        1 => back().prop_map(Call::Compact),
        4 => (prefix.clone(), prop::option::of(key), prop::option::of(0..6usize),
              prop::option::of(back()))
            .prop_map(|(prefix, after, limit, back)| Call::Range { prefix, after, limit, back }),
        4 => (prefix, back(), 0..6usize)
            .prop_map(|(prefix, back, max)| Call::Watch { prefix, back, max }),
        1 => Just(Call::Restore),
    ]
}

fn limits(events_max: usize, bytes_max: usize) -> Limits<Value> {
    Limits {
        events_max,
        bytes_max,
        weigh: |value| usize::from(*value),
    }
}

fn before(now: u64, back: i64) -> u64 {
    now.saturating_add_signed(-back)
}

fn play(events_max: usize, bytes_max: usize, calls: Vec<Call>) -> Result<(), TestCaseError> {
    let mut store = Store::new(limits(events_max, bytes_max));
    let mut model = Model::new(events_max, bytes_max);
    for call in calls {
        match call {
            Call::Commit(given, writes) => commit(&mut store, &mut model, &given, &writes)?,
            Call::Compact(back) => {
                let revision = before(model.revision(), back);
                let answer = store.compact(Revision(revision));
                if revision <= model.revision() {
                    model.oldest = model.oldest.max(revision);
                    prop_assert_eq!(answer, Ok(()));
                } else {
                    prop_assert_eq!(answer, model.check(revision));
                }
            }
            Call::Range {
                prefix,
                after,
                limit,
                back,
            } => {
                let query = Query {
                    prefix: PREFIXES[prefix],
                    after: after.map(|after| KEYS[after]),
                    limit,
                    at: back.map(|back| Revision(before(model.revision(), back))),
                };
                range(&store, &model, &query)?;
            }
            Call::Watch { prefix, back, max } => {
                let after = before(model.revision(), back);
                watch(&store, &model, PREFIXES[prefix], after, max)?;
            }
            Call::Restore => {
                let items: Vec<_> = store.iter().cloned().collect();
                let limits = limits(events_max, bytes_max);
                store = Store::restore(store.revision(), items, limits).map_err(fail)?;
                model.oldest = model.revision();
            }
        }
        prop_assert_eq!(store.revision().0, model.revision());
        prop_assert_eq!(store.oldest().0, model.oldest);
        prop_assert_eq!(store.len(), model.now().len());
        let kept = model.events.iter();
        let kept: Vec<_> = kept
            .filter(|noted| noted.event.revision.0 > model.oldest)
            .collect();
        prop_assert_eq!(store.events_kept(), kept.len());
        let weight: usize = kept.iter().map(|noted| noted.weight).sum();
        prop_assert_eq!(store.events_weight(), weight);
        for key in KEYS {
            prop_assert_eq!(store.get(key), model.now().get(*key));
        }
    }
    Ok(())
}

fn commit(
    store: &mut Store<Value>,
    model: &mut Model,
    given: &[(usize, Expected)],
    writes: &[(usize, Option<Value>)],
) -> Result<(), TestCaseError> {
    let mut transaction = Transaction::new();
    let mut unmet = None;
    for (key, expected) in given {
        let key = KEYS[*key];
        let found = model.now().get(key);
        let (expect, is_met) = match expected {
            Expected::Absent => (Expect::Absent, found.is_none()),
            Expected::Any => (Expect::Any, true),
            Expected::Modified(off) => {
                let seen = found.map_or(Revision(7), |item| Revision(item.modified.0 + off));
                (Expect::ModifiedAt(seen), found.is_some() && *off == 0)
            }
        };
        transaction = transaction.given(key, expect);
        if !is_met && unmet.is_none() {
            unmet = Some((Key::from(key), found.cloned()));
        }
    }
    let mut duplicate = None;
    let mut plain: Vec<(String, Option<Value>)> = Vec::new();
    for (key, value) in writes {
        let key = KEYS[*key].to_owned();
        if plain.iter().any(|(other, _)| *other == key) && duplicate.is_none() {
            duplicate = Some(Key::from(key.as_str()));
        }
        plain.push((key, *value));
    }
    for (key, value) in &plain {
        let write = value.map_or(Write::Delete, Write::Put);
        transaction = transaction.write(key.as_str(), write);
    }
    let answer = store.commit(transaction);
    if let Some(key) = duplicate {
        prop_assert_eq!(answer, Err(CommitError::DuplicateKey { key }));
        return Ok(());
    }
    if let Some((key, found)) = unmet {
        prop_assert_eq!(answer, Err(CommitError::Unmet { key, found }));
        return Ok(());
    }
    let before = model.now().clone();
    model.write(&plain);
    let committed = answer.map_err(fail)?;
    prop_assert_eq!(committed.revision.0, model.revision());
    // The events are the writes that found something to change, in order.
    let mut expected = plain
        .iter()
        .filter(|(key, value)| value.is_some() || before.contains_key(key));
    for event in &committed.events {
        let Some((key, _)) = expected.next() else {
            return Err(fail("an event too many"));
        };
        check_event(event, key, before.get(key), model.now().get(key))?;
        prop_assert_eq!(event.revision.0, model.revision());
    }
    prop_assert!(expected.next().is_none());
    let weight = |event: &Event<Value>| {
        let replaced = event.previous.as_ref();
        let own = size_of::<Event<Value>>() + size_of::<usize>();
        own + event.key().len() + replaced.map_or(0, |item| usize::from(item.value))
    };
    let noted = committed.events.into_iter().map(|event| Noted {
        weight: weight(&event),
        event,
    });
    model.events.extend(noted);
    model.forget();
    Ok(())
}

fn fail(what: impl std::fmt::Debug) -> TestCaseError {
    TestCaseError::fail(format!("{what:?}"))
}

fn check_event(
    event: &Event<Value>,
    key: &str,
    previous: Option<&Item<Value>>,
    item: Option<&Item<Value>>,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&**event.key(), key);
    prop_assert_eq!(event.previous.as_ref(), previous);
    prop_assert_eq!(event.item.as_ref(), item);
    Ok(())
}

fn range(store: &Store<Value>, model: &Model, query: &Query<'_>) -> Result<(), TestCaseError> {
    let at = query.at.map_or(model.revision(), |at| at.0);
    let page = match store.range(query) {
        Ok(page) => page,
        Err(error) => {
            prop_assert_eq!(Err(error), model.check(at));
            return Ok(());
        }
    };
    prop_assert_eq!(model.check(at), Ok(()));
    let all = model.state(at).values();
    let wanted: Vec<_> = all
        .filter(|item| item.key.starts_with(query.prefix))
        .filter(|item| query.after.is_none_or(|after| &*item.key > after))
        .collect();
    let taken = query.limit.unwrap_or(usize::MAX).min(wanted.len());
    prop_assert_eq!(&page.items[..], &wanted[..taken]);
    prop_assert_eq!(page.remaining, wanted.len() - taken);
    prop_assert_eq!(page.revision.0, at);
    Ok(())
}

/// Watches from a revision to the present, in portions.
fn watch(
    store: &Store<Value>,
    model: &Model,
    prefix: &str,
    after: u64,
    max: usize,
) -> Result<(), TestCaseError> {
    let all = model.events.iter().map(|noted| &noted.event);
    let mut wanted = all
        .filter(|event| event.revision.0 > after && event.key().starts_with(prefix))
        .peekable();
    let mut cursor = Revision(after);
    loop {
        let read = match store.events(cursor, prefix, max) {
            Ok(read) => read,
            Err(error) => {
                prop_assert_eq!(cursor.0, after, "a watch that began can go on");
                prop_assert_eq!(Err(error), model.check(after));
                return Ok(());
            }
        };
        prop_assert_eq!(model.check(after), Ok(()));
        for event in &read.events {
            prop_assert_eq!(Some(*event), wanted.next());
            prop_assert!(event.revision <= read.through);
        }
        if let Some(next) = wanted.peek() {
            prop_assert!(
                next.revision > read.through,
                "nothing up to there is missing"
            );
        }
        if read.through.0 == model.revision() {
            prop_assert!(wanted.next().is_none());
            return Ok(());
        }
        prop_assert!(read.through > cursor, "a watch gets on");
        cursor = read.through;
    }
}

proptest! {
    #[test]
    fn the_store_answers_as_one_that_keeps_everything(
        events_max in prop_oneof![0..30usize, Just(usize::MAX)],
        bytes_max in prop_oneof![0..8000usize, Just(usize::MAX)],
        calls in prop::collection::vec(call(), 1..120),
    ) {
        play(events_max, bytes_max, calls)?;
    }
}
