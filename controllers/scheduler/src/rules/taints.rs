//! Taints keep pods away from nodes, tolerations let them in nevertheless.
//!
//! Upstream: `plugins/tainttoleration`, `plugins/nodeunschedulable`, `api/core/v1/toleration.go`.

use flyball_api::Text;
use serde::Deserialize;

use crate::views::Taint;

/// What a pod bears.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Toleration {
    key: Option<Text>,
    operator: Option<Text>,
    value: Option<Text>,
    effect: Option<Text>,
}

/// The taint that a cordoned node counts as having.
const CORDONED: &str = "node.kubernetes.io/unschedulable";

impl Toleration {
    fn tolerates(&self, taint: &Taint) -> bool {
        let said = |text: &Option<Text>| text.clone().filter(|text| !text.is_empty());
        let agrees = |mine: &Option<Text>, its: &Text| said(mine).is_none_or(|mine| mine == *its);
        if !agrees(&self.effect, &taint.effect) || !agrees(&self.key, &taint.key) {
            return false;
        }
        match self.operator.as_deref().unwrap_or_default() {
            "" | "Equal" => self.value.as_deref().unwrap_or_default() == taint.value,
            "Exists" => true,
            // `Lt` and `Gt` sleep behind a feature gate that is off by default.
            _ => false,
        }
    }
}

fn is_tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|it| it.tolerates(taint))
}

/// Whether some taint keeps the pod away.
pub(crate) fn keep_away(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    let hard = taints
        .iter()
        .filter(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"));
    hard.into_iter()
        .any(|taint| !is_tolerated(taint, tolerations))
}

/// How many taints would rather have the pod elsewhere.
pub(crate) fn count_disliked(taints: &[Taint], tolerations: &[Toleration]) -> i64 {
    let soft = taints
        .iter()
        .filter(|taint| taint.effect == "PreferNoSchedule");
    let disliked = soft.filter(|taint| !is_tolerated(taint, tolerations));
    disliked.map(|_| 1).sum()
}

/// Whether the pod goes to cordoned nodes.
pub(crate) fn enters_cordoned(tolerations: &[Toleration]) -> bool {
    let taint = Taint {
        key: CORDONED.into(),
        effect: "NoSchedule".into(),
        ..Taint::default()
    };
    is_tolerated(&taint, tolerations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taints(json: &str) -> Vec<Taint> {
        serde_json::from_str(json).unwrap()
    }

    fn tolerations(json: &str) -> Vec<Toleration> {
        serde_json::from_str(json).unwrap()
    }

    /// Ideas from upstream's `plugins/tainttoleration/taint_toleration_test.go`,
    /// TestTaintTolerationFilter, and `api/core/v1/toleration_test.go`.
    #[test]
    fn a_taint_keeps_away_who_does_not_tolerate_it() {
        let dedicated = r#"[{"key":"dedicated","value":"user1","effect":"NoSchedule"}]"#;
        let cases = [
            ("no toleration", dedicated, "[]", true),
            (
                "the same value",
                dedicated,
                r#"[{"key":"dedicated","operator":"Equal","value":"user1","effect":"NoSchedule"}]"#,
                false,
            ),
            (
                "equal is the default",
                dedicated,
                r#"[{"key":"dedicated","value":"user1"}]"#,
                false,
            ),
            (
                "another value",
                dedicated,
                r#"[{"key":"dedicated","value":"user2"}]"#,
                true,
            ),
            (
                "existence suffices",
                dedicated,
                r#"[{"key":"dedicated","operator":"Exists"}]"#,
                false,
            ),
            (
                "everything is borne",
                dedicated,
                r#"[{"operator":"Exists"}]"#,
                false,
            ),
            (
                "another effect",
                dedicated,
                r#"[{"key":"dedicated","operator":"Exists","effect":"NoExecute"}]"#,
                true,
            ),
            (
                "an operator of the future",
                dedicated,
                r#"[{"key":"dedicated","operator":"Gt"}]"#,
                true,
            ),
            (
                "a mere wish",
                r#"[{"key":"a","effect":"PreferNoSchedule"}]"#,
                "[]",
                false,
            ),
            (
                "who is thrown out need not come",
                r#"[{"key":"a","effect":"NoExecute"}]"#,
                "[]",
                true,
            ),
            (
                "every taint counts",
                r#"[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoSchedule"}]"#,
                r#"[{"key":"a","operator":"Exists"}]"#,
                true,
            ),
        ];
        for (what, on_node, borne, away) in cases {
            assert_eq!(
                keep_away(&taints(on_node), &tolerations(borne)),
                away,
                "{what}"
            );
        }
    }

    #[test]
    fn wishes_are_counted() {
        let wishes = taints(
            r#"[{"key":"a","effect":"PreferNoSchedule"},{"key":"b","effect":"PreferNoSchedule"},
            {"key":"c","effect":"NoSchedule"}]"#,
        );
        assert_eq!(count_disliked(&wishes, &[]), 2);
        let borne = tolerations(r#"[{"key":"a","operator":"Exists"}]"#);
        assert_eq!(count_disliked(&wishes, &borne), 1);
    }

    /// Ideas from upstream's `plugins/nodeunschedulable/node_unschedulable_test.go`.
    #[test]
    fn cordoned_nodes_take_who_tolerates_that() {
        assert!(!enters_cordoned(&[]));
        let json = r#"[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]"#;
        assert!(enters_cordoned(&tolerations(json)));
    }
}
