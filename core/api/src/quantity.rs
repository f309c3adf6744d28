//! Amounts of resources: upstream's `resource.Quantity`.
//!
//! `100m`, `0.1` and `1e-1` are one amount in three notations. A [`Quantity`] is compared by its
//! amount and remembers its notation only to print itself as upstream would. The arithmetic is
//! exact: a 128-bit number times a power of ten, never a float. Rules: apimachinery
//! `pkg/api/resource` (`ParseQuantity`, `CanonicalizeBytes`).
//!
//! Where this differs from upstream, on purpose:
//! * of more than 38 significant digits the first 38 count, rounded up, and what 128 bits cannot hold
//!   in a binary fraction or an exponent beyond 32 bits is an error, so that no input can cost more
//!   than its own length (upstream computes with numbers of any size);
//! * a number without a digit (`""`, `"+"`, `"Ki"`) is an error (upstream reads most as zero);
//! * `1000E` prints as `1e21` (upstream prints `1`, losing the suffix);
//! * printing is always canonical (upstream repeats some inputs as they came, such as `+5`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

mod arithmetic;
mod parse;
#[cfg(test)]
mod tests;

/// An exact amount and the notation it prefers.
///
/// Equality, order and hash are those of the amount; the notation does not count.
#[derive(Clone, Copy)]
pub struct Quantity {
    // Invariant: the amount is mantissa × 10^exponent, and the mantissa does not end in a zero;
    // zero is 0 × 10^0. So equal amounts have equal fields.
    mantissa: i128,
    exponent: i32,
    notation: Notation,
}

/// The three ways to write a suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// `12M`
    DecimalSi,
    /// `12Mi`
    BinarySi,
    /// `12e6`
    DecimalExponent,
}

/// The text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a quantity: {why}")]
pub struct QuantityUnreadable {
    /// What was to be read.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Quantity {
    /// Nothing at all.
    pub const ZERO: Quantity = Quantity {
        mantissa: 0,
        exponent: 0,
        notation: Notation::DecimalSi,
    };

    /// A whole number of units.
    pub fn from_integer(units: i64) -> Quantity {
        Quantity::normal(i128::from(units), 0, Notation::DecimalSi)
    }

    /// Whether this is nothing.
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// The whole units, a fraction rounded away from zero; stops at the ends of `i64`.
    pub fn value(&self) -> i64 {
        self.scaled(0)
    }

    /// The thousandths, a rest rounded away from zero; stops at the ends of `i64`.
    pub fn milli_value(&self) -> i64 {
        self.scaled(3)
    }

    /// The amount alone, the same for every notation of it: for hashing.
    pub(crate) fn amount_bytes(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..16].copy_from_slice(&self.mantissa.to_le_bytes());
        bytes[16..].copy_from_slice(&self.exponent.to_le_bytes());
        bytes
    }

    /// The amount times 10^places as a whole number.
    fn scaled(&self, places: i64) -> i64 {
        let exponent = i64::from(self.exponent) + places;
        let digits = self.mantissa.unsigned_abs();
        let magnitude = match u32::try_from(exponent) {
            Ok(exponent) => power_of_ten(exponent).and_then(|power| digits.checked_mul(power)),
            // A power too large to be held leaves a rest of less than one.
            Err(_) => Some(match power_of_ten(exponent.unsigned_abs().min(99) as u32) {
                Some(power) => digits.div_ceil(power),
                None => u128::from(digits > 0),
            }),
        };
        let signed = magnitude
            .and_then(|m| i128::try_from(m).ok())
            .unwrap_or(i128::MAX);
        let signed = if self.mantissa < 0 { -signed } else { signed };
        i64::try_from(signed.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or(0)
    }

    fn normal(mut mantissa: i128, mut exponent: i32, notation: Notation) -> Quantity {
        if mantissa == 0 {
            return Quantity {
                mantissa,
                exponent: 0,
                notation,
            };
        }
        while mantissa % 10 == 0 && exponent < i32::MAX {
            mantissa /= 10;
            exponent += 1;
        }
        Quantity {
            mantissa,
            exponent,
            notation,
        }
    }

    /// Base-1024 digits and power, if the binary notation can say this amount without loss.
    fn binary(&self) -> Option<(i128, usize)> {
        let power = power_of_ten(u32::try_from(self.exponent).ok()?)?;
        let mut units = self.mantissa.checked_mul(i128::try_from(power).ok()?)?;
        if units.abs() < 1024 {
            return None;
        }
        let mut thousands = 0;
        while units % 1024 == 0 && thousands < BINARY_SUFFIXES.len() - 1 {
            units /= 1024;
            thousands += 1;
        }
        Some((units, thousands))
    }
}

const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The decimal suffix of a power of ten that is a multiple of three.
fn decimal_suffix(exponent: i64) -> Option<&'static str> {
    const SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    usize::try_from(exponent / 3 + 3)
        .ok()
        .and_then(|at| SUFFIXES.get(at))
        .copied()
}

fn power_of_ten(exponent: u32) -> Option<u128> {
    10u128.checked_pow(exponent)
}

impl fmt::Display for Quantity {
    /// The canonical form: no fraction, the largest suffix that loses nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.notation == Notation::BinarySi
            && let Some((units, thousands)) = self.binary()
        {
            return write!(f, "{units}{}", BINARY_SUFFIXES[thousands]);
        }
        // Down to a multiple of three: one or two zeros move from the exponent to the digits.
        let padding = self.exponent.rem_euclid(3);
        let exponent = i64::from(self.exponent) - i64::from(padding);
        write!(
            f,
            "{}{}",
            self.mantissa,
            &"00"[..padding.unsigned_abs() as usize]
        )?;
        match decimal_suffix(exponent) {
            Some(suffix) if self.notation != Notation::DecimalExponent => f.write_str(suffix),
            _ if exponent == 0 => Ok(()),
            _ => write!(f, "e{exponent}"),
        }
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for Quantity {
    fn default() -> Quantity {
        Quantity::ZERO
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.mantissa == other.mantissa && self.exponent == other.exponent
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.mantissa, self.exponent).hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        let sign = self.mantissa.signum();
        match sign.cmp(&other.mantissa.signum()) {
            Ordering::Equal if sign < 0 => compare_magnitudes(other, self),
            Ordering::Equal => compare_magnitudes(self, other),
            unequal => unequal,
        }
    }
}

fn compare_magnitudes(a: &Quantity, b: &Quantity) -> Ordering {
    let (a_digits, b_digits) = (a.mantissa.unsigned_abs(), b.mantissa.unsigned_abs());
    let (Some(a_size), Some(b_size)) = (a_digits.checked_ilog10(), b_digits.checked_ilog10())
    else {
        return a_digits.cmp(&b_digits);
    };
    let a_leading = i64::from(a_size) + i64::from(a.exponent);
    let b_leading = i64::from(b_size) + i64::from(b.exponent);
    if a_leading != b_leading {
        return a_leading.cmp(&b_leading);
    }
    // The leading digits stand at the same place, so aligning the last ones makes both numbers as
    // long as the longer of them, which has at most 39 digits: this fits.
    let align = |digits: u128, by: i32| {
        let power = u32::try_from(by).ok().and_then(power_of_ten).unwrap_or(1);
        digits.saturating_mul(power)
    };
    let lowest = a.exponent.min(b.exponent);
    align(a_digits, a.exponent - lowest).cmp(&align(b_digits, b.exponent - lowest))
}

impl FromStr for Quantity {
    type Err = QuantityUnreadable;

    /// Reads every notation upstream reads. What is smaller than a billionth is rounded up, away
    /// from zero: who asks for a little gets some. A binary amount stops at 2^63 - 1.
    fn from_str(text: &str) -> Result<Quantity, QuantityUnreadable> {
        parse::parse(text).map_err(|why| QuantityUnreadable {
            text: text.to_owned(),
            why,
        })
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    /// From a text, blanks around it allowed, or from a plain number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.trim().parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
                Ok(Quantity::normal(number.into(), 0, Notation::DecimalSi))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity::from_integer(number))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity, E> {
                number.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}
