use std::io::Write as _;

use super::*;

const WATCH_STARTED: &str = r#"{"kind":"Event","stage":"ResponseStarted","verb":"watch","user":{"username":"m"},"userAgent":"go","objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"t0"}"#;
const WATCH_ENDED: &str = r#"{"kind":"Event","stage":"ResponseComplete","verb":"watch","user":{"username":"m"},"userAgent":"go","objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"t0"}"#;
const DELETE: &str = r#"{"kind":"Event","stage":"ResponseComplete","verb":"delete","user":{"username":"m"},"userAgent":"go","objectRef":{"resource":"pods","namespace":"a","name":"p"},"responseStatus":{"code":200},"requestObject":{"preconditions":{"uid":"u-1"}},"requestReceivedTimestamp":"t1"}"#;
const STATUS: &str = r#"{"kind":"Event","stage":"ResponseComplete","verb":"update","user":{"username":"n"},"objectRef":{"resource":"replicasets","subresource":"status","namespace":"b","name":"r"},"responseStatus":{"code":409},"requestReceivedTimestamp":"t2"}"#;
const EVENT: &str = r#"{"kind":"Event","stage":"ResponseComplete","verb":"create","user":{"username":"m"},"objectRef":{"resource":"events","namespace":"a","name":"e"},"responseStatus":{"code":201},"requestReceivedTimestamp":"t3"}"#;

/// A log of its own for each test, removed at the end.
struct Fixture {
    log: AuditLog,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        std::fs::remove_file(&self.log.path).unwrap();
    }
}

fn fixture(name: &str, text: &str) -> Fixture {
    let path = std::env::temp_dir().join(format!("flyball-audit-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    Fixture {
        log: AuditLog::at(path),
    }
}

#[test]
fn a_watch_counts_once_when_it_begins() {
    let fixture = fixture("watch", &format!("{WATCH_STARTED}\n{WATCH_ENDED}\n"));
    assert_eq!(fixture.log.since(Mark::default()).unwrap().len(), 1);
}

#[test]
fn requests_are_told_apart_by_user_namespace_and_purpose() {
    let fixture = fixture("filter", &format!("{DELETE}\n{STATUS}\n{EVENT}\n"));
    let all = fixture.log.since(Mark::default()).unwrap();
    assert_eq!(all.by_user("m").len(), 2);
    assert_eq!(all.by_agent("go").len(), 1);
    assert_eq!(all.in_namespace("b").len(), 1);
    assert_eq!(all.writes().len(), 2);
    assert_eq!(
        all.by_verb()[&("update".to_owned(), "replicasets/status".to_owned())],
        1
    );
    assert_eq!(all.all[0].uid_precondition(), Some("u-1"));
    assert_eq!(all.all[1].code, 409);
}

#[test]
fn only_whole_lines_after_the_mark_are_read() {
    let fixture = fixture("mark", &format!("{DELETE}\n"));
    let mark = fixture.log.mark().unwrap();
    let mut file = File::options()
        .append(true)
        .open(&fixture.log.path)
        .unwrap();
    write!(file, "{STATUS}\n{EVENT}").unwrap();
    let requests = fixture.log.since(mark).unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests.all[0].resource, "replicasets/status");
}

#[test]
fn a_log_that_does_not_exist_yet_is_empty() {
    let log = AuditLog::at(PathBuf::from("/nonexistent/audit.log"));
    assert!(log.since(Mark::default()).unwrap().is_empty());
}
