//! In touch or not leading: a leader that cannot see the cluster gives the Lease up.

use std::time::Duration;

use crate::flaws::Flaws;
use crate::process::Process;

impl<F: Flaws> Process<F> {
    /// How many caches have been out of touch with the server for so long, and how many there are.
    fn out_of_touch(&self, for_at_least: Duration, now: Duration) -> (usize, usize) {
        let all = self.caches.iter();
        let out = all.filter(|(_, cache)| {
            let out = cache.informer.readiness(now).out_of_touch;
            out.is_some_and(|out| out >= for_at_least)
        });
        (out.count(), self.caches.iter().count())
    }

    /// Whether most kinds have been out of touch for so long. One broken kind never counts for
    /// most, but where only one is cached.
    pub(crate) fn is_blind(&self, for_at_least: Duration, now: Duration) -> bool {
        let (out, all) = self.out_of_touch(for_at_least, now);
        self.caches_started && out * 2 > all
    }
}
