//! The texts of the health pages.

use super::*;

struct Fixed(Vec<Check>);

impl Health for Fixed {
    fn checks(&self, _probe: Probe) -> Vec<Check> {
        self.0.clone()
    }
}

fn ask(checks: &[Check], uri: &str) -> Option<(u16, String)> {
    let target = Target::decode(&uri.parse().unwrap()).unwrap();
    let (probe, check) = Probe::of(&target.path)?;
    let reply = answer(&Fixed(checks.to_vec()), probe, check, &target)?;
    Some((
        reply.status.as_u16(),
        String::from_utf8(reply.body.to_vec()).unwrap(),
    ))
}

fn said(checks: &[Check], uri: &str) -> (u16, String) {
    ask(checks, uri).unwrap()
}

fn broken() -> Vec<Check> {
    vec![
        Check::ok("leaderElection"),
        Check::failed("pods", "list failed:\n[+]forged ok"),
    ]
}

#[test]
fn a_healthy_process_says_ok() {
    let checks = [Check::ok("leaderElection")];
    assert_eq!(said(&checks, "/healthz"), (200, "ok".into()));
    assert_eq!(said(&checks, "/livez"), (200, "ok".into()));
    assert_eq!(said(&checks, "/readyz"), (200, "ok".into()));
}

#[test]
fn verbose_lists_every_check() {
    let checks = [
        Check::ok("leaderElection"),
        Check::ok("replicaset-controller"),
    ];
    let body = "[+]leaderElection ok\n[+]replicaset-controller ok\nhealthz check passed\n";
    assert_eq!(said(&checks, "/healthz?verbose"), (200, body.into()));
}

#[test]
fn a_process_without_checks_answers_ping() {
    assert_eq!(
        said(&[], "/livez?verbose=true"),
        (200, "[+]ping ok\nlivez check passed\n".into())
    );
    assert_eq!(said(&[], "/livez/ping"), (200, "ok".into()));
}

#[test]
fn a_failure_lists_every_check_but_withholds_the_reason() {
    let body = |probe| {
        format!("[+]leaderElection ok\n[-]pods failed: reason withheld\n{probe} check failed\n")
    };
    assert_eq!(said(&broken(), "/healthz"), (500, body("healthz")));
    assert_eq!(said(&broken(), "/healthz?verbose"), (500, body("healthz")));
    assert_eq!(said(&broken(), "/readyz"), (500, body("readyz")));
}

#[test]
fn verbose_readiness_names_the_reason_on_one_line() {
    let body =
        "[+]leaderElection ok\n[-]pods failed: list failed: [+]forged ok\nreadyz check failed\n";
    assert_eq!(said(&broken(), "/readyz?verbose"), (500, body.into()));
}

#[test]
fn what_is_not_needed_is_named_and_fails_nothing() {
    let relics = || Check::failed("relics", "no conversion").not_needed();
    let checks = [Check::ok("pods"), relics()];
    assert_eq!(said(&checks, "/readyz"), (200, "ok".into()));
    let body = "[+]pods ok\n[-]relics failed, not needed: no conversion\nreadyz check passed\n";
    assert_eq!(said(&checks, "/readyz?verbose"), (200, body.into()));
    assert_eq!(said(&checks, "/readyz/relics").0, 500);
    let both = [broken(), vec![relics()]].concat();
    assert_eq!(said(&both, "/readyz").0, 500);
}

#[test]
fn an_excluded_check_does_not_count() {
    let body = "[+]leaderElection ok\n[+]pods excluded: ok\nhealthz check passed\n";
    assert_eq!(said(&broken(), "/healthz?exclude=pods"), (200, "ok".into()));
    assert_eq!(
        said(&broken(), "/healthz?verbose&exclude=pods"),
        (200, body.into())
    );
}

#[test]
fn an_exclusion_that_matches_nothing_is_pointed_out() {
    let body = "[+]a ok\nwarn: some health checks cannot be excluded: no matches for \"x\",\"y\\\"\"\nhealthz check passed\n";
    let uri = "/healthz?verbose&exclude=y%22&exclude=x&exclude=x";
    assert_eq!(said(&[Check::ok("a")], uri), (200, body.into()));
}

#[test]
fn one_check_alone_tells_its_reason() {
    let (status, body) = said(&broken(), "/healthz/pods");
    assert_eq!(status, 500);
    assert!(
        body.starts_with("internal server error: list failed:"),
        "{body}"
    );
    assert_eq!(
        said(&broken(), "/healthz/leaderElection"),
        (200, "ok".into())
    );
}

#[test]
fn a_check_nobody_knows_is_not_found() {
    assert_eq!(ask(&broken(), "/healthz/nodes"), None);
    assert_eq!(ask(&broken(), "/healthz/"), None);
    assert_eq!(ask(&broken(), "/healthzz"), None);
}
