//! Users: who asks, as authentication found out.

use std::collections::BTreeMap;

use flyball_api::{Text, null_default};
use serde::{Deserialize, Serialize};

/// The group whose members may do anything, before any role is looked at.
pub const MASTERS: &str = "system:masters";
/// The group of everybody who could be authenticated.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody who could not.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The group of all service accounts.
pub const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// Who asks: `authenticationv1.UserInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct User {
    /// The name that roles are bound to.
    #[serde(
        rename = "username",
        skip_serializing_if = "Text::is_empty",
        deserialize_with = "null_default"
    )]
    pub name: Text,
    /// The identity behind the name, if there is one.
    #[serde(
        skip_serializing_if = "Text::is_empty",
        deserialize_with = "null_default"
    )]
    pub uid: Text,
    /// The groups that roles are bound to.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub groups: Vec<Text>,
    /// What else authentication found out; no role depends on it.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_default"
    )]
    pub extra: BTreeMap<Text, Vec<Text>>,
}

impl User {
    /// A user of these groups.
    pub fn of_groups(name: &str, groups: &[&str]) -> User {
        User {
            name: name.into(),
            groups: groups.iter().copied().map(Text::from).collect(),
            ..User::default()
        }
    }

    /// A service account that has shown its token.
    pub fn service_account(namespace: &str, name: &str, uid: &str) -> User {
        let own = format!("{SERVICE_ACCOUNTS}:{namespace}");
        User {
            name: service_account_name(namespace, name),
            uid: uid.into(),
            ..User::of_groups("", &[SERVICE_ACCOUNTS, &own, AUTHENTICATED])
        }
    }

    /// Whether the user may do anything, before any role is looked at.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }
}

/// The user name of a service account.
pub(crate) fn service_account_name(namespace: &str, name: &str) -> Text {
    format!("system:serviceaccount:{namespace}:{name}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_service_account_belongs_to_its_namespace_and_to_all() {
        let user = User::service_account("ns", "sa", "1");
        assert_eq!(
            serde_json::to_value(&user).unwrap(),
            json!({
                "username": "system:serviceaccount:ns:sa",
                "uid": "1",
                "groups": [
                    "system:serviceaccounts",
                    "system:serviceaccounts:ns",
                    "system:authenticated",
                ],
            })
        );
        assert!(!user.is_master());
        assert!(User::of_groups("x", &["y", MASTERS]).is_master());
    }

    #[test]
    fn what_is_null_is_not_there() {
        let null = json!({"username": null, "uid": null, "groups": null, "extra": null});
        let user: User = serde_json::from_value(null).unwrap();
        assert_eq!(user, User::default());
    }
}
