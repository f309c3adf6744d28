//! What Go says of a time that it cannot parse.

/// The parts of RFC 3339 as Go's layout spells them. The fraction belongs to times with microseconds only.
const LAYOUT: &[&str] = &[
    "2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00",
];

/// Whether a time has the six digits after the second that Go asks of times with microseconds.
pub(super) fn has_micros(text: &str) -> bool {
    let fraction = text.get(19..).and_then(|text| after(text, ".000000", true));
    fraction.is_some_and(|rest| after(rest, "Z07:00", true).is_some())
}

/// The message for a text that is not a time, or not one with microseconds.
pub(super) fn message(text: &str, micros: bool) -> String {
    let layout = LAYOUT.iter().filter(|part| micros || **part != ".000000");
    let mut rest = text;
    for part in layout.clone() {
        match after(rest, part, micros) {
            Some(after) => rest = after,
            None => {
                let layout: String = layout.copied().collect();
                let (text, rest) = (quoted(text), quoted(rest));
                return format!(
                    "parsing time {text} as {layout:?}: cannot parse {rest} as {part:?}"
                );
            }
        }
    }
    if !rest.is_empty() {
        let (text, rest) = (quoted(text), quoted(rest));
        return format!("parsing time {text}: extra text: {rest}");
    }
    let number = |from: usize| text.get(from..from + 2).and_then(|two| two.parse().ok());
    let in_range = |from, range: std::ops::RangeInclusive<u8>| {
        number(from).is_some_and(|number| range.contains(&number))
    };
    let what = match () {
        () if !in_range(5, 1..=12) => "month",
        () if !in_range(11, 0..=23) => "hour",
        () if !in_range(14, 0..=59) => "minute",
        () if !in_range(17, 0..=59) => "second",
        () => "day",
    };
    format!("parsing time {}: {what} out of range", quoted(text))
}

/// A text in quotes as Go's parser of times has it: every byte of what is not ASCII as a number.
fn quoted(text: &str) -> String {
    let shown = text.bytes().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..0x80 => char::from(byte).to_string(),
        other => format!("\\x{other:02x}"),
    });
    format!("\"{}\"", shown.collect::<String>())
}

/// What follows a part of the layout; none if the text does not begin with it.
fn after<'a>(text: &'a str, part: &str, micros: bool) -> Option<&'a str> {
    let digits = |count: usize| {
        let (number, rest) = text.split_at_checked(count)?;
        number
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(rest)
    };
    match part {
        "2006" => digits(4),
        ".000000" => {
            let (fraction, rest) = text.split_at_checked(7)?;
            let digits = fraction.strip_prefix(['.', ','])?;
            digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then_some(rest)
        }
        "05" if !micros => {
            let rest = digits(2)?;
            // A fraction may follow the seconds although the layout has none.
            let fraction = rest.strip_prefix(['.', ',']);
            let fraction = fraction.filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
            Some(fraction.map_or(rest, |text| {
                text.trim_start_matches(|c: char| c.is_ascii_digit())
            }))
        }
        "Z07:00" => {
            if let Some(rest) = text.strip_prefix('Z') {
                return Some(rest);
            }
            let (offset, rest) = text.split_at_checked(6)?;
            let offset = offset.as_bytes();
            let is_digit = |at: usize| offset[at].is_ascii_digit();
            let is_offset = matches!(offset[0], b'+' | b'-')
                && offset[3] == b':'
                && [1, 2, 4, 5].into_iter().all(is_digit);
            is_offset.then_some(rest)
        }
        part if part.starts_with(|c: char| c.is_ascii_digit()) => digits(2),
        separator => text.strip_prefix(separator),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_cannot_be_parsed_is_named() {
        let layout = "as \"2006-01-02T15:04:05Z07:00\"";
        for (text, why) in [
            (
                "x",
                format!("parsing time \"x\" {layout}: cannot parse \"x\" as \"2006\""),
            ),
            (
                "ü",
                format!(
                    "parsing time \"\\xc3\\xbc\" {layout}: cannot parse \"\\xc3\\xbc\" as \"2006\""
                ),
            ),
            (
                "2020-01-01",
                format!("parsing time \"2020-01-01\" {layout}: cannot parse \"\" as \"T\""),
            ),
            (
                "2020-01-01T00:00:00",
                format!(
                    "parsing time \"2020-01-01T00:00:00\" {layout}: cannot parse \"\" as \"Z07:00\""
                ),
            ),
            (
                "2020-13-01T00:00:00Z",
                "parsing time \"2020-13-01T00:00:00Z\": month out of range".to_owned(),
            ),
            (
                "2020-02-30T00:00:00Z",
                "parsing time \"2020-02-30T00:00:00Z\": day out of range".to_owned(),
            ),
            (
                "2020-01-01T00:00:00Zx",
                "parsing time \"2020-01-01T00:00:00Zx\": extra text: \"x\"".to_owned(),
            ),
        ] {
            assert_eq!(message(text, false), why);
        }
    }

    #[test]
    fn a_time_with_microseconds_has_exactly_six_digits_after_the_second() {
        let layout = "as \"2006-01-02T15:04:05.000000Z07:00\"";
        assert!(has_micros("2020-01-01T00:00:00.123456+02:00"));
        for (text, rest, part) in [
            ("2020-01-01T00:00:00Z", "Z", ".000000"),
            ("2020-01-01T00:00:00.123456789Z", "789Z", "Z07:00"),
        ] {
            assert!(!has_micros(text));
            assert_eq!(
                message(text, true),
                format!("parsing time {text:?} {layout}: cannot parse {rest:?} as {part:?}")
            );
        }
    }
}
