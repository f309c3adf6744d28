//! Whom the sender of a request wants to be, as its headers say.
//!
//! Upstream: `apiserver/pkg/endpoints/filters/impersonation/constrained_impersonation.go`.

use flyball_api::Text;
use flyball_rbac::User;
use flyball_registry::Failure;
use http::{HeaderMap, HeaderValue};

use flyball_https::unescaped;

const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUP: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";

/// Whom the sender wants to be; `None` if they want to be themselves.
pub(crate) fn wanted(headers: &HeaderMap) -> Result<Option<User>, Failure> {
    let text = |value: &HeaderValue| Text::from(String::from_utf8_lossy(value.as_bytes()).as_ref());
    let first = |name: &str| headers.get(name).map(text).unwrap_or_default();
    let mut user = User {
        name: first(USER),
        uid: first(UID),
        groups: headers.get_all(GROUP).iter().map(text).collect(),
        ..User::default()
    };
    for name in headers.keys() {
        if let Some(key) = name.as_str().strip_prefix(EXTRA) {
            let key = unescaped(key, false).unwrap_or_else(|| key.to_owned());
            let values = headers.get_all(name).iter().map(text);
            user.extra.entry(key.into()).or_default().extend(values);
        }
    }
    if !user.name.is_empty() {
        return Ok(Some(user));
    }
    if user == User::default() {
        return Ok(None);
    }
    let message = format!(
        "requested {} without impersonating a user name",
        shown(&user)
    );
    Err(Failure::bad_request(message))
}

/// A user as Go shows its structures, which is what upstream tells.
fn shown(user: &User) -> String {
    let list = |values: &[Text]| {
        let all: Vec<String> = values
            .iter()
            .map(|one| format!("{:?}", one.as_str()))
            .collect();
        format!("[]string{{{}}}", all.join(", "))
    };
    let groups = match user.groups.as_slice() {
        [] => "[]string(nil)".to_owned(),
        groups => list(groups),
    };
    let extra: Vec<String> = user
        .extra
        .iter()
        .map(|(key, values)| format!("{:?}:{}", key.as_str(), list(values)))
        .collect();
    let extra = match extra.is_empty() {
        true => "map[string][]string(nil)".to_owned(),
        false => format!("map[string][]string{{{}}}", extra.join(", ")),
    };
    format!(
        "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{groups}, Extra:{extra}}}",
        user.uid.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, &str)]) -> Result<Option<User>, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        wanted(&headers).map_err(|failure| failure.0.message.to_string())
    }

    #[test]
    fn headers_say_whom_one_wants_to_be() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[(USER, "")]), Ok(None));
        let user = read(&[
            (USER, "bob"),
            (UID, "7"),
            (GROUP, "a"),
            (GROUP, "b"),
            ("impersonate-extra-foo%2fbar", "x"),
            ("impersonate-extra-foo%2fbar", "y"),
        ]);
        let expected = User {
            uid: "7".into(),
            extra: [("foo/bar".into(), vec!["x".into(), "y".into()])].into(),
            ..User::of_groups("bob", &["a", "b"])
        };
        assert_eq!(user, Ok(Some(expected)));
    }

    #[test]
    fn nobody_can_be_a_group_alone() {
        for (pair, told) in [
            (
                (GROUP, "a"),
                "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"a\"}, \
                 Extra:map[string][]string(nil)} without impersonating a user name",
            ),
            (
                ("impersonate-extra-a", "b"),
                "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string(nil), \
                 Extra:map[string][]string{\"a\":[]string{\"b\"}}} without impersonating a user name",
            ),
        ] {
            assert_eq!(read(&[pair]), Err(told.to_owned()));
        }
    }
}
