//! A number that may also be said as a share of a total: upstream's `intstr.IntOrString`.
//!
//! `maxSurge: 3` is three pods, `maxSurge: 25%` a quarter of the replicas. The text is kept as it
//! came, even if it is neither, because it must survive a round trip; that it makes no sense is
//! found out when it is scaled. Rules: apimachinery `pkg/util/intstr`
//! (`GetScaledValueFromIntOrPercent`) and `pkg/controller/deployment/util` (`ResolveFenceposts`).

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A plain number, or a text that is meant to be a percentage.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IntOrPercent {
    /// So many.
    Int(i32),
    /// A text; only `<number>%` can be scaled.
    Text(Box<str>),
}

/// Where a share that is not a whole number goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// To the next whole number above.
    Up,
    /// To the next whole number below.
    Down,
}

/// The text is not a percentage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid value for IntOrString: {text:?} is not a percentage")]
pub struct NotAPercentage {
    /// What was to be scaled.
    pub text: String,
}

impl IntOrPercent {
    /// How many of `total` this is: a number is itself whatever the total, a percentage is scaled
    /// and rounded. Neither is kept within 0 and `total`; a result beyond `i32` stops at its ends.
    pub fn scaled(&self, total: i32, round: Round) -> Result<i32, NotAPercentage> {
        let text = match self {
            IntOrPercent::Int(number) => return Ok(*number),
            IntOrPercent::Text(text) => text,
        };
        let percent = text
            .strip_suffix('%')
            .and_then(|number| number.parse::<i64>().ok());
        let Some(percent) = percent else {
            return Err(NotAPercentage {
                text: text.to_string(),
            });
        };
        let hundredfold = i128::from(percent) * i128::from(total);
        let down = hundredfold.div_euclid(100);
        let exact = hundredfold.rem_euclid(100) == 0;
        let share = if round == Round::Up && !exact {
            down + 1
        } else {
            down
        };
        let ends = (i128::from(i32::MIN), i128::from(i32::MAX));
        Ok(i32::try_from(share.clamp(ends.0, ends.1)).unwrap_or(0))
    }
}

impl From<i32> for IntOrPercent {
    fn from(number: i32) -> IntOrPercent {
        IntOrPercent::Int(number)
    }
}

impl From<&str> for IntOrPercent {
    fn from(text: &str) -> IntOrPercent {
        IntOrPercent::Text(text.into())
    }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrPercent::Int(number) => write!(f, "{number}"),
            IntOrPercent::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for IntOrPercent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntOrPercent::Int(number) => serializer.serialize_i32(*number),
            IntOrPercent::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IntOrPercent, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = IntOrPercent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a 32-bit whole number or a text")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<IntOrPercent, E> {
                i32::try_from(number)
                    .map(IntOrPercent::Int)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<IntOrPercent, E> {
                i32::try_from(number)
                    .map(IntOrPercent::Int)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<IntOrPercent, E> {
                Ok(IntOrPercent::Text(text.into()))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

/// How far a rolling update may stray from the desired count, in pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fenceposts {
    /// How many pods there may be above the desired count.
    pub surge: i32,
    /// How many pods may be missing from the desired count.
    pub unavailable: i32,
}

/// Resolves both limits of a rolling update together.
///
/// An absent limit is 0. The surge rounds up and the unavailable rounds down; should both come out
/// as 0, nothing could ever move, so one pod may be missing then. The results are not capped at
/// `desired`: who needs that, does it.
pub fn resolve_fenceposts(
    max_surge: Option<&IntOrPercent>,
    max_unavailable: Option<&IntOrPercent>,
    desired: i32,
) -> Result<Fenceposts, NotAPercentage> {
    let scaled = |limit: Option<&IntOrPercent>, round| match limit {
        Some(limit) => limit.scaled(desired, round),
        None => Ok(0),
    };
    let surge = scaled(max_surge, Round::Up)?;
    let unavailable = scaled(max_unavailable, Round::Down)?;
    let stuck = surge == 0 && unavailable == 0;
    Ok(Fenceposts {
        surge,
        unavailable: if stuck { 1 } else { unavailable },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_themselves_and_percentages_are_scaled_and_rounded() {
        // Value, total, up, down.
        let table: [(IntOrPercent, i32, i32, i32); 12] = [
            (3.into(), 100, 3, 3),
            (0.into(), 100, 0, 0),
            ((-2).into(), 100, -2, -2),
            ("25%".into(), 10, 3, 2),
            ("25%".into(), 4, 1, 1),
            ("0%".into(), 7, 0, 0),
            ("1%".into(), 1, 1, 0),
            ("100%".into(), 7, 7, 7),
            ("150%".into(), 3, 5, 4),
            ("-50%".into(), 3, -1, -2),
            ("+50%".into(), 2, 1, 1),
            ("9223372036854775807%".into(), i32::MAX, i32::MAX, i32::MAX),
        ];
        for (value, total, up, down) in table {
            assert_eq!(
                value.scaled(total, Round::Up).unwrap(),
                up,
                "{value} of {total} up"
            );
            assert_eq!(
                value.scaled(total, Round::Down).unwrap(),
                down,
                "{value} of {total} down"
            );
        }
    }

    #[test]
    fn names_the_text_that_is_no_percentage() {
        for text in [
            "",
            "3",
            "%",
            "x%",
            "1.5%",
            "10%%",
            " 5%",
            "5 %",
            "99999999999999999999%",
        ] {
            let error = IntOrPercent::from(text).scaled(10, Round::Up).unwrap_err();
            assert_eq!(error.text, text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn json_keeps_what_it_was() {
        for json in ["5", "-1", "\"25%\"", "\"five\"", "\"\""] {
            let read: IntOrPercent = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
        for json in [
            "1.5",
            "2147483648",
            "-2147483649",
            "true",
            "[]",
            "{}",
            "null",
        ] {
            assert!(
                serde_json::from_str::<IntOrPercent>(json).is_err(),
                "{json}"
            );
        }
    }

    #[test]
    fn fenceposts_always_let_a_rollout_move() {
        // maxSurge, maxUnavailable, desired → surge, unavailable; the first six are the examples
        // in upstream's comment.
        let table = [
            ("0%", "1%", 2, 0, 1),
            ("0%", "1%", 1, 0, 1),
            ("1%", "25%", 2, 1, 0),
            ("1%", "25%", 1, 1, 0),
            ("1%", "0%", 2, 1, 0),
            ("1%", "0%", 1, 1, 0),
            ("0%", "0%", 10, 0, 1),
            ("25%", "25%", 10, 3, 2),
            ("25%", "25%", 0, 0, 1),
            ("100%", "100%", 3, 3, 3),
        ];
        for (surge, unavailable, desired, want_surge, want_unavailable) in table {
            let (surge, unavailable) = (surge.into(), unavailable.into());
            let posts = resolve_fenceposts(Some(&surge), Some(&unavailable), desired).unwrap();
            let want = Fenceposts {
                surge: want_surge,
                unavailable: want_unavailable,
            };
            assert_eq!(posts, want, "{surge} {unavailable} of {desired}");
        }
    }

    #[test]
    fn absent_fenceposts_are_zero_and_bad_ones_are_errors() {
        let one_missing = Fenceposts {
            surge: 0,
            unavailable: 1,
        };
        assert_eq!(resolve_fenceposts(None, None, 5).unwrap(), one_missing);
        let four = IntOrPercent::Int(4);
        let posts = resolve_fenceposts(Some(&four), None, 5).unwrap();
        assert_eq!(
            posts,
            Fenceposts {
                surge: 4,
                unavailable: 0
            }
        );
        let bad = IntOrPercent::from("lots");
        assert_eq!(
            resolve_fenceposts(Some(&bad), None, 5).unwrap_err().text,
            "lots"
        );
        assert_eq!(
            resolve_fenceposts(None, Some(&bad), 5).unwrap_err().text,
            "lots"
        );
    }
}
