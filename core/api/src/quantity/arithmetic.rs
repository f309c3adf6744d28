//! Sums and differences of amounts.
//!
//! A result has the notation of the first amount, unless that is zero: nothing has no opinion about
//! how to write something. Rules: apimachinery `pkg/api/resource` (`Add`, `Sub`).

use super::{Quantity, power_of_ten};

impl Quantity {
    /// This and another amount together. Beside a much larger one, a small one is lost.
    #[must_use]
    pub fn plus(&self, other: &Quantity) -> Quantity {
        self.combined(other, i128::saturating_add)
    }

    /// This amount without the other one, which may leave less than nothing.
    #[must_use]
    pub fn minus(&self, other: &Quantity) -> Quantity {
        self.combined(other, i128::saturating_sub)
    }

    fn combined(&self, other: &Quantity, by: fn(i128, i128) -> i128) -> Quantity {
        let notation = if self.is_zero() {
            other.notation
        } else {
            self.notation
        };
        let exponent = self.exponent.min(other.exponent);
        let aligned = |one: &Quantity| {
            let places = i64::from(one.exponent) - i64::from(exponent);
            let power = power_of_ten(u32::try_from(places).ok()?)?;
            one.mantissa.checked_mul(i128::try_from(power).ok()?)
        };
        let alone =
            |one: &Quantity, mantissa: i128| Quantity::normal(mantissa, one.exponent, notation);
        // Zero stands at any place, and so does what is too small beside the other to be seen.
        if other.is_zero() {
            return alone(self, self.mantissa);
        }
        if self.is_zero() {
            return alone(other, by(0, other.mantissa));
        }
        match (aligned(self), aligned(other)) {
            (Some(one), Some(other)) => Quantity::normal(by(one, other), exponent, notation),
            (None, _) => alone(self, self.mantissa),
            (_, None) => alone(other, by(0, other.mantissa)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Quantity {
        text.parse().unwrap()
    }

    #[test]
    fn sums_and_differences_are_exact_and_keep_the_first_notation() {
        for (a, b, sum, difference) in [
            ("1", "500m", "1500m", "500m"),
            ("0", "1Ki", "1Ki", "-1Ki"),
            ("1Gi", "1M", "1074741824", "1072741824"),
            ("1Gi", "1Gi", "2Gi", "0"),
            ("2", "0", "2", "2"),
            ("1e3", "1", "1001", "999"),
            ("100m", "1n", "100000001n", "99999999n"),
            ("1Gi", "0", "1Gi", "1Gi"),
        ] {
            assert_eq!(amount(a).plus(&amount(b)).to_string(), sum, "{a} + {b}");
            assert_eq!(
                amount(a).minus(&amount(b)).to_string(),
                difference,
                "{a} - {b}"
            );
        }
    }

    #[test]
    fn beside_a_much_larger_amount_a_small_one_is_lost() {
        let large = amount("1e30");
        let tiny = amount("1n");
        assert_eq!(large.plus(&tiny), large);
        assert_eq!(tiny.minus(&large).plus(&large), Quantity::ZERO);
    }
}
