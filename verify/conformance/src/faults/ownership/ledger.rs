//! Who owned what when it went, by a watch of one collection, which tells of owners and dependents in one order.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::cluster::Cluster;
use crate::following::{Following, Metadata, Object, Told};
use crate::poll::until;

#[derive(Default)]
struct Book {
    /// Every object there is.
    there: HashMap<String, Metadata>,
    /// What the harness deletes itself.
    own: HashSet<String>,
    gone: usize,
    /// What went though an owner of it lived.
    wronged: Vec<String>,
    failure: Option<String>,
}

impl Book {
    fn is(&mut self, object: Metadata) {
        self.there.insert(object.uid.clone(), object);
    }

    fn gone(&mut self, object: &Metadata) {
        self.there.remove(&object.uid);
        if self.own.contains(&object.uid) {
            return;
        }
        self.gone += 1;
        // One that was asked to go may wait for its dependents to go first.
        let lives = |uid: &String| {
            let found = self.there.get(uid);
            found.filter(|owner| owner.deletion_timestamp.is_none())
        };
        let owners = object.owner_references.iter();
        if let Some(owner) = owners.map(|owner| &owner.uid).find_map(lives) {
            let (name, owner) = (&object.name, &owner.name);
            self.wronged.push(format!("{name} of {owner}, who lives"));
        }
    }
}

/// A running account of the ConfigMaps of a namespace.
pub(super) struct Ledger {
    book: Arc<Mutex<Book>>,
    _following: Following,
}

impl Ledger {
    pub(super) async fn start(cluster: &Cluster, namespace: &str) -> Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let writer = Arc::clone(&book);
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let following = Following::start(cluster, &path, move |told: Told<Object>| {
            let mut book = lock(&writer);
            match told {
                Told::Is(object) => book.is(object.metadata),
                Told::Gone(object) => book.gone(&object.metadata),
                Told::Lost(why) => book.failure = Some(why),
            }
        });
        let _following = following.await?;
        Ok(Self { book, _following })
    }

    /// Takes note that the harness is about to delete this itself.
    pub(super) fn own(&self, uid: &str) {
        lock(&self.book).own.insert(uid.to_owned());
    }

    /// How many went that the harness did not delete.
    pub(super) fn gone(&self) -> usize {
        lock(&self.book).gone
    }

    /// The names of all there are, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let book = lock(&self.book);
        let mut names: Vec<String> = book.there.values().map(|it| it.name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Waits until exactly these are left.
    pub(super) async fn until_left(&self, wanted: &[String], limit: Duration) -> Result<()> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        let left = until("what has no owner any more to go", limit, async || {
            self.judge()?;
            Ok((self.names() == wanted).then_some(()))
        });
        let left = left.await;
        left.map_err(|error| {
            let names = self.names();
            let missing = wanted.iter().filter(|it| !names.contains(it)).count();
            let too_many = names.iter().filter(|it| !wanted.contains(it)).count();
            error.context(format!("{missing} are missing, {too_many} are too many"))
        })
    }

    /// Fails if anything went whose owner lived.
    pub(super) fn judge(&self) -> Result<()> {
        let book = lock(&self.book);
        if let Some(why) = &book.failure {
            bail!("the ledger's watch failed: {why}");
        }
        match book.wronged.first() {
            None => Ok(()),
            Some(first) => bail!("{} wrongly deleted, first {first}", book.wronged.len()),
        }
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(uid: &str, owners: &[&str], deleting: bool) -> Metadata {
        let owners: Vec<_> = owners.iter().map(|uid| json!({"uid": uid})).collect();
        let deleted = deleting.then_some("2026-01-01T00:00:00Z");
        serde_json::from_value(json!({"name": uid, "uid": uid, "ownerReferences": owners,
            "deletionTimestamp": deleted}))
        .unwrap()
    }

    #[test]
    fn only_what_had_a_living_owner_is_wronged() {
        let mut book = Book::default();
        for it in [object("a", &[], false), object("b", &[], true)] {
            book.is(it);
        }
        book.own.insert("mine".to_owned());
        for (uid, owners, wronged) in [
            ("of nobody who is there", vec!["x"], 0),
            ("of one who goes", vec!["b"], 0),
            ("mine", vec!["a"], 0),
            ("of one who lives", vec!["x", "a"], 1),
        ] {
            book.gone(&object(uid, &owners, false));
            assert_eq!(book.wronged.len(), wronged, "{uid}");
        }
        assert_eq!(book.gone, 3);
    }
}
