//! Counts pods as they come and go, by a watch of its own: a moment's excess is seen even if it is gone at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cluster::Cluster;
use crate::following::{Following, Object, Told};

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Pods that are not terminating, now.
    pub(super) living: usize,
    /// The most that lived at once since the last reset.
    pub(super) living_max: usize,
}

#[derive(Default)]
struct Book {
    living: HashMap<String, bool>,
    count: Count,
    failure: Option<String>,
}

impl Book {
    fn enter(&mut self, uid: &str, lives: Option<bool>) {
        let lived = match lives {
            Some(lives) => self.living.insert(uid.to_owned(), lives),
            None => self.living.remove(uid),
        };
        self.count.living -= usize::from(lived == Some(true));
        self.count.living += usize::from(lives == Some(true));
        self.count.living_max = self.count.living_max.max(self.count.living);
    }
}

/// A running count of a namespace's pods. Dropping it ends it.
pub(super) struct Census {
    book: Arc<Mutex<Book>>,
    _following: Following,
}

impl Census {
    pub(super) async fn start(cluster: &Cluster, namespace: &str) -> Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let writer = Arc::clone(&book);
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let following = Following::start(cluster, &pods, move |told: Told<Object>| {
            let mut book = lock(&writer);
            match told {
                Told::Is(Object { metadata: pod }) => {
                    book.enter(&pod.uid, Some(pod.deletion_timestamp.is_none()));
                }
                Told::Gone(pod) => book.enter(&pod.metadata.uid, None),
                Told::Lost(why) => book.failure = Some(why),
            }
        });
        let _following = following.await?;
        Ok(Self { book, _following })
    }

    /// The count so far. A census that lost its watch says so instead of a wrong number.
    pub(super) fn read(&self) -> Result<Count> {
        let book = lock(&self.book);
        match &book.failure {
            Some(reason) => anyhow::bail!("the census of pods failed: {reason}"),
            None => Ok(book.count),
        }
    }

    /// Forgets the maximum.
    pub(super) fn reset(&self) {
        let mut book = lock(&self.book);
        book.count.living_max = book.count.living;
    }

    /// Waits for the moment at which at least this many pods live; a few milliseconds late at most.
    pub(super) async fn reaches(&self, wanted: usize, limit: Duration) -> Result<()> {
        let watching = async {
            while self.read()?.living < wanted {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            Ok(())
        };
        tokio::time::timeout(limit, watching)
            .await
            .with_context(|| format!("fewer than {wanted} pods after {} s", limit.as_secs()))?
    }

    /// Waits until this many pods live.
    pub(super) async fn until(&self, wanted: usize, limit: Duration) -> Result<()> {
        let reached = crate::poll::until(&format!("{wanted} living pods"), limit, async || {
            Ok((self.read()?.living == wanted).then_some(()))
        })
        .await;
        reached.with_context(|| match self.read() {
            Ok(count) => format!("{count:?}"),
            Err(error) => format!("{error:#}"),
        })
    }
}

fn lock(book: &Mutex<Book>) -> std::sync::MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminating_pod_does_not_live_and_the_maximum_stays() {
        let mut book = Book::default();
        book.enter("a", Some(true));
        book.enter("b", Some(true));
        book.enter("a", Some(false));
        book.enter("b", None);
        assert_eq!(
            book.count,
            Count {
                living: 0,
                living_max: 2
            }
        );
    }
}
