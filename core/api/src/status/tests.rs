use super::*;

fn answer(code: u16, body: &str) -> ApiError {
    ApiError::from_response(code, None, body.as_bytes())
}

fn status(code: u16, reason: &str) -> ApiError {
    ApiError::from_status(Status::failure(code, reason, "words"))
}

#[test]
fn a_known_reason_decides_and_the_code_where_there_is_none() {
    let busy = Class::TooManyRequests { retry_after: None };
    let table = [
        (404, "NotFound", Class::NotFound),
        (404, "", Class::NotFound),
        (404, "Mysterious", Class::NotFound),
        (409, "AlreadyExists", Class::AlreadyExists),
        (409, "Conflict", Class::Conflict),
        (409, "", Class::Conflict),
        (422, "Invalid", Class::Invalid),
        (422, "", Class::Invalid),
        (403, "Forbidden", Class::Forbidden),
        (403, "", Class::Forbidden),
        (401, "Unauthorized", Class::Unauthorized),
        (401, "", Class::Unauthorized),
        (410, "Gone", Class::Gone),
        (410, "Expired", Class::Gone),
        (410, "", Class::Gone),
        (429, "TooManyRequests", busy),
        (429, "", busy),
        (429, "InternalError", busy),
        (0, "TooManyRequests", busy),
        (504, "Timeout", Class::Timeout),
        (500, "ServerTimeout", Class::Timeout),
        (504, "", Class::Timeout),
        (408, "", Class::Timeout),
        (500, "InternalError", Class::Transient),
        (503, "ServiceUnavailable", Class::Transient),
        (502, "", Class::Transient),
        (500, "StorageReadError", Class::Transient),
        (400, "BadRequest", Class::Terminal),
        (405, "MethodNotAllowed", Class::Terminal),
        (413, "RequestEntityTooLarge", Class::Terminal),
        (413, "", Class::Terminal),
        (302, "", Class::Terminal),
        (0, "", Class::Terminal),
        // The reason wins over the code.
        (500, "NotFound", Class::NotFound),
        (404, "BadRequest", Class::Terminal),
    ];
    for (code, reason, class) in table {
        assert_eq!(status(code, reason).class(), class, "{code} {reason}");
    }
}

#[test]
fn a_status_body_is_read_with_its_details() {
    let error = answer(
        403,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
            "message":"pods \"a\" is forbidden: unable to create new content in namespace x because it is being terminated",
            "reason":"Forbidden","details":{"name":"a","kind":"pods","uid":"u-1","unknown":[1],
            "causes":[{"reason":"NamespaceTerminating","message":"namespace x is being terminated","field":"metadata.namespace"}]},
            "code":403}"#,
    );
    assert_eq!(error.class(), Class::NamespaceTerminating);
    assert!(error.has_cause(NAMESPACE_TERMINATING) && !error.has_cause("Other"));
    assert_eq!((error.code(), error.reason()), (403, "Forbidden"));
    let details = error.details().unwrap();
    assert_eq!(
        (&*details.name, &*details.kind, &*details.uid),
        ("a", "pods", "u-1")
    );
    assert_eq!(&*details.causes[0].field, "metadata.namespace");
    assert!(
        error
            .to_string()
            .starts_with("pods \"a\" is forbidden: unable to create")
    );
    assert!(!error.is_retryable());
}

#[test]
fn nulls_and_missing_fields_in_a_status_are_empty() {
    let error = answer(
        409,
        r#"{"status":null,"message":"m","reason":null,"code":null,
            "details":{"name":null,"causes":null,"retryAfterSeconds":null}}"#,
    );
    assert_eq!(error.class(), Class::Conflict);
    assert_eq!(error.code(), 409);
    assert_eq!(error.retry_after(), None);
    assert_eq!(
        answer(404, r#"{"message":"m","details":null}"#).class(),
        Class::NotFound
    );
}

#[test]
fn retry_after_comes_from_the_body_or_else_from_the_header() {
    let with_header = |header, body: &str| ApiError::from_response(429, header, body.as_bytes());
    let seconds = |n| Some(Duration::from_secs(n));
    let told = r#"{"message":"m","reason":"TooManyRequests","details":{"retryAfterSeconds":7}}"#;
    let untold = r#"{"message":"m","reason":"TooManyRequests"}"#;
    for (header, body, want) in [
        (None, told, seconds(7)),
        (Some("3"), told, seconds(7)),
        (Some("3"), untold, seconds(3)),
        (Some(" 3 "), "busy", seconds(3)),
        (None, untold, None),
        (Some("Wed, 21 Oct 2026 07:28:00 GMT"), untold, None),
        (Some("-1"), untold, None),
        (Some("0"), untold, None),
    ] {
        let error = with_header(header, body);
        assert_eq!(error.retry_after(), want, "{header:?} {body}");
        assert_eq!(error.class(), Class::TooManyRequests { retry_after: want });
        assert!(error.is_retryable());
    }
    let unavailable = ApiError::from_response(503, Some("2"), b"");
    assert_eq!(
        (unavailable.class(), unavailable.retry_after()),
        (Class::Transient, seconds(2))
    );
}

#[test]
fn a_body_that_is_no_status_gets_upstreams_words() {
    for (code, body, class, words) in [
        (
            404,
            "404 page not found",
            Class::NotFound,
            "the server could not find the requested resource",
        ),
        (409, "", Class::Conflict, "the server reported a conflict"),
        (403, " no entry \n", Class::Forbidden, "no entry"),
        (
            403,
            "",
            Class::Forbidden,
            "the server responded with the status code 403 but did not return more information",
        ),
        (
            502,
            "<html>bad \"gateway\"</html>",
            Class::Transient,
            "an error on the server (\"<html>bad \\\"gateway\\\"</html>\") has prevented the request from succeeding",
        ),
        (
            503,
            "{\"half\":",
            Class::Transient,
            "the server is currently unable to handle the request",
        ),
        (
            418,
            "[]",
            Class::Terminal,
            "the server responded with the status code 418 but did not return more information",
        ),
        (
            500,
            "{}",
            Class::Transient,
            "an error on the server (\"{}\") has prevented the request from succeeding",
        ),
        (
            422,
            r#"{"kind":"Pod","metadata":{"name":"a"}}"#,
            Class::Invalid,
            "the server rejected our request due to an error in our request",
        ),
        (
            401,
            r#"{"code":"not a number","message":"m"}"#,
            Class::Unauthorized,
            "the server has asked for the client to provide credentials",
        ),
    ] {
        let error = answer(code, body);
        assert_eq!(error.class(), class, "{code} {body}");
        assert_eq!(error.to_string(), words, "{code} {body}");
        assert_eq!(error.code(), code);
        assert!(error.has_cause("UnexpectedServerResponse"));
    }
}

#[test]
fn a_foreign_body_is_cut_even_inside_a_character() {
    let error = ApiError::from_response(500, None, "é".repeat(5000).as_bytes());
    assert!(error.message().len() < 2 * FOREIGN_TEXT_BYTES_MAX);
    let error = ApiError::from_response(500, None, &[0xff, 0xfe, b'x']);
    assert!(error.message().contains('x'));
}

#[test]
fn failures_without_an_answer_have_no_code() {
    let refused = ApiError::transport("dial tcp 127.0.0.1:6443: connect: connection refused");
    assert_eq!((refused.class(), refused.code()), (Class::Transient, 0));
    assert!(refused.is_retryable());
    assert_eq!(
        refused.to_string(),
        "dial tcp 127.0.0.1:6443: connect: connection refused"
    );
    assert_eq!(ApiError::timeout("took too long").class(), Class::Timeout);
    assert!(!ApiError::terminal("no such kubeconfig").is_retryable());
}

#[test]
fn only_what_may_pass_by_itself_is_retryable() {
    for (code, retryable) in [
        (401, false),
        (403, false),
        (404, false),
        (408, true),
        (409, false),
        (410, false),
        (422, false),
        (429, true),
        (500, true),
        (502, true),
        (503, true),
        (504, true),
        (400, false),
    ] {
        assert_eq!(status(code, "").is_retryable(), retryable, "{code}");
    }
}

#[test]
fn only_a_conflict_over_the_uid_tells_of_another_incarnation() {
    let conflict = |message| ApiError::from_status(Status::failure(409, "Conflict", message));
    for (message, other) in [
        (
            "Operation cannot be fulfilled on Pod \"a\": the UID in the precondition (1) does not \
             match the UID in record (2). The object might have been deleted and then recreated",
            true,
        ),
        (
            "Operation cannot be fulfilled on pods \"a\": Precondition failed: UID in \
             precondition: 1, UID in object meta: 2",
            true,
        ),
        (
            "Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object \
             meta: 2",
            false,
        ),
        ("admission webhook \"guard\" denied the request", false),
    ] {
        assert_eq!(conflict(message).is_other_incarnation(), other, "{message}");
    }
    let invalid = Status::failure(422, "Invalid", "the UID in the precondition");
    assert!(!ApiError::from_status(invalid).is_other_incarnation());
}

#[test]
fn a_status_round_trips() {
    let json = r#"{"status":"Failure","message":"m","reason":"Invalid","details":{"name":"a","causes":[{"reason":"FieldValueInvalid","message":"c","field":"spec"}],"retryAfterSeconds":1},"code":422}"#;
    let read: Status = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

#[test]
fn an_error_is_small_enough_to_be_passed_around() {
    assert!(size_of::<ApiError>() <= 32, "{}", size_of::<ApiError>());
}

#[test]
fn only_an_answer_about_an_object_says_that_it_is_gone() {
    let kind = crate::Kind::namespaced("apps", "v1", "Deployment", "deployments");
    let gone = ApiError::not_found(kind, "web");
    assert!(gone.is_not_found() && gone.is_object_not_found());
    assert_eq!(gone.to_string(), r#"deployments.apps "web" not found"#);
    let status = r#"{"kind":"Status","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}"#;
    for body in ["404 page not found", status] {
        let error = ApiError::from_response(404, None, body.as_bytes());
        assert!(
            error.is_not_found() && !error.is_object_not_found(),
            "{body}"
        );
    }
}

#[test]
fn what_helps_is_decided_in_one_place() {
    let invalid = |field: &str| {
        let causes =
            format!(r#"{{"causes":[{{"reason":"FieldValueInvalid","field":"{field}"}}]}}"#);
        answer(
            422,
            &format!(r#"{{"kind":"Status","reason":"Invalid","code":422,"details":{causes}}}"#),
        )
    };
    for (error, remedy) in [
        (status(409, "Conflict"), Remedy::LookAgain),
        (invalid("spec.nodeName"), Remedy::Edit),
        // A webhook or policy names no field.
        (invalid(""), Remedy::Retry),
        (status(422, "Invalid"), Remedy::Retry),
        // The object was recreated.
        (invalid("metadata.uid"), Remedy::LookAgain),
        (status(403, "Forbidden"), Remedy::Retry),
        (status(404, "NotFound"), Remedy::Retry),
        (status(500, "InternalError"), Remedy::Retry),
        (ApiError::transport("reset"), Remedy::Retry),
    ] {
        assert_eq!(error.remedy(), remedy, "{error:?}");
    }
}

#[test]
fn a_quota_that_refuses_is_named_with_its_resources() {
    let refused = |code, message: &str| {
        let status = Status::failure(code, "Forbidden", message);
        ApiError::from_status(status).exceeded_quota()
    };
    let words = "pods \"web-a\" is forbidden: exceeded quota: few, requested: cpu=2,pods=1, \
                 used: cpu=3,pods=1, limited: cpu=4,pods=1";
    let resources = vec![Text::from("cpu"), Text::from("pods")];
    assert_eq!(refused(403, words), Some(("few".to_owned(), resources)));
    assert_eq!(refused(500, words), None);
    assert_eq!(refused(403, "pods \"web-a\" is forbidden: no"), None);
    let unsaid = "pods \"web-a\" is forbidden: failed quota: few: must specify cpu";
    assert_eq!(refused(403, unsaid), None);
}
