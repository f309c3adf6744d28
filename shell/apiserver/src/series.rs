//! Series of a metric that can be taken away: those of a custom kind end with its definition.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::family::{Family, MetricConstructor};

/// The labels of a series that says which kind it is about.
pub(crate) trait OfKind: Clone + Hash + Eq {
    /// Its group, version and resource; the last is empty if it is about none.
    fn kind(&self) -> (&str, &str, &str);
}

/// The labels that a metric has series for.
#[derive(Debug)]
pub(crate) struct Series<L>(Mutex<HashSet<L>>);

impl<L> Default for Series<L> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<L: OfKind> Series<L> {
    /// Notes that there is a series with these labels.
    pub(crate) fn note(&self, labels: &L) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(labels) {
            known.insert(labels.clone());
        }
    }

    /// Takes away the series of kinds that are not served.
    pub(crate) fn retain<M, C: MetricConstructor<M>>(
        &self,
        family: &Family<L, M, C>,
        is_served: &impl Fn((&str, &str, &str)) -> bool,
    ) where
        L: std::fmt::Debug,
    {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|labels| {
            let kind = labels.kind();
            let stays = kind.2.is_empty() || is_served(kind);
            if !stays {
                family.remove(labels);
            }
            stays
        });
    }
}
