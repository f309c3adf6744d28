//! Sets of indexes as texts, such as `1,3-5,7`.
//!
//! Upstream: `pkg/apis/batch/validation/validation.go`.

/// How many indexes a text names, each below `completions`.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last: Option<i64> = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!(
                "non-increasing order, previous: {last}, current: {first}"
            ));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that two texts have in common; what cannot be read is passed over.
pub(super) fn overlap(one: &str, other: &str, completions: i64) -> Option<i64> {
    let parts = |text: &str| -> Vec<(i64, i64)> {
        let parts = text.split(',').filter(|_| !text.is_empty());
        parts
            .filter_map(|part| interval(part, completions).ok())
            .collect()
    };
    let (ones, others) = (parts(one), parts(other));
    let (mut left, mut right) = (ones.iter().peekable(), others.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        if a.0 <= b.1 && b.0 <= a.1 {
            return Some(a.0.max(b.0));
        }
        match a.0 <= b.0 {
            true => left.next(),
            false => right.next(),
        };
    }
    None
}

fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str| {
        let number = part.parse::<i64>();
        let number =
            number.map_err(|_| format!("cannot convert string to integer for index: {part:?}"))?;
        match number >= completions {
            true => Err(format!("too large index: {part:?}")),
            false => Ok(number),
        }
    };
    match parts.as_slice() {
        [only] => number(only).map(|number| (number, number)),
        [first, last] => {
            let (first, last) = (number(first)?, number(last)?);
            if first >= last {
                return Err(format!(
                    "non-increasing order, previous: {first}, current: {last}"
                ));
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {text:?} violates the requirement that an index interval can have at most two parts \
             separated by '-'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_grow_and_stay_below_the_completions() {
        for (text, result) in [
            ("", Ok(0)),
            ("1,3-5", Ok(4)),
            ("5", Err("too large index: \"5\"")),
            ("2-1", Err("non-increasing order, previous: 2, current: 1")),
            (
                "0-1,1",
                Err("non-increasing order, previous: 1, current: 1"),
            ),
            (
                "x",
                Err("cannot convert string to integer for index: \"x\""),
            ),
        ] {
            let completions = if text == "5" { 5 } else { 9 };
            assert_eq!(
                count(text, completions),
                result.map_err(str::to_owned),
                "{text}"
            );
        }
    }

    #[test]
    fn two_sets_may_have_indexes_in_common() {
        assert_eq!(overlap("0-3", "2,5", 9), Some(2));
        assert_eq!(overlap("0-3", "4-5", 9), None);
        assert_eq!(overlap("x,1", "1", 9), Some(1));
    }
}
