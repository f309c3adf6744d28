//! A node must have left what a pod asks for.
//!
//! Upstream: `plugins/noderesources/fit.go`.

use flyball_api::Text;

use crate::views::Amounts;

/// A resource that does not suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// Its name.
    pub(crate) resource: Text,
    /// The empty node would not have enough either.
    pub(crate) ever: bool,
}

/// What a node lacks for a pod. A pod that asks for nothing of a resource never lacks it, even
/// where others take too much of it.
pub(crate) fn lacks<'a>(
    asked: &'a Amounts,
    used: &'a Amounts,
    allocatable: &'a Amounts,
) -> impl Iterator<Item = Lack> + 'a {
    let own = [
        (
            "cpu",
            asked.cpu_milli,
            used.cpu_milli,
            allocatable.cpu_milli,
        ),
        ("memory", asked.memory, used.memory, allocatable.memory),
        (
            "ephemeral-storage",
            asked.storage,
            used.storage,
            allocatable.storage,
        ),
    ];
    let extended = asked.extended.iter().map(|(name, asked)| {
        let (used, has) = (used.extended(name), allocatable.extended(name));
        (name.as_str(), *asked, used, has)
    });
    let all = own.into_iter().chain(extended);
    all.filter(|(_, asked, used, has)| *asked > 0 && *asked > has.saturating_sub(*used))
        .map(|(name, asked, _, has)| Lack {
            resource: name.into(),
            ever: asked > has,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(json: &str) -> Amounts {
        Amounts::of(&serde_json::from_str(json).unwrap())
    }

    /// Ideas from upstream's `plugins/noderesources/fit_test.go`, TestEnoughRequests.
    #[test]
    fn names_every_resource_that_does_not_suffice() {
        let cases = [
            (
                "no resources requested always fits",
                "{}",
                r#"{"cpu":"10","memory":"20"}"#,
                "",
            ),
            (
                "both fit",
                r#"{"cpu":"1m","memory":"1"}"#,
                r#"{"cpu":"5m","memory":"5"}"#,
                "",
            ),
            ("exactly fits", r#"{"cpu":"5m"}"#, r#"{"cpu":"5m"}"#, ""),
            ("cpu is short", r#"{"cpu":"1m"}"#, r#"{"cpu":"10m"}"#, "cpu"),
            (
                "all are short",
                r#"{"cpu":"1m","memory":"1","ephemeral-storage":"1"}"#,
                r#"{"cpu":"10m","memory":"20","ephemeral-storage":"30"}"#,
                "cpu memory ephemeral-storage",
            ),
            (
                "only memory is asked for",
                r#"{"memory":"1"}"#,
                r#"{"cpu":"50m","memory":"5"}"#,
                "",
            ),
            (
                "devices count",
                r#"{"example.com/a":2}"#,
                r#"{"example.com/a":4}"#,
                "example.com/a",
            ),
            (
                "unknown devices are never there",
                r#"{"example.com/b":1}"#,
                "{}",
                "example.com/b!",
            ),
            ("more than there is", r#"{"cpu":"11m"}"#, "{}", "cpu!"),
        ];
        let has =
            amounts(r#"{"cpu":"10m","memory":"20","ephemeral-storage":"30","example.com/a":5}"#);
        for (what, asked, used, expected) in cases {
            let (asked, used) = (amounts(asked), amounts(used));
            let found: Vec<String> = lacks(&asked, &used, &has)
                .map(|lack| format!("{}{}", lack.resource, if lack.ever { "!" } else { "" }))
                .collect();
            assert_eq!(found.join(" "), expected, "{what}");
        }
    }
}
