//! Fills one informer the way a server would, and measures around it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use flyball_api::Object;
use flyball_conformance::Usage;
use flyball_informer::{AnyInformer as _, Command, Informer, Input};

use super::samples::Sample;
use crate::progress::Progress;

/// Of so many events the time of one is kept.
const TIMED_ONE_IN: usize = 8;

/// What one object costs, on average.
pub(crate) struct Cost {
    pub(crate) json_bytes: usize,
    pub(crate) cached_bytes: usize,
    pub(crate) resident_bytes: u64,
    pub(crate) decode_us: f64,
    pub(crate) informer_us: f64,
}

/// An informer that holds `count` objects, and what each of them costs.
pub(crate) fn fill<T: Object>(
    sample: &Sample,
    count: usize,
    allocated: fn() -> usize,
    progress: &Progress,
    empty: fn() -> Informer<T>,
) -> Result<(Informer<T>, Cost)> {
    let mut json = String::new();
    let (decode_us, json_bytes) = decode_all::<T>(sample, count.min(10_000), &mut json)?;

    // Made before anything is counted, and too short to show in what is resident.
    let mut taken = Vec::with_capacity(count.div_ceil(TIMED_ONE_IN));
    let (bytes_before, resident_before) = (allocated(), resident_bytes()?);
    let mut informer = empty();
    start(&mut informer)?;
    for number in 0..count {
        write_event("ADDED", sample, number, 0, &mut json);
        let spent = take_event(&mut informer, &json)?;
        if number % TIMED_ONE_IN == 0 {
            taken.push(spent);
        }
        if number % 1024 == 0 {
            progress.at(number);
        }
    }
    json.clear();
    json.push_str(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2000000","#);
    json.push_str(r#""annotations":{"k8s.io/initial-events-end":"true"}}}}"#);
    let together = take_event(&mut informer, &json)? + deliver(&mut informer);
    if informer.len() != count {
        bail!(
            "{} objects cached instead of {count} of kind {}",
            informer.len(),
            T::kind().kind
        );
    }
    let cached_bytes = allocated().saturating_sub(bytes_before) / count;

    for number in 0..count {
        write_event("MODIFIED", sample, number, 1, &mut json);
        take_event(&mut informer, &json)?;
        deliver(&mut informer);
    }
    let resident_bytes = resident_bytes()?.saturating_sub(resident_before) / count as u64;
    let cost = Cost {
        json_bytes,
        cached_bytes,
        resident_bytes,
        decode_us,
        informer_us: median_us(&mut taken) + together.as_secs_f64() * 1e6 / count as f64,
    };
    Ok((informer, cost))
}

/// Microseconds to decode an object, and the bytes of its JSON.
fn decode_all<T: Object>(sample: &Sample, count: usize, json: &mut String) -> Result<(f64, usize)> {
    let mut spent = Vec::with_capacity(count);
    let mut json_bytes = 0;
    for number in 0..count {
        json.clear();
        sample.write(number, 0, json);
        json_bytes += json.len();
        let begun = Instant::now();
        let object = T::decode(json.as_bytes())?;
        spent.push(begun.elapsed());
        drop(object);
    }
    Ok((median_us(&mut spent), json_bytes / count))
}

/// The median, because whoever else uses the machine shows in the mean.
fn median_us(spent: &mut [Duration]) -> f64 {
    spent.sort_unstable();
    let median = spent.get(spent.len() / 2).copied().unwrap_or_default();
    median.as_secs_f64() * 1e6
}

fn start<T: Object>(informer: &mut Informer<T>) -> Result<()> {
    let command = informer.step(Input::Start, Duration::ZERO, 0.5).command;
    match command {
        Some(Command::Watch(request)) if request.send_initial_events => {}
        other => bail!("the informer began with {other:?} instead of a streamed list"),
    }
    informer.step(Input::WatchStarted, Duration::ZERO, 0.5);
    Ok(())
}

fn write_event(kind: &str, sample: &Sample, number: usize, revision: usize, line: &mut String) {
    line.clear();
    line.push_str(r#"{"type":""#);
    line.push_str(kind);
    line.push_str(r#"","object":"#);
    sample.write(number, revision, line);
    line.push_str("}\n");
}

fn take_event<T: Object>(informer: &mut Informer<T>, line: &str) -> Result<Duration> {
    let begun = Instant::now();
    let event = Input::Event(line.as_bytes());
    let notice = informer.step(event, Duration::ZERO, 0.5).notice;
    let spent = begun.elapsed();
    match notice {
        Some(notice) => bail!("{notice}\n{line}"),
        None => Ok(spent),
    }
}

fn deliver<T: Object>(informer: &mut Informer<T>) -> Duration {
    let begun = Instant::now();
    let mut changes = Vec::new();
    while informer.changes_pending() > 0 {
        informer.changes(&mut changes, 1000);
        changes.clear();
    }
    begun.elapsed()
}

fn resident_bytes() -> Result<u64> {
    Ok(Usage::of(std::process::id())?.rss_kb * 1024)
}
