//! Numbers as Go prints them.

use serde_json::Number;

/// A number as Go's `%v` prints it: one that does not fit 64 bits, or has a fraction, is a float.
pub fn go_number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => whole.to_string(),
        (None, Some(float)) => go_float(float),
        (None, None) => number.to_string(),
    }
}

/// A float with as few digits as tell it from others, with an exponent if it is large or small.
fn go_float(float: f64) -> String {
    let text = format!("{float:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let power: i32 = exponent.parse().unwrap_or_default();
    if float == 0.0 || (-4..6).contains(&power) {
        return float.to_string();
    }
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_an_exponent_if_they_are_large_or_small() {
        for (json, expected) in [
            ("5", "5"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("123456.5", "123456.5"),
            ("1e6", "1e+06"),
            ("12345678901234567890", "1.2345678901234567e+19"),
            ("0.0001", "0.0001"),
            ("0.000025", "2.5e-05"),
            ("-2.5", "-2.5"),
            ("0.0", "0"),
        ] {
            let number: Number = serde_json::from_str(json).unwrap();
            assert_eq!(go_number(&number), expected, "{json}");
        }
    }
}
