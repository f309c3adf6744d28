//! How long a request may take: what its `?timeout=` says, and never longer than a minute.
//!
//! Upstream: `apiserver/pkg/endpoints/filters/request_deadline.go`; the notation is that of Go's
//! `time.ParseDuration`.

use std::time::Duration;

/// The longest time for a request that is no watch.
pub(crate) const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);

/// The time for a request; what is wrong with the one that was asked for.
pub(crate) fn time_for(asked: &str) -> Result<Duration, String> {
    if asked.is_empty() {
        return Ok(REQUEST_TIME_MAX);
    }
    let parsed = parse(asked)
        .map_err(|why| format!("invalid timeout specified in the request URL - time: {why}"))?;
    Ok(match parsed {
        Some(time) if !time.is_zero() => time.min(REQUEST_TIME_MAX),
        _ => REQUEST_TIME_MAX,
    })
}

/// A duration such as `1m30.5s`; `None` for a negative one.
fn parse(text: &str) -> Result<Option<Duration>, String> {
    let invalid = || format!("invalid duration {text:?}");
    let (is_negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Some(Duration::ZERO));
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let scale = match unit {
            "" => return Err(format!("missing unit in duration {text:?}")),
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            unit => return Err(format!("unknown unit {unit:?} in duration {text:?}")),
        };
        seconds += number * scale;
        rest = after;
    }
    if is_negative {
        return Ok(None);
    }
    Duration::try_from_secs_f64(seconds)
        .map(Some)
        .map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_counts_up_to_a_minute() {
        for (asked, want) in [
            ("", 60_000),
            ("1s", 1_000),
            ("1m0.5s", 60_000),
            ("1.5s", 1_500),
            ("30ms", 30),
            ("2h", 60_000),
            ("0", 60_000),
            ("0s", 60_000),
            ("-1s", 60_000),
        ] {
            assert_eq!(time_for(asked), Ok(Duration::from_millis(want)), "{asked}");
        }
    }

    #[test]
    fn nonsense_is_refused_in_gos_words() {
        let start = "invalid timeout specified in the request URL - time: ";
        for (asked, why) in [
            ("x", "invalid duration \"x\""),
            ("1", "missing unit in duration \"1\""),
            ("5y", "unknown unit \"y\" in duration \"5y\""),
            ("-", "invalid duration \"-\""),
            (".s", "invalid duration \".s\""),
            (
                "99999999999999999999h",
                "invalid duration \"99999999999999999999h\"",
            ),
        ] {
            assert_eq!(time_for(asked), Err(format!("{start}{why}")), "{asked}");
        }
    }
}
