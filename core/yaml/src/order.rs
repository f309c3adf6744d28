//! The order of keys: letters after anything else, numbers within texts by size.
//!
//! Upstream: `sigs.k8s.io/yaml/goyaml.v2/sorter.go`.

use std::cmp::Ordering;

/// Which of two keys comes first.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let differ = one.iter().zip(&other).position(|(a, b)| a != b);
    let Some(at) = differ else {
        return one.len().cmp(&other.len());
    };
    let (a, b) = (one[at], other[at]);
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero within a number counts as a digit of it, at its start it counts for nothing.
    let within = (a == '0' || b == '0')
        && one[..at]
            .iter()
            .rev()
            .take_while(|digit| digit.is_ascii_digit())
            .any(|digit| *digit != '0');
    let number = |text: &[char]| {
        let digits = text[at..].iter().map_while(|digit| digit.to_digit(10));
        let start = (u64::from(within), 0usize);
        digits.fold(start, |(number, length), digit| {
            let number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            (number, length + 1)
        })
    };
    number(&one).cmp(&number(&other)).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_people() {
        let mut keys = vec![
            "b", "a10", "a2", "a", "A", ".", "f:a", "a-b", "1", "10", "9", "",
        ];
        keys.sort_by(|one, other| compare(one, other));
        assert_eq!(
            keys,
            [
                "", ".", "1", "9", "10", "A", "a", "a-b", "a2", "a10", "b", "f:a"
            ]
        );
    }
}
