//! What can go wrong between a controller and its server.

use std::collections::BTreeMap;

use flyball_api::ApiError;

/// How a request fails.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is refused and has no effect.
    Refused(ApiError),
    /// It takes effect, but the answer is lost on the way.
    AnswerLost,
}

/// The requests that are to fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    planned: BTreeMap<u64, Fault>,
    requests: u64,
}

impl Faults {
    pub(crate) fn plan(&mut self, nth: u64, fault: Fault) {
        self.planned.insert(self.requests + nth, fault);
    }

    pub(crate) fn clear(&mut self) {
        self.planned.clear();
    }

    /// What is to happen to the request that comes now.
    pub(crate) fn next(&mut self) -> Option<Fault> {
        let fault = self.planned.remove(&self.requests);
        self.requests += 1;
        fault
    }
}
