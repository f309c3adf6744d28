//! Laws: every wait is bounded as the crate's documentation says, and every add is served.
//!
//! Nothing here knows how the queue chooses. The test keeps its own list of who waits and counts.

use std::collections::BTreeSet;
use std::time::Duration;

use flyball_workqueue::{Added, Options, Priority, WorkQueue};
use proptest::prelude::*;

type Key = u32;

/// The number of priorities, as in the bound.
const PRIORITIES: usize = 3;

#[derive(Clone, Debug)]
enum Call {
    /// This many keys of one namespace at once.
    Add {
        namespace: u8,
        priority: Priority,
        keys: usize,
    },
    /// This many workers ask for a key.
    Serve(usize),
    Pass(Duration),
}

/// What the test remembers about a waiting key.
struct Waiting {
    key: Key,
    namespace: u8,
    priority: Priority,
    entered: Duration,
    ahead: usize,
    lanes_max: usize,
    /// Keys served since this one came.
    served: usize,
    /// Keys served since this one had aged.
    served_aged: usize,
    other_priority_served: bool,
}

struct Observer {
    queue: WorkQueue<Key>,
    aging: Duration,
    now: Duration,
    keys: Key,
    waiting: Vec<Waiting>,
}

impl Observer {
    fn new(aging: Duration) -> Self {
        let queue = WorkQueue::new(Options {
            aging,
            ..Options::default()
        });
        Observer {
            queue,
            aging,
            now: Duration::ZERO,
            keys: 0,
            waiting: Vec::new(),
        }
    }

    fn add(&mut self, namespace: u8, priority: Priority) {
        let key = self.keys;
        self.keys += 1;
        let added = self
            .queue
            .add(key, &namespace.to_string(), priority, self.now);
        assert_eq!(added, Added::Queued);
        let ahead = self
            .waiting
            .iter()
            .filter(|it| it.namespace == namespace && it.priority == priority)
            .count();
        self.waiting.push(Waiting {
            key,
            namespace,
            priority,
            entered: self.now,
            ahead,
            lanes_max: 0,
            served: 0,
            served_aged: 0,
            other_priority_served: false,
        });
        self.count_lanes();
    }

    /// Lanes only become occupied by an add, so it is enough to count then.
    fn count_lanes(&mut self) {
        for priority in [Priority::Low, Priority::Normal, Priority::High] {
            let of_priority = |it: &&Waiting| it.priority == priority;
            let lanes: BTreeSet<u8> = self
                .waiting
                .iter()
                .filter(of_priority)
                .map(|it| it.namespace)
                .collect();
            for it in self.waiting.iter_mut().filter(|it| it.priority == priority) {
                it.lanes_max = it.lanes_max.max(lanes.len());
            }
        }
    }

    fn serve(&mut self) -> Result<(), TestCaseError> {
        let Some(key) = self.queue.next(self.now) else {
            prop_assert!(
                self.waiting.is_empty(),
                "{} keys wait for ever",
                self.waiting.len()
            );
            return Ok(());
        };
        let index = self.waiting.iter().position(|it| it.key == key);
        prop_assert!(index.is_some(), "{} was served without waiting", key);
        let index = index.unwrap_or_default();
        let priority = self.waiting[index].priority;
        for it in &mut self.waiting {
            it.served += 1;
            it.other_priority_served |= it.priority != priority;
            let aged = self.now - it.entered >= self.aging || it.priority == Priority::High;
            it.served_aged += usize::from(aged);

            let bound = it.lanes_max * (it.ahead + 1);
            prop_assert!(
                it.other_priority_served || it.served <= bound,
                "key {} waits longer than {} turns",
                it.key,
                bound
            );
            prop_assert!(
                it.served_aged <= PRIORITIES * bound,
                "aged key {} waits longer than {} turns",
                it.key,
                PRIORITIES * bound
            );
        }
        let in_order = !self.waiting[..index]
            .iter()
            .any(|it| it.namespace == self.waiting[index].namespace && it.priority == priority);
        prop_assert!(in_order, "{} overtook a key of its own lane", key);
        self.waiting.remove(index);
        self.queue.done(&key, self.now);
        Ok(())
    }
}

fn call() -> impl Strategy<Value = Call> {
    let priority = prop_oneof![
        Just(Priority::Low),
        Just(Priority::Normal),
        Just(Priority::High)
    ];
    let keys = prop_oneof![4 => 1..4usize, 1 => 20..60usize];
    let time = prop_oneof![0..20u64, 100..500u64];
    prop_oneof![
        3 => (0..5u8, priority, keys)
            .prop_map(|(namespace, priority, keys)| Call::Add { namespace, priority, keys }),
        4 => (1..20usize).prop_map(Call::Serve),
        2 => time.prop_map(|ms| Call::Pass(Duration::from_millis(ms))),
    ]
}

proptest! {
    #[test]
    fn every_wait_is_bounded_and_every_add_is_served(
        aging_ms in prop_oneof![Just(0u64), 1..400u64],
        calls in prop::collection::vec(call(), 1..80),
    ) {
        let mut observer = Observer::new(Duration::from_millis(aging_ms));
        for call in calls {
            match call {
                Call::Add { namespace, priority, keys } => {
                    (0..keys).for_each(|_| observer.add(namespace, priority));
                }
                Call::Serve(workers) => {
                    for _ in 0..workers {
                        observer.serve()?;
                    }
                }
                Call::Pass(time) => observer.now += time,
            }
        }
        for _ in 0..=observer.waiting.len() {
            observer.serve()?;
        }
        prop_assert!(observer.waiting.is_empty() && observer.queue.is_idle());
    }
}

#[test]
fn a_low_key_is_served_under_an_endless_flood_of_higher_ones() {
    let aging = Duration::from_secs(5);
    let mut queue = WorkQueue::new(Options {
        aging,
        ..Options::default()
    });
    queue.add(0, "quiet", Priority::Low, Duration::ZERO);
    let mut now = Duration::ZERO;
    for key in 1.. {
        for (offset, priority) in [(0, Priority::Normal), (1, Priority::High)] {
            queue.add(2 * key + offset, "flood", priority, now);
        }
        let served = queue.next(now).unwrap();
        queue.done(&served, now);
        if served == 0 {
            break;
        }
        assert!(
            now < aging + Duration::from_millis(3),
            "not served by {now:?}"
        );
        now += Duration::from_millis(1);
    }
    assert!(now >= aging);
}
