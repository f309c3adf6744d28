use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn prints_every_accepted_spelling_as_upstream_does() {
    // Input, as metav1.Time, as metav1.MicroTime.
    let table = [
        (
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.000000Z",
        ),
        (
            "2024-05-01T10:00:00.5Z",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.500000Z",
        ),
        (
            "2024-05-01T10:00:00.000001Z",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.000001Z",
        ),
        (
            "2024-05-01T10:00:00.123456789Z",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.123456Z",
        ),
        (
            "2024-05-01T10:00:00,25Z",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.250000Z",
        ),
        (
            "2024-05-01T12:30:00+02:30",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.000000Z",
        ),
        (
            "2024-04-30T23:15:00-10:45",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.000000Z",
        ),
        (
            "2024-02-29T23:59:59.999999Z",
            "2024-02-29T23:59:59Z",
            "2024-02-29T23:59:59.999999Z",
        ),
        (
            "1969-12-31T23:59:59.25Z",
            "1969-12-31T23:59:59Z",
            "1969-12-31T23:59:59.250000Z",
        ),
        (
            "0000-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "0000-01-01T00:00:00.000000Z",
        ),
        (
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.000000Z",
        ),
    ];
    for (input, seconds, micros) in table {
        assert_eq!(at(input).to_string(), seconds, "{input}");
        assert_eq!(at(input).micro().to_string(), micros, "{input}");
        assert_eq!(
            serde_json::to_string(&at(input)).unwrap(),
            format!("\"{seconds}\"")
        );
        assert_eq!(
            serde_json::to_string(&MicroTime(at(input))).unwrap(),
            format!("\"{micros}\"")
        );
        assert_eq!(at(micros), at(input), "printing keeps the instant");
    }
}

#[test]
fn names_the_text_it_cannot_read() {
    let bad = [
        "",
        "yesterday",
        "2024-05-01",
        "2024-05-01T10:00:00",
        "2024-05-01 10:00:00Z",
        "2024-05-01t10:00:00z",
        "2024-05-01T10:00:00.Z",
        "2024-05-01T10:00:60Z",
        "2024-05-01T24:00:00Z",
        "2023-02-29T10:00:00Z",
        "2024-13-01T10:00:00Z",
        "2024-05-01T10:00:00+24:00",
        "2024-05-01T10:00:00+2:00",
        "2024-05-01T10:00:00Z ",
        "+024-05-01T10:00:00Z",
        "2024-05-01T10:00:00Zé",
        "0000-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ];
    for text in bad {
        let error = text.parse::<Timestamp>().unwrap_err();
        assert_eq!(error.text, text);
        assert!(error.to_string().contains(text), "{error}");
    }
    let error = serde_json::from_str::<Timestamp>("\"soon\"").unwrap_err();
    assert!(error.to_string().contains("soon"), "{error}");
    assert!(serde_json::from_str::<Timestamp>("17").is_err());
}

#[test]
fn null_is_no_time_where_an_option_is_asked_for() {
    assert_eq!(
        serde_json::from_str::<Option<Timestamp>>("null").unwrap(),
        None
    );
    let read: Option<MicroTime> = serde_json::from_str("\"2024-05-01T10:00:00.000007Z\"").unwrap();
    assert_eq!(read.unwrap().to_string(), "2024-05-01T10:00:00.000007Z");
}

#[test]
fn unix_numbers_and_text_agree() {
    assert_eq!(at("1970-01-01T00:00:00Z"), Timestamp::UNIX_EPOCH);
    assert_eq!(at("0001-01-01T00:00:00Z"), Timestamp::GO_ZERO);
    assert_eq!(
        at("2001-09-09T01:46:40Z"),
        Timestamp::from_unix_seconds(1_000_000_000)
    );
    assert_eq!(at("1969-12-31T23:59:59.25Z").unix_seconds(), -1);
    assert_eq!(at("1969-12-31T23:59:59.25Z").unix_micros(), -750_000);
    assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00Z");
    assert_eq!(
        Timestamp::MAX.micro().to_string(),
        "9999-12-31T23:59:59.999999Z"
    );
}

#[test]
fn arithmetic_stops_at_the_ends() {
    let noon = at("2024-05-01T12:00:00Z");
    assert_eq!(
        noon.saturating_add(Duration::from_secs(90)),
        at("2024-05-01T12:01:30Z")
    );
    assert_eq!(
        noon.saturating_sub(Duration::from_millis(1)),
        at("2024-05-01T11:59:59.999Z")
    );
    assert_eq!(noon.saturating_add(Duration::MAX), Timestamp::MAX);
    assert_eq!(noon.saturating_sub(Duration::MAX), Timestamp::MIN);
    assert_eq!(Timestamp::from_unix_seconds(i64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::from_unix_micros(i64::MIN), Timestamp::MIN);
    assert_eq!(
        Timestamp::MAX.saturating_since(Timestamp::MIN).as_secs(),
        315_569_519_999
    );
}

#[test]
fn waiting_a_nanosecond_ends_later_not_at_once() {
    let noon = at("2024-05-01T12:00:00Z");
    assert!(noon.saturating_add(Duration::from_nanos(1)) > noon);
}

#[test]
fn since_is_zero_for_what_is_not_earlier() {
    let (early, late) = (at("2024-05-01T12:00:00Z"), at("2024-05-01T12:00:02.5Z"));
    assert_eq!(late.saturating_since(early), Duration::from_millis(2500));
    assert_eq!(early.saturating_since(late), Duration::ZERO);
    assert_eq!(early.saturating_since(early), Duration::ZERO);
}

#[test]
fn floors_to_the_second_also_before_1970() {
    assert_eq!(
        at("2024-05-01T12:00:00.9Z").floor_to_second(),
        at("2024-05-01T12:00:00Z")
    );
    assert_eq!(
        at("1969-12-31T23:59:59.9Z").floor_to_second(),
        at("1969-12-31T23:59:59Z")
    );
}

#[test]
fn is_eight_bytes() {
    assert_eq!(size_of::<Timestamp>(), 8);
}
