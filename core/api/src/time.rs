//! Instants as the API writes them.
//!
//! Kubernetes knows two spellings of one idea: `metav1.Time` prints whole seconds
//! (`2024-05-01T10:00:00Z`) and `metav1.MicroTime` always prints six digits of fraction. Both are
//! read from any RFC 3339 text, with any offset. Here an instant is a [`Timestamp`], eight bytes of
//! microseconds; [`MicroTime`] is the same instant with the other spelling.
//!
//! Microseconds and not nanoseconds, because they are all the API can say and because an `i64` of
//! nanoseconds ends in the year 2262, while certificates and tokens do live until 9999.
//!
//! The clock is nowhere in here: "now" is an argument, given by the shell.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

#[cfg(test)]
mod tests;

const MICROS_PER_SECOND: i64 = 1_000_000;

// The calendar is jiff's, without a zone: its own instants end a day before ours do.
const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// An instant on the UTC time line, in microseconds since 1970.
///
/// It is always within the years 0000 to 9999, so that it can always be printed; arithmetic stops
/// at the ends instead of overflowing. As text and in JSON it is upstream's `metav1.Time`: whole
/// seconds, rounded down, and `Z`. An absent or `null` time is an `Option` where it is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first instant that can be said: the start of the year 0000.
    pub const MIN: Timestamp = Timestamp(-62_167_219_200 * MICROS_PER_SECOND);
    /// The last instant that can be said: the last microsecond of the year 9999.
    pub const MAX: Timestamp = Timestamp(253_402_300_800 * MICROS_PER_SECOND - 1);
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Timestamp = Timestamp(0);
    /// The start of the year 1, which is Go's zero time: upstream takes it for "not set".
    pub const GO_ZERO: Timestamp = Timestamp(-62_135_596_800 * MICROS_PER_SECOND);

    /// The instant so many seconds after 1970 (before, if negative), kept within the ends.
    pub const fn from_unix_seconds(seconds: i64) -> Timestamp {
        Timestamp::from_unix_micros(seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// The instant so many microseconds after 1970 (before, if negative), kept within the ends.
    pub const fn from_unix_micros(micros: i64) -> Timestamp {
        if micros < Timestamp::MIN.0 {
            Timestamp::MIN
        } else if micros > Timestamp::MAX.0 {
            Timestamp::MAX
        } else {
            Timestamp(micros)
        }
    }

    /// Whole seconds since 1970, rounded down.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(MICROS_PER_SECOND)
    }

    /// Microseconds since 1970.
    pub const fn unix_micros(self) -> i64 {
        self.0
    }

    /// The same instant without its fraction of a second, which is what `metav1.Time` keeps.
    pub const fn floor_to_second(self) -> Timestamp {
        Timestamp(self.0.div_euclid(MICROS_PER_SECOND) * MICROS_PER_SECOND)
    }

    /// This instant moved forward. A part of a microsecond counts as a whole one, so that a wait
    /// never ends early.
    pub fn saturating_add(self, by: Duration) -> Timestamp {
        Timestamp::from_unix_micros(self.0.saturating_add(micros_up(by)))
    }

    /// This instant moved back. A part of a microsecond counts as a whole one.
    pub fn saturating_sub(self, by: Duration) -> Timestamp {
        Timestamp::from_unix_micros(self.0.saturating_sub(micros_up(by)))
    }

    /// How much later this instant is than `earlier`; zero if it is not later.
    pub fn saturating_since(self, earlier: Timestamp) -> Duration {
        match u64::try_from(self.0 - earlier.0) {
            Ok(micros) => Duration::from_micros(micros),
            Err(_) => Duration::ZERO,
        }
    }

    /// The same instant, printed with microseconds.
    pub const fn micro(self) -> MicroTime {
        MicroTime(self)
    }

    fn civil(self) -> DateTime {
        EPOCH.saturating_add(SignedDuration::from_secs(self.unix_seconds()))
    }
}

fn micros_up(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1_000)).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_civil(self.civil(), f)?;
        f.write_str("Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.micro(), f)
    }
}

fn write_civil(at: DateTime, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (date, time) = (at.date(), at.time());
    write!(
        f,
        "{:04}-{:02}-{:02}",
        date.year(),
        date.month(),
        date.day()
    )?;
    write!(
        f,
        "T{:02}:{:02}:{:02}",
        time.hour(),
        time.minute(),
        time.second()
    )
}

/// An instant that is printed as upstream's `metav1.MicroTime`: always six digits of fraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(pub Timestamp);

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_civil(self.0.civil(), f)?;
        write!(f, ".{:06}Z", self.0.0.rem_euclid(MICROS_PER_SECOND))
    }
}

impl fmt::Debug for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Timestamp> for MicroTime {
    fn from(at: Timestamp) -> MicroTime {
        MicroTime(at)
    }
}

impl From<MicroTime> for Timestamp {
    fn from(at: MicroTime) -> Timestamp {
        at.0
    }
}

/// The text is not an RFC 3339 instant between the years 0000 and 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an RFC 3339 time")]
pub struct TimeUnreadable {
    /// What was to be read.
    pub text: String,
}

impl FromStr for Timestamp {
    type Err = TimeUnreadable;

    /// Reads RFC 3339 as Go does: `T` and `Z` in capitals, a fraction of any length after `.` or
    /// `,`, an offset as `Z` or `±hh:mm`; only an hour of one digit, which Go lets pass, is an
    /// error. What is finer than a microsecond is cut off.
    fn from_str(text: &str) -> Result<Timestamp, TimeUnreadable> {
        parse(text.as_bytes()).ok_or_else(|| TimeUnreadable {
            text: text.to_owned(),
        })
    }
}

impl FromStr for MicroTime {
    type Err = TimeUnreadable;

    fn from_str(text: &str) -> Result<MicroTime, TimeUnreadable> {
        text.parse().map(MicroTime)
    }
}

fn parse(text: &[u8]) -> Option<Timestamp> {
    let (whole, rest) = text.split_at_checked(19)?;
    let separators = [whole[4], whole[7], whole[10], whole[13], whole[16]];
    if separators != *b"--T::" {
        return None;
    }
    let field = |from: usize, to: usize| digits(&whole[from..to]);
    let small = |from: usize| field(from, from + 2).and_then(|n| i8::try_from(n).ok());
    let year = i16::try_from(field(0, 4)?).ok()?;
    let civil = DateTime::new(
        year,
        small(5)?,
        small(8)?,
        small(11)?,
        small(14)?,
        small(17)?,
        0,
    )
    .ok()?;
    let (fraction_micros, zone) = parse_fraction(rest)?;
    let seconds = civil.duration_since(EPOCH).as_secs() - parse_offset(zone)?;
    let micros = seconds * MICROS_PER_SECOND + fraction_micros;
    let at = Timestamp::from_unix_micros(micros);
    (at.0 == micros).then_some(at)
}

/// The fraction in microseconds and what follows it.
fn parse_fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.' | b',', digits_on)) = rest.split_first() else {
        return Some((0, rest));
    };
    let length = digits_on
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if length == 0 {
        return None;
    }
    let micros = (0..6).fold(0, |sum, place| {
        let digit = if place < length {
            i64::from(digits_on[place] - b'0')
        } else {
            0
        };
        sum * 10 + digit
    });
    Some((micros, &digits_on[length..]))
}

/// The offset east of UTC in seconds.
fn parse_offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn digits(text: &[u8]) -> Option<u16> {
    text.iter().try_fold(0u16, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u16::from(byte - b'0'))
    })
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        struct TimeText;
        impl Visitor<'_> for TimeText {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an RFC 3339 time")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(TimeText)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MicroTime, D::Error> {
        Timestamp::deserialize(deserializer).map(MicroTime)
    }
}
