//! ServiceAccounts, of which only the existence matters.

use serde::Deserialize;

use super::object;
use crate::{Kind, LeanMeta};

/// A ServiceAccount.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ServiceAccount {
    /// Metadata, without annotations.
    pub metadata: LeanMeta,
}

object!(
    ServiceAccount,
    Kind::namespaced("", "v1", "ServiceAccount", "serviceaccounts")
);
