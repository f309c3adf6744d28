//! How hard each controller works: upstream's worker flags, and our own settings beside them.
//!
//! Upstream lets only the number of workers be changed. The configuration file adds, in the section
//! of each controller: `workers` (the same as the `concurrent…Syncs` key, and available for every
//! controller), `maxRetries`, `baseDelay`, `maxDelay` and `resync`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::controllers::{CONTROLLERS, Known, Workers};
use super::duration::GoDuration;
use super::settings::{Origin, Place, Settings};
use super::value::{Kind, Value};

/// The keys that every controller's section of the file may have, with their kinds.
pub(super) const KEYS: &[(&str, Kind)] = &[
    ("workers", Kind::Int32),
    ("maxRetries", Kind::Int32),
    ("baseDelay", Kind::Duration),
    ("maxDelay", Kind::Duration),
    ("resync", Kind::Duration),
];

/// How one controller works through its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Keys worked on at the same time.
    pub workers: u32,
    /// Failures after which a key is dropped until its next change; none leaves it to the
    /// controller.
    pub retries_max: Option<u32>,
    /// Delay after a key's first failure; doubled by each further one.
    pub delay_base: Duration,
    /// The longest such delay.
    pub delay_max: Duration,
    /// How often every key is looked at again; none follows `--min-resync-period`. Caches are shared, so the
    /// shortest period of the controllers that run holds for all of them.
    pub resync: Option<Duration>,
}

/// What the file says about controllers, before it is judged: per canonical name, key and value
/// with its place.
pub(super) type Overrides = BTreeMap<&'static str, BTreeMap<&'static str, (Value, Place)>>;

/// The tuning of every controller, by canonical name; what is wrong is added to `problems`.
pub(super) fn read(
    settings: &Settings,
    overrides: &Overrides,
    problems: &mut Vec<String>,
) -> BTreeMap<&'static str, Tuning> {
    CONTROLLERS
        .iter()
        .map(|known| (known.name, read_one(known, settings, overrides, problems)))
        .collect()
}

fn read_one(
    known: &Known,
    settings: &Settings,
    overrides: &Overrides,
    problems: &mut Vec<String>,
) -> Tuning {
    let given = overrides.get(known.name);
    let given = |key: &str| given.and_then(|keys| keys.get(key));
    let mut length = |key: &str, default: Duration| match given(key) {
        Some((Value::Duration(length), place)) => match length.to_std() {
            Some(length) if !length.is_zero() => Some(length),
            _ => {
                problems.push(format!(
                    "{place} ({}.{key}): {length} must be longer than 0s",
                    known.section
                ));
                None
            }
        },
        _ => Some(default).filter(|default| !default.is_zero()),
    };
    let delay_base = length("baseDelay", Duration::from_millis(5)).unwrap_or_default();
    let delay_max = length("maxDelay", delay_max(known)).unwrap_or_default();
    let resync = length("resync", Duration::ZERO);
    if let Some((_, place)) = given("baseDelay").or_else(|| given("maxDelay"))
        && delay_base > delay_max
        && !delay_max.is_zero()
    {
        problems.push(format!(
            "{place} ({}): baseDelay {} must not be longer than maxDelay {}",
            known.section,
            GoDuration::from(delay_base),
            GoDuration::from(delay_max)
        ));
    }
    let retries_max = match given("maxRetries") {
        Some((Value::Int(count), place)) => match u32::try_from(*count) {
            Ok(count) => Some(count),
            Err(_) => {
                problems.push(format!(
                    "{place} ({}.maxRetries): {count} must not be negative",
                    known.section
                ));
                None
            }
        },
        _ => None,
    };
    let workers = workers(known, settings, given("workers"), problems);
    Tuning {
        workers,
        retries_max,
        delay_base,
        delay_max,
        resync,
    }
}

/// The longest delay after a failure, as upstream has it: a namespace on its way out is looked at
/// once a minute at least.
fn delay_max(known: &Known) -> Duration {
    Duration::from_secs(match known.name {
        "namespace-controller" => 60,
        _ => 1000,
    })
}

/// The number of workers: from the flag on the command line, else the file's `workers`, else the
/// flag's value.
fn workers(
    known: &Known,
    settings: &Settings,
    given: Option<&(Value, Place)>,
    problems: &mut Vec<String>,
) -> u32 {
    let own = match given {
        Some((Value::Int(count), place)) => {
            Some((*count, format!("{place} ({}.workers)", known.section)))
        }
        _ => None,
    };
    let (count, place) = match (known.workers, own) {
        (Workers::Fixed(count), None) => return count,
        (Workers::Fixed(_), Some(own)) => own,
        (Workers::Flag(flag), None) => (settings.int(flag), settings.place(flag)),
        (Workers::Flag(flag), Some((count, place))) => match &settings.get(flag).origin {
            Origin::CommandLine => (settings.int(flag), settings.place(flag)),
            Origin::File(_) if settings.int(flag) != count => {
                problems.push(format!(
                    "{place}: {count} contradicts {} = {}; keep one of them",
                    settings.place(flag),
                    settings.int(flag)
                ));
                (count, place)
            }
            Origin::File(_) | Origin::Default => (count, place),
        },
    };
    match u32::try_from(count) {
        Ok(count) if count > 0 => count,
        _ => {
            problems.push(format!(
                "{place}: {count} must be at least 1; to stop {} leave it out of --controllers",
                known.name
            ));
            1
        }
    }
}
