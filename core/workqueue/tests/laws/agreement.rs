//! Law: whatever is done to it, the queue answers as the naive model does.

use std::time::Duration;

use flyball_workqueue::{Options, Priority, WorkQueue};
use proptest::prelude::*;

use crate::model::{Key, Model};

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Add(Key, Priority),
    AddAfter(Key, Duration),
    Next,
    /// Ends a run, if any: the number picks one of those going on.
    Done(usize),
    Retry(usize),
    Forget(Key),
    ShutDown,
    Pass(Duration),
    /// Lets time pass to the very moment at which something is due.
    Sleep,
}

/// Few keys in few namespaces: collisions of every kind are what is wanted.
fn namespace_of(key: Key) -> &'static str {
    ["", "a", "b"][usize::from(key % 3)]
}

fn key() -> impl Strategy<Value = Key> {
    0..12u8
}

fn priority() -> impl Strategy<Value = Priority> {
    prop_oneof![
        Just(Priority::Low),
        Just(Priority::Normal),
        Just(Priority::High)
    ]
}

fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0..30u64).prop_map(Duration::from_millis),
        (0..3_000u64).prop_map(Duration::from_millis),
        (0..2_000_000u64).prop_map(Duration::from_nanos),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        40 => (key(), priority()).prop_map(|(key, priority)| Call::Add(key, priority)),
        15 => (key(), delay()).prop_map(|(key, delay)| Call::AddAfter(key, delay)),
        50 => Just(Call::Next),
        35 => any::<usize>().prop_map(Call::Done),
        30 => any::<usize>().prop_map(Call::Retry),
        5 => key().prop_map(Call::Forget),
        1 => Just(Call::ShutDown),
        25 => delay().prop_map(Call::Pass),
        15 => Just(Call::Sleep),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    (
        prop_oneof![Just(None), (0..4u32).prop_map(Some)],
        prop_oneof![Just(100u32), 0..6u32],
        prop_oneof![Just(10.0), Just(1000.0)],
        prop_oneof![Just(1_000_000usize), 1..10usize],
        prop_oneof![Just(0u64), 1..2_000u64],
        prop_oneof![Just(1_000_000u64), 1..50u64],
    )
        .prop_map(
            |(max_retries, burst, rate_per_second, capacity, aging_ms, max_delay_ms)| Options {
                max_retries,
                burst,
                rate_per_second,
                capacity,
                aging: Duration::from_millis(aging_ms),
                max_delay: Duration::from_millis(max_delay_ms),
                ..Options::default()
            },
        )
}

fn play(options: Options, calls: Vec<Call>) -> Result<(), TestCaseError> {
    let mut queue = WorkQueue::new(options.clone());
    let mut model = Model::new(options);
    let mut running: Vec<Key> = Vec::new();
    let mut now = Duration::ZERO;
    for call in calls {
        if let Call::Pass(time) = call {
            // Nobody looks: what falls due meanwhile is found by the call that comes next.
            now += time;
            continue;
        }
        if let Call::Sleep = call {
            now = queue.wake_at().unwrap_or(now).max(now);
        }
        model.advance(now);
        match call {
            Call::Add(key, priority) => {
                let namespace = namespace_of(key);
                let added = queue.add(key, namespace, priority, now);
                prop_assert_eq!(added, model.add(key, namespace, priority));
            }
            Call::AddAfter(key, delay) => {
                let namespace = namespace_of(key);
                let added = queue.add_after(key, namespace, delay, now);
                prop_assert_eq!(added, model.add_after(key, namespace, delay));
            }
            Call::Next => {
                let next = queue.next(now);
                prop_assert_eq!(next, model.next());
                running.extend(next);
            }
            Call::Done(pick) if !running.is_empty() => {
                let key = running.swap_remove(pick % running.len());
                queue.done(&key, now);
                model.done(key);
            }
            Call::Retry(pick) if !running.is_empty() => {
                let key = running[pick % running.len()];
                prop_assert_eq!(queue.retry(&key, now), model.retry(key));
            }
            Call::Done(_) | Call::Retry(_) | Call::Pass(_) | Call::Sleep => queue.step(now),
            // These two are not told the time.
            Call::Forget(key) => {
                queue.step(now);
                queue.forget(&key);
                model.forget(key);
            }
            Call::ShutDown => {
                queue.step(now);
                queue.shut_down();
                model.shut_down();
            }
        }
        compare(&queue, &model, now)?;
    }
    Ok(())
}

fn compare(queue: &WorkQueue<Key>, model: &Model, now: Duration) -> Result<(), TestCaseError> {
    prop_assert_eq!(queue.len(), model.waiting());
    prop_assert_eq!(queue.wake_at(), model.wake_at());
    prop_assert_eq!(queue.delayed(), model.planned());
    prop_assert_eq!(queue.tracked(), model.tracked());
    for key in 0..12 {
        prop_assert_eq!(
            queue.failures(&key),
            model.failures(key),
            "failures of {}",
            key
        );
        prop_assert_eq!(queue.is_processing(&key), model.is_running(key));
    }
    let running_for = model.running_for();
    prop_assert_eq!(queue.processing(), running_for.len());

    let metrics = queue.metrics(now);
    prop_assert_eq!(metrics.depth, model.depth());
    prop_assert_eq!(metrics.adds_total, model.adds);
    prop_assert_eq!(metrics.retries_total, model.retries);
    prop_assert_eq!(metrics.overflows_total, model.overflows);
    prop_assert_eq!(
        metrics.queue_duration_seconds.count(),
        model.waits.len() as u64
    );
    prop_assert_eq!(
        metrics.work_duration_seconds.count(),
        model.works.len() as u64
    );
    for (ours, theirs) in [
        (
            metrics.queue_duration_seconds.sum_seconds(),
            model.waits.iter().sum::<Duration>(),
        ),
        (
            metrics.work_duration_seconds.sum_seconds(),
            model.works.iter().sum(),
        ),
        (metrics.unfinished_work_seconds, running_for.iter().sum()),
        (
            metrics.longest_running_processor_seconds,
            running_for.iter().max().copied().unwrap_or_default(),
        ),
    ] {
        prop_assert!(
            (ours - theirs.as_secs_f64()).abs() < 1e-6,
            "{} is not {:?}",
            ours,
            theirs
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_queue_answers_as_the_naive_model_does(
        options in options(),
        calls in prop::collection::vec(call(), 1..250),
    ) {
        play(options, calls)?;
    }
}
