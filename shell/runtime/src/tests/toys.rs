//! Toy controllers, and runtimes made of them.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{ApiError, ObjectName};
use flyball_client::Method;
use flyball_election::{Candidate, Settings};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Controller, Descriptor, Driver, Engine, Keys, Now, Report, Rule, Sight, Step,
};
use flyball_process::{CacheState, Elect, Process};

use super::api::Api;
use crate::clock::Clock;
use crate::election::ElectionOptions;
use crate::metrics::Metrics;
use crate::news::NewsDesk;
use crate::run::{Controlled, Running, Setup, start};
use crate::shared::Shared;

pub(super) const TOY: Descriptor = Descriptor {
    name: "toy-controller",
    aliases: &[],
    client: "toy-controller",
    component: "toy",
    queue: "toy",
    watches: &[Watch::of::<ReplicaSet>()],
    workers: 5,
    retries_max: None,
    ..Descriptor::BASE
};

/// Watches and does nothing.
pub(super) struct Onlooker;

/// Watches pods and everything that is discovered.
pub(super) struct AllSeeing;

/// Watches pods and knows which resources there are.
pub(super) struct Discovering;

macro_rules! onlooker {
    ($name:ty, $watched:ty, $sight:expr) => {
        impl Controller for $name {
            type Key = ObjectName;
            type Observation = ();
            type Memory = ();

            const DESCRIPTOR: Descriptor = Descriptor {
                watches: &[Watch::of::<$watched>()],
                ..TOY
            };
            const SIGHT: Sight = $sight;

            fn route(&self, _: &Change, _: &Snapshot) -> Keys<ObjectName> {
                Keys::new()
            }

            fn observe(&self, _: &ObjectName, _: &Snapshot, _: &()) -> Option<()> {
                None
            }

            fn step(&self, (): &(), _: &Answers, _: Now) -> Step {
                Step::rest(Report::new(Rule::new("NothingToDo", "nothing to do")))
            }
        }
    };
}

onlooker!(Onlooker, ReplicaSet, Sight::Named);
onlooker!(AllSeeing, Pod, Sight::Everything);
onlooker!(Discovering, Pod, Sight::Discovery);

pub(super) fn engine<C: Controller>(controller: C) -> Box<dyn Driver> {
    Box::new(Engine::new(controller))
}

pub(super) fn options(identity: &str) -> ElectionOptions {
    ElectionOptions {
        namespace: "kube-system".to_owned(),
        name: "flyball".to_owned(),
        settings: Settings {
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        },
        release_on_exit: true,
    }
}

pub(super) fn setup(api: &Api, drivers: Vec<Box<dyn Driver>>) -> Setup {
    let controlled = |driver| Controlled {
        driver,
        client: api.client(),
    };
    Setup {
        controllers: drivers.into_iter().map(controlled).collect(),
        informers: api.client(),
        election: None,
        shutdown_timeout: Duration::from_secs(5),
        resync_period: Duration::from_secs(12 * 3600),
        decisions: Default::default(),
    }
}

/// A runtime that leads without an election.
pub(super) fn leading(api: &Api, drivers: Vec<Box<dyn Driver>>) -> Running {
    start(setup(api, drivers), &mut Metrics::default()).unwrap()
}

/// A runtime that takes part in an election.
pub(super) fn elected(api: &Api, drivers: Vec<Box<dyn Driver>>, identity: &str) -> Running {
    let setup = Setup {
        election: Some((options(identity), api.client())),
        ..setup(api, drivers)
    };
    start(setup, &mut Metrics::default()).unwrap()
}

impl Running {
    pub(super) fn caches(&self) -> Vec<CacheState> {
        let caches = |process: &Process, now: flyball_plan::Now| process.caches(now.monotonic);
        self.shared.look(caches)
    }

    /// Comes back when the permission to write is as it is wanted.
    pub(super) async fn may_write(&self, wanted: bool) {
        let mut permission = self.shared.permissions.follow();
        let changed = permission.wait_for(|permission| permission.is_given == wanted);
        changed.await.unwrap();
    }

    pub(super) fn may_write_now(&self) -> bool {
        self.shared
            .look(|process, now| process.may_write(now.monotonic))
    }
}

/// A process without tasks. With a renew deadline it leads for so long and is not renewed.
pub(super) fn shared(api: &Api, renew_deadline: Option<Duration>) -> Arc<Shared> {
    let candidate = renew_deadline.map(|renew_deadline| {
        let settings = Settings {
            renew_deadline,
            retry_period: renew_deadline / 4,
            ..options("me").settings
        };
        Candidate::new("kube-system", "flyball", settings).unwrap()
    });
    let setup = setup(api, Vec::new());
    let settings = flyball_process::Settings {
        resync_period: setup.resync_period,
        shutdown_timeout: setup.shutdown_timeout,
        release_on_exit: true,
    };
    let process = Process::new(vec![engine(Onlooker)], candidate, settings).unwrap();
    let (clock, news) = (Clock::start(), NewsDesk::default());
    Arc::new(Shared::new(process, api.client(), clock, news))
}

/// Wins the election in the place of the server: no Lease is found, and one is created.
pub(super) fn win(shared: &Arc<Shared>) {
    while !shared.look(|process, now| process.leads(now.monotonic)) {
        let elect = shared.act(|process, moment| process.elect(moment));
        let Elect::Send(request, _) = elect else {
            panic!("{elect:?}")
        };
        let absent = ApiError::from_response(404, None, b"");
        let answer = match request.method {
            Method::Get => Err(&absent),
            _ => Ok(&request.body[..]),
        };
        shared.act(|process, moment| process.election_answered(answer, moment));
    }
    // The caches are none of the test's business.
    shared.close_feeds();
}
