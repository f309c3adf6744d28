//! Durations as Go writes and reads them: `1h2m3.5s`, `100ms`, `0`.

use std::fmt;
use std::time::Duration;

const UNITS: &[(&str, u128)] = &[
    // Longer names first where one is the start of another: "ms" must not be read as "m".
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// A signed number of nanoseconds, as Go's `time.Duration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(i64);

impl GoDuration {
    /// Reads Go's notation. The error says what is wrong, without repeating the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits == "0" {
            return Ok(Self(0));
        }
        if digits.is_empty() {
            return Err("not a duration (write for example 30s, 1m30s or 100ms)".to_owned());
        }
        let mut nanos: u128 = 0;
        let mut rest = digits;
        while !rest.is_empty() {
            let (part, tail) = read_part(rest)?;
            nanos = nanos.saturating_add(part);
            rest = tail;
        }
        let magnitude = i64::try_from(nanos)
            .map_err(|_| "too long for a duration (the limit is about 292 years)".to_owned())?;
        Ok(Self(if negative { -magnitude } else { magnitude }))
    }

    /// The same length, or nothing if it is negative.
    pub fn to_std(self) -> Option<Duration> {
        u64::try_from(self.0).ok().map(Duration::from_nanos)
    }

    /// Nanoseconds.
    pub fn nanos(self) -> i64 {
        self.0
    }
}

impl From<Duration> for GoDuration {
    fn from(length: Duration) -> Self {
        Self(i64::try_from(length.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// One number with its unit, in nanoseconds, and what follows it.
fn read_part(text: &str) -> Result<(u128, &str), String> {
    let number_len = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(number_len);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err("not a duration (write for example 30s, 1m30s or 100ms)".to_owned());
    }
    let unit_len = rest
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(rest.len());
    let (unit, tail) = rest.split_at(unit_len);
    if unit.is_empty() {
        return Err(format!(
            "the number {number} lacks a unit (write {number}s for seconds)"
        ));
    }
    let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("unknown unit {unit:?} (use ns, us, ms, s, m or h)"));
    };
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole
            .parse()
            .map_err(|_| "too long for a duration".to_owned())?
    };
    let mut nanos = whole.saturating_mul(*scale);
    let mut place = *scale;
    for digit in fraction.bytes() {
        place /= 10;
        nanos = nanos.saturating_add(u128::from(digit - b'0') * place);
    }
    Ok((nanos, tail))
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        if nanos == 0 {
            return f.write_str("0s");
        }
        if nanos < 1_000_000_000 {
            let (scale, unit) = match nanos {
                0..1_000 => (1, "ns"),
                1_000..1_000_000 => (1_000, "µs"),
                _ => (1_000_000, "ms"),
            };
            return write!(f, "{sign}{}{unit}", decimal(nanos, scale));
        }
        let minutes = nanos / 60_000_000_000;
        let seconds = decimal(nanos % 60_000_000_000, 1_000_000_000);
        match (minutes / 60, minutes % 60) {
            (0, 0) => write!(f, "{sign}{seconds}s"),
            (0, minutes) => write!(f, "{sign}{minutes}m{seconds}s"),
            (hours, minutes) => write!(f, "{sign}{hours}h{minutes}m{seconds}s"),
        }
    }
}

/// `value / scale` in decimal notation without trailing zeros; `scale` is a power of ten.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, fraction) = (value / scale, value % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let width = scale.ilog10() as usize;
    format!(
        "{whole}.{}",
        format!("{fraction:0width$}").trim_end_matches('0')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads_and_prints_what_go_prints() {
        for (text, printed) in [
            ("0", "0s"),
            ("0s", "0s"),
            ("1h2m3.5s", "1h2m3.5s"),
            ("100ms", "100ms"),
            ("1.5ms", "1.5ms"),
            ("90s", "1m30s"),
            ("12h", "12h0m0s"),
            ("8760h", "8760h0m0s"),
            ("5m", "5m0s"),
            (".5s", "500ms"),
            ("-2s", "-2s"),
            ("+2s", "2s"),
            ("7us", "7µs"),
            ("7µs", "7µs"),
            ("3ns", "3ns"),
            ("1s500ms", "1.5s"),
        ] {
            let read = GoDuration::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(read.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for (text, reason) in [
            ("5", "the number 5 lacks a unit (write 5s for seconds)"),
            ("", "not a duration (write for example 30s, 1m30s or 100ms)"),
            (
                "soon",
                "not a duration (write for example 30s, 1m30s or 100ms)",
            ),
            ("5d", "unknown unit \"d\" (use ns, us, ms, s, m or h)"),
            (
                "1.2.3s",
                "not a duration (write for example 30s, 1m30s or 100ms)",
            ),
            (
                "9999999h",
                "too long for a duration (the limit is about 292 years)",
            ),
        ] {
            assert_eq!(GoDuration::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_negative_duration_has_no_length() {
        assert_eq!(GoDuration::parse("-1s").map(GoDuration::to_std), Ok(None));
    }
}
