//! Ages and durations for people: two or three significant figures.
//!
//! Upstream: `apimachinery/pkg/util/duration`.

use flyball_api::Timestamp;
use serde_json::Value;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The longest duration that upstream can count.
const SECONDS_MAX: i64 = i64::MAX / 1_000_000_000;

/// How long ago something was, from the time as written in an object.
pub(super) fn since(written: &Value, now: Timestamp) -> String {
    match time(written) {
        Some(then) => between(then, now),
        None => "<unknown>".into(),
    }
}

/// How long something took.
pub(super) fn between(from: Timestamp, to: Timestamp) -> String {
    // Division rounds towards zero, so a clock that is less than two seconds behind still gives `0s`.
    human((to.unix_micros() - from.unix_micros()) / 1_000_000)
}

/// The time that is written, unless there is none or it is Go's "not set".
pub(super) fn time(written: &Value) -> Option<Timestamp> {
    let time: Timestamp = written.as_str()?.parse().ok()?;
    (time != Timestamp::GO_ZERO).then_some(time)
}

/// So many seconds in words.
pub(super) fn human(seconds: i64) -> String {
    let seconds = seconds.min(SECONDS_MAX);
    let (minutes, hours, days) = (seconds / MINUTE, seconds / HOUR, seconds / DAY);
    if seconds < -1 {
        "<invalid>".into()
    } else if seconds < 0 {
        "0s".into()
    } else if seconds < 2 * MINUTE {
        format!("{seconds}s")
    } else if seconds < 10 * MINUTE {
        two(minutes, "m", seconds % MINUTE, "s")
    } else if seconds < 3 * HOUR {
        format!("{minutes}m")
    } else if seconds < 8 * HOUR {
        two(hours, "h", minutes % 60, "m")
    } else if seconds < 2 * DAY {
        format!("{hours}h")
    } else if seconds < 8 * DAY {
        two(days, "d", hours % 24, "h")
    } else if seconds < 2 * YEAR {
        format!("{days}d")
    } else if seconds < 8 * YEAR {
        two(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

/// Two figures, without the second if it is zero.
fn two(first: i64, unit: &str, second: i64, unit_small: &str) -> String {
    match second {
        0 => format!("{first}{unit}"),
        _ => format!("{first}{unit}{second}{unit_small}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_have_two_or_three_figures() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR, "8h"),
            (48 * HOUR - 1, "47h"),
            (48 * HOUR, "2d"),
            (3 * DAY + 4 * HOUR + 59, "3d4h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR, "8y"),
            (2026 * YEAR, "292y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn a_fraction_of_a_second_is_dropped_towards_zero() {
        let at = Timestamp::from_unix_micros;
        assert_eq!(between(at(0), at(1_999_999)), "1s");
        assert_eq!(between(at(1_999_999), at(0)), "0s");
        assert_eq!(between(at(2_000_000), at(0)), "<invalid>");
    }

    #[test]
    fn a_time_that_is_not_there_is_unknown() {
        let now = Timestamp::from_unix_seconds(100);
        for written in [
            json!(null),
            json!("0001-01-01T00:00:00Z"),
            json!("soon"),
            json!(3),
        ] {
            assert_eq!(since(&written, now), "<unknown>", "{written}");
        }
        assert_eq!(since(&json!("1970-01-01T00:01:30Z"), now), "10s");
    }
}
