//! A bound on owners that update: the oldest are put together.
//!
//! Every program that ever wrote to an object would stay in its ledger otherwise. Appliers are not
//! bounded, for each of them must find its own fields again.

use std::collections::BTreeMap;

use flyball_api::{Text, Timestamp};

use super::ledger::{Ledger, Operation, Owner};

/// How many owners that update an object may have.
const UPDATERS_MAX: usize = 10;
/// Who owns what the oldest owned.
const ANCIENT: &str = "ancient-changes";

/// Puts the oldest updaters together, by version, until there are few enough (upstream's
/// `capmanagers.go`).
pub(super) fn cap(ledger: &mut Ledger) {
    let mut updaters: Vec<(i64, Owner)> = ledger
        .0
        .iter()
        .filter(|(owner, _)| owner.operation == Operation::Update)
        .map(|(owner, owned)| (owned.time.map_or(0, Timestamp::unix_seconds), owner.clone()))
        .collect();
    let mut length = updaters.len();
    updaters.sort();

    let mut first_of_version: BTreeMap<Text, Owner> = BTreeMap::new();
    for (_, owner) in updaters {
        if length <= UPDATERS_MAX {
            return;
        }
        let Some(version) = ledger.0.get(&owner).map(|owned| owned.api_version.clone()) else {
            continue;
        };
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, owner);
            continue;
        };
        let ancient = Owner::updater(ANCIENT, &version, "");
        if !ledger.0.contains_key(&ancient)
            && let Some(owned) = ledger.0.remove(first)
        {
            ledger.0.insert(ancient.clone(), owned);
        }
        let Some(joining) = ledger.0.remove(&owner) else {
            continue;
        };
        let bucket = ledger.0.entry(ancient).or_insert_with(|| joining.clone());
        bucket.fields = bucket.fields.union(&joining.fields);
        // It is the more recent one.
        bucket.time = joining.time;
        length -= 1;
    }
}
