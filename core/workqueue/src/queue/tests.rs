//! The rules of the queue, one test each. Orders, delays and counts under any sequence of calls
//! are compared with a naive model in `tests/laws`.

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn queue() -> WorkQueue<&'static str> {
    WorkQueue::new(Options::default())
}

fn with(change: impl FnOnce(&mut Options)) -> WorkQueue<&'static str> {
    let mut options = Options::default();
    change(&mut options);
    WorkQueue::new(options)
}

fn add(queue: &mut WorkQueue<&'static str>, key: &'static str, now: Duration) -> Added {
    queue.add(key, "", Priority::Normal, now)
}

/// One run that fails.
fn fail(queue: &mut WorkQueue<&'static str>, key: &'static str, now: Duration) -> Retry {
    assert_eq!(queue.next(now), Some(key));
    let retry = queue.retry(&key, now);
    queue.done(&key, now);
    retry
}

#[test]
fn a_waiting_key_is_queued_once() {
    let mut queue = queue();
    assert_eq!(add(&mut queue, "a", ms(0)), Added::Queued);
    assert_eq!(add(&mut queue, "a", ms(1)), Added::Merged);
    assert_eq!(queue.next(ms(2)), Some("a"));
    assert_eq!(queue.next(ms(2)), None);
}

#[test]
fn a_key_added_while_processed_runs_again_when_done() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    queue.next(ms(0));
    assert_eq!(add(&mut queue, "a", ms(1)), Added::Queued);
    assert_eq!(add(&mut queue, "a", ms(1)), Added::Merged);
    assert_eq!(queue.next(ms(1)), None);
    assert!(queue.is_processing(&"a"));
    queue.done(&"a", ms(2));
    assert_eq!(queue.next(ms(2)), Some("a"));
    queue.done(&"a", ms(3));
    assert!(queue.is_idle());
}

#[test]
fn a_dirty_key_comes_back_with_the_highest_priority_it_was_added_with() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    queue.next(ms(0));
    add(&mut queue, "b", ms(1));
    queue.add("a", "", Priority::Low, ms(1));
    queue.add("a", "", Priority::High, ms(1));
    queue.done(&"a", ms(1));
    assert_eq!(queue.next(ms(1)), Some("a"));
}

#[test]
fn an_urgent_add_raises_a_waiting_key_and_a_lesser_one_does_not_lower_it() {
    let mut queue = queue();
    queue.add("a", "", Priority::Low, ms(0));
    queue.add("b", "", Priority::Normal, ms(0));
    assert_eq!(queue.add("a", "", Priority::High, ms(0)), Added::Merged);
    assert_eq!(queue.add("a", "", Priority::Low, ms(0)), Added::Merged);
    assert_eq!(
        (queue.next(ms(0)), queue.next(ms(0))),
        (Some("a"), Some("b"))
    );
}

#[test]
fn a_delayed_key_waits_for_the_earliest_time_asked() {
    let mut queue = queue();
    assert_eq!(queue.add_after("a", "", ms(50), ms(0)), Added::Queued);
    assert_eq!(queue.add_after("a", "", ms(10), ms(5)), Added::Queued);
    assert_eq!(queue.add_after("a", "", ms(99), ms(5)), Added::Merged);
    assert_eq!(queue.wake_at(), Some(ms(15)));
    assert_eq!(queue.next(ms(14)), None);
    assert_eq!(queue.next(ms(15)), Some("a"));
    queue.done(&"a", ms(15));
    assert!(queue.is_idle());
}

#[test]
fn no_delay_is_an_add() {
    let mut queue = queue();
    queue.add_after("a", "", Duration::ZERO, ms(0));
    assert_eq!((queue.len(), queue.delayed()), (1, 0));
}

#[test]
fn an_early_run_does_not_replace_the_delayed_one() {
    let mut queue = queue();
    queue.add_after("a", "", ms(50), ms(0));
    add(&mut queue, "a", ms(1));
    assert_eq!(queue.next(ms(1)), Some("a"));
    queue.forget(&"a");
    queue.done(&"a", ms(2));
    assert_eq!(queue.next(ms(49)), None);
    assert_eq!(queue.next(ms(50)), Some("a"));
}

#[test]
fn a_delayed_add_that_falls_due_while_the_key_waits_costs_no_second_run() {
    let mut queue = queue();
    queue.add_after("a", "", ms(50), ms(0));
    add(&mut queue, "a", ms(49));
    assert_eq!(queue.next(ms(51)), Some("a"));
    queue.done(&"a", ms(52));
    assert!(queue.is_idle());
}

#[test]
fn a_delayed_add_that_falls_due_while_the_key_is_processed_runs_after_it() {
    let mut queue = queue();
    queue.add_after("a", "", ms(50), ms(0));
    add(&mut queue, "a", ms(49));
    queue.next(ms(49));
    queue.done(&"a", ms(60));
    assert_eq!(queue.next(ms(60)), Some("a"));
}

#[test]
fn retries_come_after_5_ms_and_twice_as_long_each_time() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    let mut now = ms(0);
    for expected in [5, 10, 20, 40, 80, 160] {
        assert_eq!(fail(&mut queue, "a", now), Retry::After(ms(expected)));
        assert_eq!(
            queue.next(now + ms(expected) - Duration::from_nanos(1)),
            None
        );
        now += ms(expected);
    }
    assert_eq!(queue.failures(&"a"), 6);
}

#[test]
fn a_retry_brought_forward_does_not_count_but_still_waits() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    fail(&mut queue, "a", ms(0));
    fail(&mut queue, "a", ms(5));
    assert_eq!(queue.wake_at(), Some(ms(15)));
    for now in [ms(6), ms(7), ms(14)] {
        add(&mut queue, "a", now);
        assert_eq!(fail(&mut queue, "a", now), Retry::After(ms(10)));
        assert_eq!(queue.failures(&"a"), 2);
    }
    // The last failure was at 14: the retry that was due at 15 went with it.
    assert_eq!(queue.next(ms(23)), None);
    assert_eq!(fail(&mut queue, "a", ms(24)), Retry::After(ms(20)));
    assert_eq!(queue.failures(&"a"), 3);
}

#[test]
fn a_run_that_starts_takes_the_pending_retry_with_it() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    fail(&mut queue, "a", ms(0));
    add(&mut queue, "a", ms(1));
    assert_eq!(queue.next(ms(1)), Some("a"));
    queue.forget(&"a");
    queue.done(&"a", ms(2));
    assert!(queue.is_idle());
}

#[test]
fn a_key_changed_while_it_failed_runs_at_once_and_that_failure_does_not_count() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    queue.next(ms(0));
    add(&mut queue, "a", ms(1));
    assert_eq!(queue.retry(&"a", ms(1)), Retry::After(ms(5)));
    queue.done(&"a", ms(1));
    assert_eq!(fail(&mut queue, "a", ms(1)), Retry::After(ms(5)));
    assert_eq!(queue.failures(&"a"), 1);
}

#[test]
fn all_keys_share_one_retry_budget() {
    let mut queue = WorkQueue::new(Options::default());
    let mut waits = Vec::new();
    for key in 0..103 {
        queue.add(key, "", Priority::Normal, ms(0));
        queue.next(ms(0));
        waits.push(queue.retry(&key, ms(0)));
        queue.done(&key, ms(0));
    }
    assert!(waits[..100].iter().all(|wait| *wait == Retry::After(ms(5))));
    assert_eq!(
        waits[100..],
        [100, 200, 300].map(|wait| Retry::After(ms(wait)))
    );
}

#[test]
fn a_key_is_given_up_after_its_retries_and_leaves_no_trace() {
    let mut queue = with(|options| options.max_retries = Some(15));
    add(&mut queue, "a", ms(0));
    let mut now = ms(0);
    for _ in 0..15 {
        let Retry::After(delay) = fail(&mut queue, "a", now) else {
            panic!("given up early")
        };
        now += delay;
    }
    assert_eq!(
        fail(&mut queue, "a", now),
        Retry::Exhausted { failures: 16 }
    );
    assert!(queue.is_idle());
    assert_eq!(queue.failures(&"a"), 0);
}

#[test]
fn a_success_sets_the_failures_back() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    fail(&mut queue, "a", ms(0));
    assert_eq!(queue.next(ms(5)), Some("a"));
    queue.forget(&"a");
    assert_eq!(queue.retry(&"a", ms(5)), Retry::After(ms(5)));
}

#[test]
fn a_key_that_vanishes_leaves_no_trace() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    fail(&mut queue, "a", ms(0));
    assert_eq!(
        (queue.tracked(), queue.delayed(), queue.failures(&"a")),
        (1, 1, 1)
    );
    assert_eq!(queue.next(ms(5)), Some("a"));
    queue.done(&"a", ms(5));
    assert_eq!(
        (queue.tracked(), queue.delayed(), queue.failures(&"a")),
        (0, 0, 0)
    );
}

#[test]
fn only_a_key_in_process_can_be_retried_or_done() {
    let mut queue = queue();
    assert_eq!(queue.retry(&"a", ms(0)), Retry::Refused);
    queue.done(&"a", ms(0));
    queue.forget(&"a");
    add(&mut queue, "a", ms(0));
    assert_eq!(queue.retry(&"a", ms(0)), Retry::Refused);
    queue.done(&"a", ms(0));
    assert_eq!(queue.next(ms(0)), Some("a"));
}

#[test]
fn a_key_that_does_not_fit_is_reported_and_known_keys_still_merge() {
    let mut queue = with(|options| options.capacity = 2);
    add(&mut queue, "a", ms(0));
    queue.add_after("b", "", ms(5), ms(0));
    assert!(!queue.take_overflow());
    assert_eq!(add(&mut queue, "c", ms(0)), Added::Overflow);
    assert_eq!(queue.add_after("c", "", ms(1), ms(0)), Added::Overflow);
    assert_eq!(add(&mut queue, "a", ms(0)), Added::Merged);
    assert_eq!(add(&mut queue, "b", ms(0)), Added::Queued);
    assert!(queue.take_overflow());
    assert!(!queue.take_overflow());
    assert_eq!(queue.metrics(ms(0)).overflows_total, 2);
    assert_eq!(queue.next(ms(1)), Some("a"));
    queue.done(&"a", ms(1));
    assert_eq!(add(&mut queue, "c", ms(1)), Added::Queued);
}

#[test]
fn shutdown_ends_the_intake_drops_what_is_delayed_and_drains_the_rest() {
    let mut queue = queue();
    add(&mut queue, "failed", ms(0));
    fail(&mut queue, "failed", ms(0));
    add(&mut queue, "running", ms(0));
    queue.next(ms(0));
    add(&mut queue, "running", ms(0));
    add(&mut queue, "waiting", ms(0));
    queue.add_after("delayed", "", ms(1), ms(0));
    queue.shut_down();
    assert!(queue.is_shut_down() && !queue.is_drained());
    assert_eq!((queue.wake_at(), queue.tracked()), (None, 2));
    assert_eq!(add(&mut queue, "late", ms(1)), Added::Closed);
    assert_eq!(queue.add_after("late", "", ms(1), ms(1)), Added::Closed);

    assert_eq!(queue.next(ms(9)), Some("waiting"));
    assert_eq!(queue.retry(&"waiting", ms(9)), Retry::Refused);
    queue.done(&"waiting", ms(9));
    queue.done(&"running", ms(9));
    assert_eq!(queue.next(ms(9)), Some("running"));
    assert!(!queue.is_drained());
    queue.done(&"running", ms(9));
    assert!(queue.is_drained());
}

#[test]
fn time_never_runs_backwards() {
    let mut queue = queue();
    queue.add_after("a", "", ms(10), ms(100));
    assert_eq!(queue.next(ms(110)), Some("a"));
    queue.add_after("b", "", ms(10), ms(50));
    assert_eq!(queue.wake_at(), Some(ms(120)));
    queue.done(&"a", ms(0));
    assert_eq!(
        queue.metrics(ms(0)).work_duration_seconds.sum_seconds(),
        0.0
    );
}

#[test]
fn metrics_count_as_upstream_does() {
    let mut queue = queue();
    add(&mut queue, "a", ms(0));
    add(&mut queue, "a", ms(0));
    add(&mut queue, "b", ms(0));
    assert_eq!(queue.next(ms(20)), Some("a"));
    add(&mut queue, "a", ms(30));
    let metrics = queue.metrics(ms(50));
    assert_eq!((metrics.depth, metrics.adds_total), (2, 3));
    assert_eq!(metrics.unfinished_work_seconds, 0.03);
    assert_eq!(metrics.longest_running_processor_seconds, 0.03);

    queue.next(ms(60));
    let metrics = queue.metrics(ms(70));
    assert!((metrics.unfinished_work_seconds - 0.06).abs() < 1e-9);
    assert_eq!(metrics.longest_running_processor_seconds, 0.05);
    assert_eq!(metrics.queue_duration_seconds.sum_seconds(), 0.08);

    queue.retry(&"b", ms(70));
    queue.done(&"b", ms(70));
    queue.done(&"a", ms(80));
    // Added for the second time at 30, while it was being processed; b came back at 75.
    assert_eq!(queue.next(ms(100)), Some("b"));
    assert_eq!(queue.next(ms(100)), Some("a"));
    queue.add_after("c", "", ms(1), ms(100));
    let metrics = queue.metrics(ms(100));
    assert_eq!(
        (metrics.depth, metrics.adds_total, metrics.retries_total),
        (0, 4, 2)
    );
    assert_eq!(metrics.queue_duration_seconds.count(), 4);
    assert!((metrics.queue_duration_seconds.sum_seconds() - 0.175).abs() < 1e-9);
    assert_eq!(metrics.work_duration_seconds.count(), 2);
    assert!((metrics.work_duration_seconds.sum_seconds() - 0.07).abs() < 1e-9);
}

#[test]
fn a_step_brings_the_metrics_up_to_date_without_a_worker() {
    let mut queue = queue();
    queue.add_after("a", "", ms(1), ms(0));
    queue.step(ms(2));
    assert_eq!(queue.metrics(ms(2)).depth, 1);
    assert_eq!(queue.wake_at(), None);
}

#[test]
fn a_queue_works_on_after_it_gave_back_the_memory_of_a_burst() {
    let mut queue = WorkQueue::new(Options::default());
    for round in 0..2 {
        for key in 0..3 * SLOTS_KEPT {
            let namespace = if key % 2 == 0 { "even" } else { "odd" };
            queue.add(key, namespace, Priority::Normal, ms(round));
        }
        for key in 0..3 * SLOTS_KEPT {
            assert_eq!(queue.next(ms(round)), Some(key));
            queue.done(&key, ms(round));
        }
        assert!(queue.is_idle());
        assert_eq!(queue.entries.slots_made(), 0);
    }
}
