use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;

use super::*;

/// 2023-11-14 22:13:20.123456 UTC.
fn fixed_time() -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_456)
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What `log` writes, with the process id and the line numbers of this file replaced.
fn capture(
    format: LogFormat,
    v: u32,
    modules: &[(String, u32)],
    log: impl FnOnce(&Verbosity),
) -> String {
    let written = Written::default();
    let verbosity = Verbosity::new(v, modules);
    let mut sink = Sink::new(format, verbosity.clone(), written.clone(), fixed_time);
    sink.pid = 1234;
    let subscriber = Registry::default().with(sink);
    tracing::subscriber::with_default(subscriber, || log(&verbosity));
    let bytes = written.0.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    let mut parts = text.split("tests.rs:");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push_str("tests.rs:N");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn sample() {
    let error = std::io::Error::other("connection refused");
    tracing::info!("Starting");
    tracing::info!(
        pod = "kube-system/dns",
        count = 3,
        ready = true,
        ratio = 0.5,
        "Scaled \"up\""
    );
    tracing::warn!(flag = "--profiling", "Flag has no effect");
    tracing::error!(err = &error as &dyn std::error::Error, lease = %"kube-system/x", "Renewal failed");
    tracing::info!(manifest = "a: 1\nb: 2\n", "Several lines");
}

#[test]
fn text_looks_like_klogs() {
    expect![[r#"
        I1114 22:13:20.123456    1234 tests.rs:N] "Starting"
        I1114 22:13:20.123456    1234 tests.rs:N] "Scaled \"up\"" pod="kube-system/dns" count=3 ready=true ratio=0.5
        W1114 22:13:20.123456    1234 tests.rs:N] "Flag has no effect" flag="--profiling"
        E1114 22:13:20.123456    1234 tests.rs:N] "Renewal failed" err="connection refused" lease="kube-system/x"
        I1114 22:13:20.123456    1234 tests.rs:N] "Several lines" manifest=<
        	a: 1
        	b: 2
         >
    "#]].assert_eq(&capture(LogFormat::Text, 0, &[], |_| sample()));
}

#[test]
fn json_has_upstreams_keys() {
    let lines = capture(LogFormat::Json, 0, &[], |_| sample());
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    expect![[r#"
        {"ts":1700000000123.456,"caller":"tests.rs:N","msg":"Starting","v":0}
        {"ts":1700000000123.456,"caller":"tests.rs:N","msg":"Scaled \"up\"","v":0,"pod":{"name":"dns","namespace":"kube-system"},"count":3,"ready":true,"ratio":0.5}
        {"ts":1700000000123.456,"caller":"tests.rs:N","msg":"Flag has no effect","severity":"warning","v":0,"flag":"--profiling"}
        {"ts":1700000000123.456,"caller":"tests.rs:N","msg":"Renewal failed","severity":"error","lease":{"name":"x","namespace":"kube-system"},"err":"connection refused"}
        {"ts":1700000000123.456,"caller":"tests.rs:N","msg":"Several lines","v":0,"manifest":"a: 1\nb: 2\n"}
    "#]].assert_eq(&lines);
}

#[test]
fn fields_of_spans_come_with_their_messages_and_inner_ones_win() {
    let log = |_: &Verbosity| {
        let outer = tracing::info_span!(
            "run",
            logger = "deployment-controller",
            key = "outer",
            extra = tracing::field::Empty
        );
        let _outer = outer.enter();
        outer.record("extra", 7);
        let _inner = tracing::info_span!("step", key = "inner").entered();
        tracing::info!(step = 1, "Working");
    };
    expect![[r#"
        I1114 22:13:20.123456    1234 tests.rs:N] "Working" logger="deployment-controller" key="inner" extra=7 step=1
    "#]].assert_eq(&capture(LogFormat::Text, 0, &[], log));
}

#[test]
fn levels_follow_verbosity() {
    let log = |_: &Verbosity| {
        tracing::warn!("w");
        tracing::info!("i");
        tracing::debug!("d");
        tracing::trace!("t");
        tracing::info!(target: "hyper::client", "hi");
        tracing::debug!(target: "hyper::client", "hd");
        tracing::trace!(target: "hyper::client", "ht");
    };
    let messages = |v: u32| {
        let lines = capture(LogFormat::Text, v, &[], log);
        let words: Vec<&str> = lines
            .lines()
            .filter_map(|line| line.split('"').nth(1))
            .collect();
        words.join(" ")
    };
    assert_eq!(messages(0), "w i");
    assert_eq!(messages(2), "w i d hi");
    assert_eq!(messages(4), "w i d t hi");
    assert_eq!(messages(8), "w i d t hi hd");
    assert_eq!(messages(10), "w i d t hi hd ht");
}

#[test]
fn vmodule_raises_the_level_of_matching_files_only() {
    let log = |_: &Verbosity| tracing::trace!("t");
    let lines = |pattern: &str| {
        capture(LogFormat::Text, 0, &[(pattern.to_owned(), 4)], log)
            .lines()
            .count()
    };
    assert_eq!(lines("tests"), 1);
    assert_eq!(lines("logging/*"), 1);
    assert_eq!(lines("other"), 0);
}

#[test]
fn verbosity_can_change_while_running() {
    let log = |verbosity: &Verbosity| {
        for level in [0, 2, 0] {
            verbosity.set(level);
            tracing::debug!(level = verbosity.get(), "d");
        }
    };
    let lines = capture(LogFormat::Text, 0, &[], log);
    assert!(lines.ends_with("\"d\" level=2\n"), "{lines}");
    assert_eq!(lines.lines().count(), 1);
}

#[test]
fn a_repeated_error_is_printed_three_times_and_an_info_each_time() {
    let log = |_: &Verbosity| {
        for _ in 0..10 {
            tracing::error!("Watch failed");
            tracing::info!("Still here");
        }
        tracing::error!("Another");
    };
    let lines = capture(LogFormat::Text, 0, &[], log);
    assert_eq!(lines.matches("Watch failed").count(), 3);
    assert_eq!(lines.matches("Still here").count(), 10);
    assert_eq!(lines.matches("Another").count(), 1);
}

#[test]
fn the_count_of_a_repeated_error_is_told_when_its_time_is_over() {
    let written = Written::default();
    let sink = Sink::new(
        LogFormat::Text,
        Verbosity::new(0, &[]),
        written.clone(),
        fixed_time,
    );
    let message = |time_us: i64, text: &str| Message {
        time_us,
        severity: Severity::Error,
        v: 0,
        file: "a/watch.rs",
        line: 7,
        text: text.to_owned(),
        err: Some("refused".to_owned()),
        logger: None,
        fields: Vec::new(),
    };
    for i in 0..8 {
        sink.write(&message(i, "Watch failed"));
    }
    sink.write(&message(10_000_000, "Another"));
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.contains(
            "\"Message repeated\" times=5 message=\"\\\"Watch failed\\\" err=\\\"refused\\\"\"\n"
        ),
        "{text}"
    );
}

#[test]
fn sources_are_named_shortly_but_tellingly() {
    assert_eq!(short_file("shell/runtime/src/watch.rs"), "watch.rs");
    assert_eq!(short_file("shell/runtime/src/watch/mod.rs"), "watch/mod.rs");
    assert_eq!(short_file("main.rs"), "main.rs");
}
