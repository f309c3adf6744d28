//! One test per rule of upstream's flag library.

use std::time::Duration;

use super::{accept, refuse};

#[test]
fn a_value_follows_an_equals_sign_or_stands_in_the_next_word() {
    for words in [&["--kube-api-burst=7"][..], &["--kube-api-burst", "7"]] {
        assert_eq!(accept(words).client.rate.unwrap().burst, 7);
    }
}

#[test]
fn a_value_may_begin_with_a_hyphen() {
    assert_eq!(accept(&["--kube-api-qps", "-1"]).client.rate, None);
    assert_eq!(
        accept(&["--master", "--odd_name"]).client.master.unwrap(),
        "--odd_name"
    );
}

#[test]
fn a_value_may_be_empty_or_contain_equals_signs() {
    assert_eq!(accept(&["--master="]).client.master, None);
    assert_eq!(accept(&["--master", ""]).client.master, None);
    assert_eq!(
        accept(&["--master=http://a?b=c"]).client.master.unwrap(),
        "http://a?b=c"
    );
}

#[test]
fn a_bare_bool_is_true_and_never_takes_the_next_word() {
    assert!(
        accept(&["--use-service-account-credentials"])
            .generic
            .service_account_credentials
    );
    assert!(refuse(&["--leader-elect", "false"]).starts_with(
        "Error: \"kube-controller-manager\" does not take any arguments, got [\"false\"]"
    ));
}

#[test]
fn a_bool_takes_every_spelling_go_takes() {
    for (text, value) in [
        ("true", true),
        ("T", true),
        ("1", true),
        ("FALSE", false),
        ("f", false),
        ("0", false),
    ] {
        assert_eq!(
            accept(&[&format!("--leader-elect={text}")])
                .leader_election
                .enabled,
            value,
            "{text}"
        );
    }
}

#[test]
fn underscores_and_hyphens_are_one_letter_in_names() {
    for words in [
        &["--concurrent_rc_syncs=9"][..],
        &["--concurrent_rc_syncs", "9"],
        &["--concurrent-rc-syncs=9"],
        &["--concurrent-rc_syncs=9"],
    ] {
        assert_eq!(
            accept(words).tunings["replicationcontroller-controller"].workers,
            9
        );
    }
}

#[test]
fn underscores_in_values_stay() {
    assert_eq!(accept(&["--master", "a_b"]).client.master.unwrap(), "a_b");
    assert_eq!(accept(&["--master=a_b"]).client.master.unwrap(), "a_b");
    assert_eq!(
        accept(&["--leader-elect-resource-name", "a_b"])
            .leader_election
            .lease_name,
        "a_b"
    );
}

#[test]
fn verbosity_has_a_short_form() {
    for words in [
        &["-v", "3"][..],
        &["-v3"],
        &["-v=3"],
        &["--v=3"],
        &["--v", "3"],
    ] {
        assert_eq!(accept(words).logging.verbosity, 3, "{words:?}");
    }
}

#[test]
fn the_last_of_repeated_flags_counts() {
    assert_eq!(
        accept(&["--kube-api-burst=1", "--kube-api-burst=2"])
            .client
            .rate
            .unwrap()
            .burst,
        2
    );
    assert!(
        !accept(&["--leader-elect", "--leader-elect=false"])
            .leader_election
            .enabled
    );
}

#[test]
fn the_first_of_repeated_lists_replaces_the_default_and_the_others_append() {
    let paths = |words: &[&str]| accept(words).authorization.always_allow_paths;
    assert_eq!(paths(&[]), ["/healthz", "/readyz", "/livez"]);
    let flag = "--authorization-always-allow-paths";
    assert_eq!(
        paths(&[&format!("{flag}=/a,/b"), &format!("{flag}=/c")]),
        ["/a", "/b", "/c"]
    );
    assert_eq!(paths(&[&format!("{flag}=\"/a,b\",/c")]), ["/a,b", "/c"]);
    assert_eq!(paths(&[&format!("{flag}=")]), Vec::<String>::new());
}

#[test]
fn durations_are_go_durations() {
    let period = |text: &str| {
        accept(&[&format!("--min-resync-period={text}")])
            .generic
            .resync_period_min
    };
    assert_eq!(period("1h2m3.5s"), Duration::from_millis(3_723_500));
    assert_eq!(period("100ms"), Duration::from_millis(100));
    assert_eq!(
        accept(&["--controller-shutdown-timeout=0"])
            .generic
            .shutdown_timeout,
        None
    );
}

#[test]
fn integers_take_gos_prefixes() {
    assert_eq!(
        accept(&["--kube-api-burst=0x10"])
            .client
            .rate
            .unwrap()
            .burst,
        16
    );
    assert_eq!(
        accept(&["--kube-api-burst=010"]).client.rate.unwrap().burst,
        8
    );
}

#[test]
fn maps_take_commas_and_repetition() {
    let options = accept(&[
        "--feature-gates=HPAScaleToZero=true,kube:PodDeletionCost=false",
        "--feature-gates=AllBeta=true",
    ]);
    assert!(options.generic.feature_gates.enabled("HPAScaleToZero"));
    assert!(!options.generic.feature_gates.enabled("PodDeletionCost"));
    assert!(
        options
            .generic
            .feature_gates
            .enabled("MaxUnavailableStatefulSet")
    );
    let labels = |text: &str| {
        accept(&[&format!("--allow-metric-labels={text}")])
            .settings
            .get("allow-metric-labels")
            .value
            .to_text()
    };
    assert_eq!(labels("metric,label=a,b"), "[metric,label=a,b]");
    assert_eq!(labels("m=a,n=b"), "[m=a,n=b]");
}

#[test]
fn certificates_for_host_names_come_one_per_occurrence() {
    let pem = super::TempFile::new("sni.pem", "x");
    let pair = format!("--tls-sni-cert-key={0},{0}", pem.path());
    let options = accept(&[&pair, &format!("{pair}:a.example,*.b.example")]);
    let names: Vec<_> = options
        .serving
        .named_certificates
        .iter()
        .map(|c| c.names.clone())
        .collect();
    assert_eq!(
        names,
        [
            vec![],
            vec!["a.example".to_owned(), "*.b.example".to_owned()]
        ]
    );
}

#[test]
fn nothing_may_follow_a_double_hyphen() {
    assert!(refuse(&["--", "--leader-elect"]).starts_with(
        "Error: \"kube-controller-manager\" does not take any arguments, got [\"--leader-elect\"]"
    ));
    accept(&["--leader-elect=false", "--"]);
}
