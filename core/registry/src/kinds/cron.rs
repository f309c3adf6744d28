//! Whether a schedule can be read: five fields, or one of the words that stand for them.
//!
//! Upstream: `robfig/cron/v3` `parser.go`, whose words for mistakes these are.

struct Bounds {
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Bounds; 5] = [
    Bounds {
        min: 0,
        max: 59,
        names: &[],
    },
    Bounds {
        min: 0,
        max: 23,
        names: &[],
    },
    Bounds {
        min: 1,
        max: 31,
        names: &[],
    },
    Bounds {
        min: 1,
        max: 12,
        names: MONTHS,
    },
    Bounds {
        min: 0,
        max: 6,
        names: DAYS,
    },
];

const WORDS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// What is wrong with a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    for zone in ["TZ=", "CRON_TZ="] {
        if schedule.starts_with(zone) {
            rest = schedule.split_once(' ').map_or("", |(_, rest)| rest).trim();
        }
    }
    if rest.starts_with('@') {
        return check_word(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, bounds)?;
        }
    }
    Ok(())
}

fn check_word(word: &str) -> Result<(), String> {
    match word.strip_prefix("@every ") {
        Some(span) if is_duration(span) => Ok(()),
        Some(_) => Err(format!("failed to parse duration {word}")),
        None if WORDS.contains(&word) => Ok(()),
        None => Err(format!("unrecognized descriptor: {word}")),
    }
}

/// Numbers with units such as `1h30m`.
fn is_duration(span: &str) -> bool {
    let mut rest = span;
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
        let unit = number.trim_start_matches(|letter: char| letter.is_alphabetic());
        let name = &number[..number.len() - unit.len()];
        if number.len() == rest.len() || !["ns", "us", "µs", "ms", "s", "m", "h"].contains(&name) {
            return false;
        }
        rest = unit;
    }
    !span.is_empty()
}

fn check_range(range: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let (start, end) = match (parts[0], ends.as_slice()) {
        ("*" | "?", _) => (bounds.min, bounds.max),
        (_, [only]) => {
            let only = number_or_name(only, bounds)?;
            // With a step it is where counting starts.
            (only, if parts.len() > 1 { bounds.max } else { only })
        }
        (_, [start, end]) => (number_or_name(start, bounds)?, number_or_name(end, bounds)?),
        _ => return Err(format!("too many hyphens: {range}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {range}")),
    };
    if start < bounds.min {
        return Err(format!(
            "beginning of range ({start}) below minimum ({}): {range}",
            bounds.min
        ));
    }
    if end > bounds.max {
        return Err(format!(
            "end of range ({end}) above maximum ({}): {range}",
            bounds.max
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {range}"
        ));
    }
    if step == 0 {
        return Err(format!(
            "step of range should be a positive number: {range}"
        ));
    }
    Ok(())
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u32, String> {
    let name = text.to_ascii_lowercase();
    match bounds.names.iter().position(|known| *known == name) {
        Some(index) => Ok(bounds.min + u32::try_from(index).unwrap_or_default()),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u32, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_fields_or_a_word_make_a_schedule() {
        for (schedule, wrong) in [
            ("* * * * *", ""),
            ("*/5 0-6,12 1 jan-mar MON", ""),
            ("0 0 ? * 1/2", ""),
            ("@hourly", ""),
            ("@every 1h30m", ""),
            ("@every soon", "failed to parse duration"),
            ("@sometimes", "unrecognized descriptor: @sometimes"),
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            (
                "5-1 * * * *",
                "beginning of range (5) beyond end of range (1): 5-1",
            ),
            (
                "*/0 * * * *",
                "step of range should be a positive number: */0",
            ),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("x * * * *", "failed to parse int from x"),
        ] {
            match check(schedule) {
                Ok(()) => assert_eq!(wrong, "", "{schedule}"),
                Err(text) => assert!(!wrong.is_empty() && text.starts_with(wrong), "{text}"),
            }
        }
    }
}
