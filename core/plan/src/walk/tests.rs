use flyball_api::{Kind, ObjectName};

use super::*;
use crate::{Detail, OWN_WRITE_UNSEEN, Report, Unseen, Until};

const SET: Kind = Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets");
const POD: Kind = Kind::namespaced("", "v1", "Pod", "pods");
const WAITS: Rule = Rule::new("Waits", "waits");

fn target(kind: Kind, name: &str) -> Target {
    let name = ObjectName::new("default", name);
    Target { kind, name }
}

fn finished(about: Option<Target>, report: Report) -> Finished {
    Finished {
        key: "key".to_owned(),
        about,
        outcome: Outcome::Rested,
        report,
    }
}

fn unready(pod: &str) -> Wait {
    Wait::object(target(POD, pod), Until::Ready)
}

fn detail(pod: &str) -> Detail {
    Detail {
        about: target(POD, pod),
        rule: WAITS,
        waits_for: unready(pod),
    }
}

fn way(reports: &Reports) -> Vec<String> {
    let way = reports.walk(&target(SET, "web"));
    way.iter().map(|stop| stop.waits_for.to_string()).collect()
}

#[test]
fn leads_from_one_report_to_the_next() {
    let mut reports = Reports::default();
    let owner = Report::new(WAITS).waits_for(unready("a"));
    reports.note("sets", &finished(Some(target(SET, "web")), owner));
    let node = Report::new(WAITS).details([detail("a"), detail("b")]);
    reports.note("kubelets", &finished(None, node));
    let ready = "Pod default/a to become ready";
    assert_eq!(way(&reports), [ready, ready]);
}

#[test]
fn a_new_report_of_a_key_replaces_all_that_it_said() {
    let mut reports = Reports::default();
    reports.note(
        "kubelets",
        &finished(None, Report::new(WAITS).details([detail("a")])),
    );
    reports.note("kubelets", &finished(None, Report::new(WAITS)));
    assert_eq!(reports.walk(&target(POD, "a")), []);
}

#[test]
fn objects_that_wait_for_each_other_end_the_way() {
    let mut reports = Reports::default();
    for (one, other) in [("a", "b"), ("b", "a")] {
        let report = Report::new(WAITS).waits_for(unready(other));
        let key = finished(Some(target(POD, one)), report);
        reports.note(
            "pods",
            &Finished {
                key: one.to_owned(),
                ..key
            },
        );
    }
    assert_eq!(reports.walk(&target(POD, "a")).len(), 2);
}

#[test]
fn a_key_that_waits_for_its_own_writes_still_explains_its_objects() {
    let mut reports = Reports::default();
    let node = Report::new(WAITS).details([detail("a")]);
    reports.note("kubelets", &finished(None, node));
    let mut gated = finished(None, Report::new(OWN_WRITE_UNSEEN));
    gated.outcome = Outcome::Gated(Unseen::Version(POD, 7));
    reports.note("kubelets", &gated);
    assert_eq!(reports.walk(&target(POD, "a")).len(), 1);
}

#[test]
fn an_object_that_waits_for_nothing_is_no_stop() {
    let mut reports = Reports::default();
    let about = || Some(target(SET, "web"));
    let waits = Report::new(WAITS).waits_for(unready("a"));
    reports.note("sets", &finished(about(), waits));
    assert_eq!(way(&reports).len(), 1);
    reports.note("sets", &finished(about(), Report::new(WAITS)));
    assert_eq!(way(&reports).len(), 0);
}
