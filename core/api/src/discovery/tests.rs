//! What is read from a server's documents, whole, in parts, and half-way.

use super::*;

const AGGREGATED: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"autoscaling"},"versions":[
    {"version":"v2","freshness":"Current","resources":[
      {"resource":"horizontalpodautoscalers","scope":"Namespaced","verbs":["delete","list","watch"],
       "responseKind":{"group":"","version":"","kind":"HorizontalPodAutoscaler"},
       "subresources":[{"subresource":"status"}]}]},
    {"version":"v1","resources":[
      {"resource":"horizontalpodautoscalers","scope":"Namespaced","verbs":["delete","list","watch"],
       "responseKind":{"kind":"HorizontalPodAutoscaler"}},
      {"resource":"olds","scope":"Cluster","verbs":["list"],"responseKind":{"kind":"Old"}},
      {"resource":"bare","scope":"Cluster","verbs":[]}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}"#;

fn aggregated() -> Discovery {
    let mut reading = Reading::new();
    assert_eq!(reading.root(AGGREGATED.as_bytes()).unwrap(), []);
    reading.finish()
}

fn names<'a>(resources: impl Iterator<Item = &'a Resource>) -> Vec<String> {
    let name = |resource: &Resource| format!("{}/{}", resource.kind.version, resource.kind.plural);
    resources.map(name).collect()
}

#[test]
fn of_each_resource_the_first_version_that_has_it_is_preferred() {
    let found = aggregated();
    let all = names(found.resources().iter());
    assert_eq!(
        all,
        [
            "v1/horizontalpodautoscalers",
            "v1/olds",
            "v2/horizontalpodautoscalers"
        ]
    );
    assert_eq!(
        names(found.preferred()),
        ["v1/olds", "v2/horizontalpodautoscalers"]
    );
    assert_eq!(names(found.watchable()), ["v2/horizontalpodautoscalers"]);
    assert_eq!(
        names(found.in_namespaces()),
        ["v2/horizontalpodautoscalers"]
    );
}

#[test]
fn a_stale_version_counts_as_failed() {
    let found = aggregated();
    let [failure] = found.failures() else {
        panic!("{:?}", found.failures());
    };
    assert_eq!(failure.group_version(), "metrics.k8s.io/v1beta1");
    assert!(failure.reason.contains("stale"), "{}", failure.reason);
}

#[test]
fn an_owner_is_found_by_exactly_its_version_and_kind() {
    let found = aggregated();
    let kind = |version, kind| found.kind(version, kind).map(|kind| kind.plural);
    assert_eq!(
        kind("autoscaling/v1", "HorizontalPodAutoscaler"),
        Some("horizontalpodautoscalers")
    );
    assert_eq!(kind("autoscaling/v3", "HorizontalPodAutoscaler"), None);
    assert_eq!(kind("autoscaling/v1", "horizontalpodautoscalers"), None);
    assert_eq!(kind("v1", "Old"), None);
    assert_eq!(kind("", ""), None);
}

#[test]
fn without_aggregation_groups_are_asked_for_one_by_one() {
    let mut reading = Reading::new();
    let core = reading
        .root(br#"{"kind":"APIVersions","versions":["v1"]}"#)
        .unwrap();
    let groups = br#"{"kind":"APIGroupList","groups":[{"name":"apps","versions":[
        {"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"}],
        "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}"#;
    let groups = reading.root(groups).unwrap();
    let paths: Vec<_> = core.iter().chain(&groups).map(Part::path).collect();
    assert_eq!(paths, ["/api/v1", "/apis/apps/v1", "/apis/apps/v1beta1"]);
    reading.part(
        &core[0],
        br#"{"resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["delete"]},
            {"name":"pods/log","kind":"Pod","namespaced":true,"verbs":["get"]}]}"#,
    );
    reading.part(&groups[0], b"<html>");
    reading.part_failed(&groups[1], "no answer");
    let found = reading.finish();
    assert_eq!(names(found.in_namespaces()), ["v1/pods"]);
    assert_eq!(found.failures().len(), 2);
}

#[test]
fn a_group_version_that_no_path_can_name_counts_as_failed_and_hides_no_other() {
    let resources = r#""resources":[{"resource":"things","scope":"Namespaced","verbs":["delete"],
        "responseKind":{"kind":"Thing"}}]"#;
    let aggregated = format!(
        r#"{{"items":[{{"metadata":{{"name":"a/b"}},"versions":[{{"version":"v1",{resources}}}]}},
            {{"metadata":{{"name":"c.io"}},"versions":[{{"version":"v1/x",{resources}}},{{"version":"v1",{resources}}}]}}]}}"#
    );
    let groups = r#"{"groups":[{"name":"a/b","versions":[{"version":"v1"}]},
        {"name":"c.io","versions":[{"version":"v1/x"}]}]}"#;
    for body in [aggregated.as_str(), groups] {
        let mut reading = Reading::new();
        assert_eq!(reading.root(body.as_bytes()).unwrap(), []);
        let found = reading.finish();
        let failed = found.failures().iter();
        let failed: Vec<_> = failed
            .map(|it| (it.reason.as_str(), it.is_malformed()))
            .collect();
        let words = |name: &str| format!("unexpected GroupVersion string: {name}");
        let (one, two) = (words("a/b/v1"), words("c.io/v1/x"));
        assert_eq!(failed, [(one.as_str(), true), (two.as_str(), true)]);
        let usable = usize::from(body != groups);
        assert_eq!(found.in_namespaces().count(), usable);
    }
}

#[test]
fn what_is_no_discovery_is_an_error() {
    for body in ["", "null", "[]", "{}", "<html>", r#"{"kind":"Status"}"#] {
        assert!(Reading::new().root(body.as_bytes()).is_err(), "{body}");
    }
}

#[test]
fn a_group_that_fails_keeps_what_was_known_of_it() {
    let known = aggregated();
    let failure = Failure {
        group: "autoscaling".into(),
        version: "v2".into(),
        reason: "no answer".into(),
    };
    let v1 = known.resources()[0];
    let now = Discovery::of(
        [Resource {
            preferred: true,
            ..v1
        }],
        [failure.clone()],
    );
    let kept = now.or_known(&known);
    assert_eq!(
        names(kept.resources().iter()),
        ["v1/horizontalpodautoscalers", "v2/horizontalpodautoscalers"],
        "what vanished from a version that answered is gone"
    );
    assert_eq!(names(kept.preferred()), ["v1/horizontalpodautoscalers"]);
    let kept = Discovery::of([], [failure]).or_known(&known);
    assert_eq!(names(kept.preferred()), ["v2/horizontalpodautoscalers"]);
}

#[test]
fn verbs_are_a_set() {
    let verbs = Verbs::named(["list", "deletecollection", "levitate"]);
    assert!(verbs.has(Verb::List) && verbs.has(Verb::DeleteCollection));
    assert!(!verbs.has(Verb::Delete) && Verbs::all().has(Verb::Delete));
}
