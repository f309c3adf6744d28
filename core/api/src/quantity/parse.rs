//! From text to an exact amount.

use super::{Notation, Quantity};

/// Amounts are rounded up to a whole number of these: 10^-9.
const NANO_EXPONENT: i64 = -9;

const NO_DIGITS: &str = "it has no digits";
const BAD_SUFFIX: &str =
    "its suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent such as e3";
const TOO_LONG: &str = "it has too many digits or too large an exponent";

/// As many digits count; further ones are rounded up.
const DIGITS_MAX: u32 = 38;

/// What a suffix multiplies by.
enum Factor {
    PowerOfTen(i64),
    PowerOfTwo(u32),
}

pub(super) fn parse(text: &str) -> Result<Quantity, &'static str> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let number_length = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = unsigned.split_at(number_length.unwrap_or(unsigned.len()));
    let (factor, notation) = suffix_factor(suffix).ok_or(BAD_SUFFIX)?;

    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') {
        return Err("it has more than one point");
    }
    let digits = Digits::read(whole, fraction)?;
    let magnitude = match factor {
        Factor::PowerOfTen(exponent) => digits.times_power_of_ten(exponent),
        Factor::PowerOfTwo(exponent) => digits.times_power_of_two(exponent),
    };
    let (mantissa, exponent) = magnitude.ok_or(TOO_LONG)?;
    let mantissa = i128::try_from(mantissa).map_err(|_| TOO_LONG)?;
    Ok(Quantity::normal(
        if negative { -mantissa } else { mantissa },
        exponent,
        notation,
    ))
}

fn suffix_factor(suffix: &str) -> Option<(Factor, Notation)> {
    let ten = |exponent| Some((Factor::PowerOfTen(exponent), Notation::DecimalSi));
    let two = |exponent| Some((Factor::PowerOfTwo(exponent), Notation::BinarySi));
    match suffix {
        "n" => ten(-9),
        "u" => ten(-6),
        "m" => ten(-3),
        "" => ten(0),
        "k" => ten(3),
        "M" => ten(6),
        "G" => ten(9),
        "T" => ten(12),
        "P" => ten(15),
        "E" => ten(18),
        "Ki" => two(10),
        "Mi" => two(20),
        "Gi" => two(30),
        "Ti" => two(40),
        "Pi" => two(50),
        "Ei" => two(60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
            Some((
                Factor::PowerOfTen(exponent.into()),
                Notation::DecimalExponent,
            ))
        }
    }
}

/// An unsigned decimal number: mantissa × 10^exponent, exactly.
struct Digits {
    mantissa: u128,
    exponent: i64,
}

impl Digits {
    fn read(whole: &str, fraction: &str) -> Result<Digits, &'static str> {
        if whole.is_empty() && fraction.is_empty() {
            return Err(NO_DIGITS);
        }
        let (mut mantissa, mut exponent) = (0u128, 0i64);
        // Zeros are held back until a digit follows them, so that 1 with fifty zeros still fits.
        let mut zeros_pending = 0u32;
        let (mut length, mut is_cut) = (0u32, false);
        let places = whole
            .bytes()
            .map(|digit| (digit, 0))
            .chain(fraction.bytes().map(|d| (d, 1)));
        for (digit, place) in places {
            exponent -= place;
            if digit == b'0' {
                zeros_pending += u32::from(mantissa != 0);
                continue;
            }
            if is_cut || length + zeros_pending + 1 > DIGITS_MAX {
                is_cut = true;
                zeros_pending += 1;
                continue;
            }
            length += zeros_pending + 1;
            mantissa = 10u128
                .checked_pow(zeros_pending + 1)
                .and_then(|power| mantissa.checked_mul(power))
                .and_then(|shifted| shifted.checked_add(u128::from(digit - b'0')))
                .ok_or(TOO_LONG)?;
            zeros_pending = 0;
        }
        exponent += i64::from(zeros_pending);
        mantissa += u128::from(is_cut);
        Ok(Digits { mantissa, exponent })
    }

    fn times_power_of_ten(self, exponent: i64) -> Option<(u128, i32)> {
        round_up_to_nano(self.mantissa, self.exponent + exponent)
    }

    fn times_power_of_two(self, exponent: u32) -> Option<(u128, i32)> {
        const MAX: u128 = i64::MAX as u128;
        let shifted = self.mantissa.checked_mul(1 << exponent);
        let (mantissa, exponent) = match shifted {
            Some(mantissa) => round_up_to_nano(mantissa, self.exponent)?,
            // Too large to be multiplied out. Without a fraction it is beyond the cap anyway.
            None if self.exponent >= 0 => return Some((MAX, 0)),
            None => return None,
        };
        // At or below 10^-9 × 2^128 a number of nanos fits; above it is beyond the cap.
        let units = match u32::try_from(exponent) {
            Ok(power) => 10u128
                .checked_pow(power)
                .and_then(|power| mantissa.checked_mul(power)),
            Err(_) => Some(mantissa / 10u128.pow(exponent.unsigned_abs())),
        };
        match units {
            Some(units) if units < MAX => Some((mantissa, exponent)),
            _ => Some((MAX, 0)),
        }
    }
}

/// A rest below 10^-9 becomes a whole 10^-9.
fn round_up_to_nano(mantissa: u128, exponent: i64) -> Option<(u128, i32)> {
    if mantissa == 0 {
        return Some((0, 0));
    }
    if exponent >= NANO_EXPONENT {
        return Some((mantissa, i32::try_from(exponent).ok()?));
    }
    let cut = u32::try_from(NANO_EXPONENT - exponent)
        .ok()
        .and_then(|n| 10u128.checked_pow(n));
    let nanos = cut.map_or(1, |power| mantissa.div_ceil(power));
    Some((nanos, NANO_EXPONENT as i32))
}
