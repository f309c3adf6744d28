//! How many pods there must and may be while a Deployment changes.

use flyball_api::resolve_fenceposts;
use flyball_api::views::Deployment;

/// How a Deployment replaces pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// New pods come while old ones go.
    RollingUpdate,
    /// All old pods go before any new one comes.
    Recreate,
    /// One that nobody knows. The server admits none, so it is an error when it matters.
    Unknown(String),
}

impl Strategy {
    pub(super) fn of(deployment: &Deployment) -> Self {
        match deployment.spec.strategy.kind.as_str() {
            "RollingUpdate" => Self::RollingUpdate,
            "Recreate" => Self::Recreate,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// The desired count and how far reality may stray from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// How many pods there are to be.
    pub(super) replicas: i32,
    /// How many more there may be.
    pub(super) surge: i32,
    /// How many fewer may be available.
    pub(super) unavailable: i32,
}

impl Limits {
    /// The limits of a Deployment. Only a rolling update may stray; a limit that is neither a
    /// number nor a percentage (validation lets none pass) allows nothing.
    pub(super) fn of(deployment: &Deployment) -> Self {
        let replicas = deployment.spec.replicas.unwrap_or(1);
        let fixed = Self {
            replicas,
            surge: 0,
            unavailable: 0,
        };
        if Strategy::of(deployment) != Strategy::RollingUpdate {
            return fixed;
        }
        let bounds = deployment.spec.strategy.rolling_update.as_ref();
        let surge = bounds.and_then(|bounds| bounds.max_surge.as_ref());
        let unavailable = bounds.and_then(|bounds| bounds.max_unavailable.as_ref());
        match resolve_fenceposts(surge, unavailable, replicas) {
            Ok(posts) => Self {
                replicas,
                surge: posts.surge,
                unavailable: posts.unavailable.min(replicas),
            },
            Err(_) => fixed,
        }
    }

    /// The most pods there may be.
    pub(super) fn most(&self) -> i32 {
        self.replicas.saturating_add(self.surge)
    }

    /// The fewest pods that must be available.
    pub(super) fn least(&self) -> i32 {
        self.replicas.saturating_sub(self.unavailable)
    }

    /// How large the new ReplicaSet should be that has `new` of `total` pods now.
    ///
    /// Upstream: `NewRSNewReplicas`.
    pub(super) fn size_of_new(
        &self,
        strategy: &Strategy,
        total: i32,
        new: i32,
    ) -> Result<i32, String> {
        match strategy {
            Strategy::RollingUpdate if total >= self.most() => Ok(new),
            Strategy::RollingUpdate => {
                let room = self.most().saturating_sub(total);
                Ok(new.saturating_add(room.min(self.replicas.saturating_sub(new))))
            }
            Strategy::Recreate => Ok(self.replicas),
            Strategy::Unknown(kind) => Err(format!("deployment type {kind} isn't supported")),
        }
    }
}
