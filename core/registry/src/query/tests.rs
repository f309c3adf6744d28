use super::*;

fn parsed(verb: &str, pairs: &[(&str, &str)]) -> Result<Query, Failure> {
    let owned: Vec<(String, String)> = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Query::parse(verb, false, &owned)
}

fn failed(verb: &str, pairs: &[(&str, &str)]) -> (u16, String) {
    let failure = parsed(verb, pairs).unwrap_err();
    (failure.code(), failure.0.message.to_string())
}

#[test]
fn what_is_not_known_is_passed_over() {
    let query = parsed(
        "list",
        &[("pretty", "true"), ("limit", "5"), ("limit", "6")],
    )
    .unwrap();
    assert_eq!(query.limit, 5);
    assert_eq!(parsed("list", &[("limit", "-1")]).unwrap().limit, 0);
    assert!(parsed("create", &[("limit", "odd")]).is_ok());
}

#[test]
fn mistakes_are_told_in_upstreams_words() {
    for (verb, pairs, code, message) in [
        (
            "list",
            &[("labelSelector", "a in ("), ("limit", "odd")][..],
            400,
            "strconv.ParseInt: parsing \"odd\": invalid syntax",
        ),
        (
            "list",
            &[("labelSelector", "a b c")],
            400,
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (
            "list",
            &[("labelSelector", ",")],
            400,
            "found ',', expected: !, identifier, or 'end of string'",
        ),
        (
            "list",
            &[("fieldSelector", "metadata.name")],
            400,
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
        ),
        (
            "list",
            &[("resourceVersionMatch", "Exact"), ("resourceVersion", "0")],
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" \
             is forbidden for resourceVersion \"0\"",
        ),
        (
            "watch",
            &[("sendInitialEvents", "true")],
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires \
             setting resourceVersionMatch to NotOlderThan",
        ),
        (
            "create",
            &[("dryRun", "Some")],
            422,
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"",
        ),
        (
            "update",
            &[("fieldValidation", "strict")],
            422,
            "UpdateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"strict\": supported \
             values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
        ),
        (
            "patch",
            &[("force", "")],
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
        ),
        (
            "create",
            &[("fieldManager", "a\u{7}")],
            422,
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\a\": invalid character \
             U+0007 (at position 1)",
        ),
    ] {
        assert_eq!(failed(verb, pairs), (code, message.to_owned()), "{pairs:?}");
    }
}

#[test]
fn deletes_are_read_from_the_query_or_the_body() {
    let pairs = [("gracePeriodSeconds".to_owned(), "-5".to_owned())];
    assert_eq!(Deletion::of_query(&pairs).unwrap().grace_seconds, Some(1));
    let body = serde_json::json!({"orphanDependents": false, "propagationPolicy": "Background"});
    let message = Deletion::of_body(&body).unwrap_err().0.message.to_string();
    assert!(
        message.contains("orphanDependents and deletionPropagation cannot be both set"),
        "{message}"
    );
}
