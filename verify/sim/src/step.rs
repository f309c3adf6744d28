//! The alphabet: everything that can happen in a simulated cluster, one thing at a time.

use flyball_plan::SyncId;
use flyball_process::CacheId;

/// One life of one replica: what was meant for an earlier life is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Life {
    /// Which replica.
    pub replica: usize,
    /// How often it was started before.
    pub number: u32,
}

/// One action of a plan that is being carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deed {
    /// By whom.
    pub life: Life,
    /// Which of its controllers.
    pub controller: usize,
    /// In which sync.
    pub sync: SyncId,
    /// Which action of the stage.
    pub action: usize,
}

/// One thing that happens. Time passes between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A user edits a spec, or makes or removes an object.
    Edit(usize),
    /// A user makes an edit again that a restored server has lost.
    Redo(usize),
    /// A fault strikes: a crash, a pause, a lost node, a hand that meddles, a network that fails.
    Strike(usize),
    /// What a fault did for a while is over.
    Recover(usize),
    /// A replica that stood still goes on.
    Resume(usize),
    /// A replica starts with empty caches.
    Start(usize),
    /// The API server handles a request.
    Handle(u64),
    /// An answer, or the news that none will come, reaches whoever asked.
    Answer(u64),
    /// The next event of a watch is delivered to one informer, or to one candidate.
    Deliver(u64),
    /// The deadline of an informer has come.
    Elapse(Life, CacheId),
    /// What a cache has read is published and routed.
    Publish(Life, CacheId),
    /// A request is handed to its connection, which is open by now.
    Hand(u64),
    /// A replica that was asked to stop goes on with that.
    Stop(Life),
    /// A replica looks whether everything is to be routed once more.
    Resync(Life),
    /// The state that a fault will restore is copied.
    Backup(usize),
    /// A controller works on a key, if one is due. A kubelet acts by this step too.
    Work(Life, usize),
    /// One action of a plan is executed: its request leaves.
    Send(Deed),
    /// A replica asks the server which resources it has.
    Discover(Life),
    /// A candidate looks at its term and at its Lease.
    Elect(Life),
    /// A candidate watches its Lease anew.
    WatchLease(Life),
    /// A component tells the next of its events.
    Tell(Life, usize),
}
