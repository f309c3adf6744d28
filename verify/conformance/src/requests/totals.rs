//! kube-apiserver's `apiserver_request_total`, by verb and resource.

use std::collections::BTreeMap;

/// Request counts of all users since the server started, or between two readings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// By verb (`GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, …) and resource with subresource.
    /// A watch counts when it ends.
    pub counts: BTreeMap<(String, String), u64>,
}

impl Totals {
    /// Reads the counters from the text that `/metrics` answers with.
    #[must_use]
    pub fn parse(metrics: &str) -> Self {
        let mut counts = BTreeMap::new();
        for line in metrics.lines() {
            let Some(rest) = line.strip_prefix("apiserver_request_total{") else {
                continue;
            };
            let Some((labels, value)) = rest.rsplit_once("} ") else {
                continue;
            };
            let Ok(value) = value.trim().parse::<f64>() else {
                continue;
            };
            let label = |name: &str| {
                let start = labels.find(&format!("{name}=\""))? + name.len() + 2;
                labels[start..].split('"').next().map(str::to_owned)
            };
            let verb = label("verb").unwrap_or_default();
            let mut resource = label(",resource").unwrap_or_default();
            if let Some(subresource) = label("subresource").filter(|name| !name.is_empty()) {
                resource = format!("{resource}/{subresource}");
            }
            // The text format writes integers as floats; counts stay far below 2^53.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let value = value as u64;
            *counts.entry((verb, resource)).or_insert(0) += value;
        }
        Self { counts }
    }

    /// What was added since an earlier reading; pairs without change are left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self
            .counts
            .iter()
            .map(|(key, count)| (key.clone(), count - earlier.counts.get(key).unwrap_or(&0)))
            .filter(|(_, count)| *count > 0)
            .collect();
        Self { counts }
    }

    /// The number of requests of a verb.
    #[must_use]
    pub fn of_verb(&self, verb: &str) -> u64 {
        self.counts
            .iter()
            .filter(|((known, _), _)| known == verb)
            .map(|(_, count)| count)
            .sum()
    }

    /// The number of requests that changed objects.
    #[must_use]
    pub fn writes(&self) -> u64 {
        [
            "POST",
            "PUT",
            "PATCH",
            "APPLY",
            "DELETE",
            "DELETECOLLECTION",
        ]
        .iter()
        .map(|verb| self.of_verb(verb))
        .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 7
apiserver_request_total{code="409",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 1e+01
apiserver_request_duration_seconds_count{resource="pods",verb="LIST"} 10
"#;

    #[test]
    fn codes_of_one_verb_and_resource_are_added() {
        let totals = Totals::parse(TEXT);
        assert_eq!(
            totals.counts[&("PATCH".to_owned(), "pods/status".to_owned())],
            9
        );
        assert_eq!(totals.of_verb("LIST"), 10);
        assert_eq!(totals.writes(), 9);
    }

    #[test]
    fn a_difference_leaves_out_what_did_not_move() {
        let earlier = Totals::parse(TEXT);
        let later = Totals::parse(&TEXT.replace("} 2", "} 5"));
        let delta = later.since(&earlier);
        assert_eq!(delta.counts.len(), 1);
        assert_eq!(delta.of_verb("PATCH"), 3);
    }
}
