use super::*;

const POD: &str = "/registry/pods/default/web";

fn store() -> Store<&'static str> {
    Store::new(Limits::default())
}

fn keys<V>(items: &[&Item<V>]) -> Vec<String> {
    items.iter().map(|item| item.key.to_string()).collect()
}

#[test]
fn an_empty_store_is_at_revision_one() {
    let store = store();
    assert_eq!(store.revision(), Revision(1));
    let page = store.range(&Query::prefix("/")).unwrap();
    assert_eq!((page.items.len(), page.revision), (0, Revision(1)));
}

#[test]
fn all_writes_of_a_transaction_share_one_revision() {
    let mut store = store();
    let transaction = Transaction::new().put("/a/b/1", "x").put("/a/b/2", "y");
    let committed = store.commit(transaction).unwrap();
    assert_eq!(committed.revision, Revision(2));
    assert_eq!(store.get("/a/b/1").unwrap().modified, Revision(2));
    assert_eq!(store.get("/a/b/2").unwrap().modified, Revision(2));
    assert_eq!(store.revision(), Revision(2));
}

#[test]
fn a_transaction_that_changes_nothing_leaves_the_revision_alone() {
    let mut store = store();
    for transaction in [
        Transaction::new(),
        Transaction::new().delete("/a/b/absent"),
        Transaction::new().given("/a/b/absent", Expect::Absent),
    ] {
        let committed = store.commit(transaction).unwrap();
        assert_eq!(
            (committed.revision, committed.events),
            (Revision(1), vec![])
        );
    }
}

#[test]
fn an_unmet_expectation_names_the_key_and_what_is_there() {
    let mut store = store();
    store.commit(Transaction::create(POD, "1")).unwrap();
    let there = store.get(POD).unwrap().clone();
    let absent: Key = "/a/b/absent".into();
    for (transaction, key, found) in [
        (Transaction::create(POD, "2"), POD, Some(there.clone())),
        (
            Transaction::update(POD, Revision(1), "2"),
            POD,
            Some(there.clone()),
        ),
        (Transaction::remove(POD, Revision(3)), POD, Some(there)),
        (
            Transaction::update(absent.clone(), Revision(2), "2"),
            &*absent,
            None,
        ),
    ] {
        let key = key.into();
        let error = store
            .commit(transaction.put("/a/b/other", "3"))
            .unwrap_err();
        assert_eq!(error, CommitError::Unmet { key, found });
    }
    assert_eq!((store.revision(), store.len()), (Revision(2), 1));
}

#[test]
fn a_key_written_twice_in_one_transaction_is_refused() {
    let mut store = store();
    let error = store
        .commit(Transaction::new().put(POD, "1").delete(POD))
        .unwrap_err();
    assert_eq!(error, CommitError::DuplicateKey { key: POD.into() });
    assert!(store.is_empty());
}

#[test]
fn an_item_knows_when_it_was_created_and_how_often_it_was_put() {
    let mut store = store();
    let life = |store: &Store<_>| {
        let item = store.get(POD).unwrap();
        (item.created.0, item.modified.0, item.version)
    };
    store.commit(Transaction::create(POD, "1")).unwrap();
    assert_eq!(life(&store), (2, 2, 1));
    store.commit(Transaction::new().put(POD, "1")).unwrap();
    assert_eq!(life(&store), (2, 3, 2), "a put of the same value counts");
    store.commit(Transaction::remove(POD, Revision(3))).unwrap();
    store.commit(Transaction::create(POD, "2")).unwrap();
    assert_eq!(life(&store), (5, 5, 1));
}

#[test]
fn pages_of_one_revision_do_not_see_later_changes() {
    let mut store = store();
    for key in ["/a/b/1", "/a/b/2", "/a/b/3", "/a/c/1"] {
        store.commit(Transaction::create(key, "old")).unwrap();
    }
    let pods = Query::prefix("/a/b/");
    let first = store.range(&pods.limit(1)).unwrap();
    assert_eq!(
        (keys(&first.items), first.remaining),
        (vec!["/a/b/1".into()], 2)
    );
    let (then, last) = (first.revision, first.items[0].key.clone());
    let change = Transaction::new()
        .delete("/a/b/2")
        .put("/a/b/25", "new")
        .put("/a/b/3", "new");
    store.commit(change).unwrap();
    let second = store.range(&pods.after(&last).at(then)).unwrap();
    assert_eq!(keys(&second.items), ["/a/b/2", "/a/b/3"]);
    assert!(second.items.iter().all(|item| item.value == "old"));
    let now = store.range(&pods.after(&last)).unwrap();
    assert_eq!(keys(&now.items), ["/a/b/25", "/a/b/3"]);
}

#[test]
fn the_past_is_readable_back_to_the_compaction_and_the_future_never() {
    let mut store = store();
    for value in ["1", "2", "3"] {
        store.commit(Transaction::new().put(POD, value)).unwrap();
    }
    store.compact(Revision(3)).unwrap();
    store.compact(Revision(2)).unwrap();
    let at = |revision| Query::prefix(POD).at(Revision(revision));
    let compacted = ReadError::Compacted {
        oldest: Revision(3),
    };
    let future = ReadError::Future {
        current: Revision(4),
    };
    assert_eq!(store.range(&at(2)).unwrap_err(), compacted);
    assert_eq!(store.range(&at(3)).unwrap().items[0].value, "2");
    assert_eq!(store.range(&at(5)).unwrap_err(), future);
    assert_eq!(store.events(Revision(2), "/", 9).unwrap_err(), compacted);
    assert_eq!(store.events(Revision(3), "/", 9).unwrap().events.len(), 1);
    assert_eq!(store.events(Revision(5), "/", 9).unwrap_err(), future);
    assert_eq!(store.compact(Revision(5)).unwrap_err(), future);
}

#[test]
fn a_restored_store_goes_on_where_the_other_was() {
    let mut store = store();
    store.commit(Transaction::create(POD, "1")).unwrap();
    store.commit(Transaction::create("/a/b/c", "1")).unwrap();
    let items: Vec<_> = store.iter().cloned().collect();
    let mut copy = Store::restore(store.revision(), items, Limits::default()).unwrap();
    let writes = vec![(Key::from(POD), Write::Put("2"))];
    copy.replay(Revision(4), writes).unwrap();
    store.commit(Transaction::new().put(POD, "2")).unwrap();
    assert!(store.iter().eq(copy.iter()));
    assert_eq!(copy.oldest(), Revision(3));
    assert_eq!(copy.events(Revision(3), "/", 9).unwrap().events.len(), 1);
}

#[test]
fn a_replay_must_be_the_transaction_that_comes_next() {
    let mut store = store();
    let put = || vec![(Key::from(POD), Write::Put("1"))];
    for given in [Revision(1), Revision(3)] {
        let expected = Revision(2);
        let error = store.replay(given, put()).unwrap_err();
        assert_eq!(error, ReplayError::OutOfOrder { expected, given });
    }
    let revision = Revision(2);
    let nothing = vec![(Key::from(POD), Write::Delete)];
    let error = store.replay(revision, nothing).unwrap_err();
    assert_eq!(error, ReplayError::Empty { revision });
    let twice = [put(), put()].concat();
    let key = POD.into();
    let error = store.replay(revision, twice).unwrap_err();
    assert_eq!(error, ReplayError::DuplicateKey { revision, key });
    store.replay(revision, put()).unwrap();
}

#[test]
fn items_that_contradict_themselves_make_no_store() {
    let item = |created, modified, version| Item {
        key: POD.into(),
        value: "",
        created: Revision(created),
        modified: Revision(modified),
        version,
    };
    let restore = |revision, items: &[Item<&'static str>]| {
        let items = items.to_vec();
        Store::restore(Revision(revision), items, Limits::default()).map(|store| store.len())
    };
    assert_eq!(restore(5, &[item(2, 5, 3)]), Ok(1));
    assert_eq!(
        restore(0, &[]),
        Err(RestoreError::RevisionInvalid(Revision(0)))
    );
    for bad in [
        vec![item(2, 6, 1)],
        vec![item(4, 3, 1)],
        vec![item(1, 3, 1)],
        vec![item(2, 3, 0)],
        vec![item(2, 3, 1), item(2, 3, 1)],
    ] {
        assert!(restore(5, &bad).is_err(), "{bad:?}");
    }
}
