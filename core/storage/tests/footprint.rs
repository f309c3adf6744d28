//! What an item costs beside its key and its value.

use std::sync::Arc;

use flyball_storage::{Item, Limits, Revision, Store, Transaction};

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

const ITEMS: usize = 20_000;

fn key(number: usize) -> String {
    format!("/registry/pods/default/web-{number:08}")
}

/// Bytes per item that a store holds beside the bytes of its keys; the values take none.
fn cost(store: impl FnOnce() -> Store<Option<Arc<str>>>) -> usize {
    let before = ALLOCATOR.allocated();
    let store = store();
    let bytes = ALLOCATOR.allocated() - before;
    bytes / store.len() - key(0).len()
}

// One test, because everything that runs at the same time would be counted.
#[test]
fn an_item_costs_its_key_its_value_and_little_more() {
    let no_history = || Limits {
        events_max: 0,
        ..Limits::default()
    };
    let grown = cost(|| {
        let mut store = Store::new(no_history());
        for number in 0..ITEMS {
            store
                .commit(Transaction::create(key(number), None))
                .unwrap();
        }
        store
    });
    let restored = cost(|| {
        let items = (0..ITEMS).map(|number| Item {
            key: key(number).into(),
            value: None,
            created: Revision(2),
            modified: Revision(2),
            version: 1,
        });
        Store::restore(Revision(2), items, no_history()).unwrap()
    });
    // An item with a fat pointer for a value is 56 bytes; the key's two counters are 16. Growing in
    // order leaves the nodes of the tree half full.
    assert!(restored <= 85, "{restored} bytes after a restore");
    assert!(grown <= 140, "{grown} bytes after growing in order");
}
