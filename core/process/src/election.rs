//! The election: what is asked of the server, and what the start and the end of a term mean.

use std::time::Duration;

use flyball_api::request::Request;
use flyball_api::views::Lease;
use flyball_api::{ApiError, MicroTime, Uid};
use flyball_election::{Candidate, Command, Heard, Role, told};
use flyball_plan::Now;

use crate::effect::{Effect, News};
use crate::flaws::{Flaw, Flaws};
use crate::history::Doubt;
use crate::process::{Moment, Process};

/// How long most kinds must be in touch again before a blind candidate stands again.
const SIGHT_BACK: Duration = Duration::from_secs(1);

/// How late the election may be asked. A process that is later than that was stopped and continued:
/// what its connections bring may be of a server that is gone.
const OVERSLEPT: Duration = Duration::from_secs(1);

/// How often it is tried to give the Lease up at a stop.
const RELEASE_TRIES: u32 = 2;

/// A process's part in an election.
pub(crate) struct Standing {
    candidate: Candidate,
    asked: Option<Asked>,
    /// When the election must be heard of at the latest.
    due: Duration,
    leads: bool,
    /// Whether it stands aside, because it sees too little of the cluster.
    is_aside: bool,
    /// Whether the Lease is being given up for good.
    is_leaving: bool,
    /// How often giving it up has failed, and when it is tried again.
    release_failed: u32,
    release_at: Duration,
    /// Whether the Lease must be read before it can be given up.
    must_read: bool,
    /// Who held the Lease when that was last announced.
    holder: Option<String>,
    /// What tells our last term apart: the Lease, and how often it had changed hands.
    term: Option<(Uid, i32)>,
    /// Our last renewal that the server has acknowledged: its version and time.
    acknowledged: Option<(u64, Option<MicroTime>)>,
    /// The time in the last renewal that was sent.
    sent: Option<MicroTime>,
    /// Whether versions of the Lease and of the cached kinds are of one storage.
    is_comparable: Option<bool>,
}

/// A request of the election that is under way.
struct Asked {
    command: Command,
    at: Duration,
    /// The newest version that was seen before it was sent.
    newest: u64,
}

/// What the election wants.
#[derive(Clone, Debug)]
pub enum Elect {
    /// Send this, and give it up at this moment.
    Send(Request, Duration),
    /// Ask again at this moment.
    Wait(Duration),
}

impl Standing {
    pub(crate) fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            asked: None,
            due: Duration::MAX,
            leads: false,
            is_aside: false,
            is_leaving: false,
            release_failed: 0,
            release_at: Duration::ZERO,
            must_read: false,
            holder: None,
            term: None,
            acknowledged: None,
            sent: None,
            is_comparable: None,
        }
    }
}

impl<F: Flaws> Process<F> {
    /// Whether this process leads at this moment.
    pub fn leads(&self, now: Duration) -> bool {
        match &self.standing {
            None => !self.is_cut_off(),
            Some(standing) => standing.candidate.election().role(now) == Role::Leader,
        }
    }

    /// Until when this process leads without hearing from the server; `None` if it does not, or
    /// needs no Lease.
    pub fn leads_until(&self) -> Option<Duration> {
        self.standing.as_ref()?.candidate.election().leads_until()
    }

    /// Whether the start of the term was announced and its end was not.
    pub fn is_announced_leader(&self) -> bool {
        self.standing.as_ref().is_none_or(|standing| standing.leads)
    }

    /// The path of the Lease, if there is one.
    pub fn lease_path(&self) -> Option<String> {
        self.standing.as_ref().map(|one| one.candidate.path())
    }

    /// Says what the election wants now. While a request is under way, that is to wait for it.
    pub fn elect(&mut self, moment: &mut Moment<'_>) -> Elect {
        let now = moment.now;
        self.announce(moment);
        self.notice_sleep(moment);
        let newest = self.history.newest;
        let Some(standing) = self.standing.as_mut() else {
            return Elect::Wait(Duration::MAX);
        };
        let settings = standing.candidate.election().settings();
        let (patience, renew_deadline) = (settings.renew_deadline / 2, settings.renew_deadline);
        let pause = settings.retry_period;
        if let Some(asked) = &standing.asked {
            return Elect::Wait(asked.at + patience);
        }
        let stands = !standing.is_leaving && !standing.is_aside;
        if stands && self.is_blind(renew_deadline, now.monotonic) {
            self.step_aside();
        }
        let sees = !self.is_blind(SIGHT_BACK, now.monotonic);
        let Some(standing) = self.standing.as_mut() else {
            return Elect::Wait(Duration::MAX);
        };
        let command = match standing.is_aside || standing.is_leaving {
            true => standing.release(sees, pause, now),
            false => standing.candidate.next(now.monotonic, now.wall),
        };
        if let Command::WaitUntil(at) = command {
            // The term may end before anything else happens; it is noticed when it does.
            let at = standing.candidate.look_again_at(at, now.monotonic);
            standing.due = at;
            self.announce(moment);
            self.start_caches(moment);
            return Elect::Wait(at);
        }
        if let Command::Update(spec, _) | Command::Create(spec) = &command {
            standing.sent = spec.renew_time;
        }
        let request = standing.candidate.request(&command);
        standing.asked = Some(Asked {
            command,
            at: now.monotonic,
            newest,
        });
        standing.due = now.monotonic + patience;
        // Half the renew deadline for each request, as upstream.
        Elect::Send(request, now.monotonic + patience)
    }

    /// Takes the answer to the request of the election, or the error that none came in time.
    pub fn election_answered(&mut self, answer: Result<&[u8], &ApiError>, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        self.notice_sleep(moment);
        let renewed_before = self.renewed_version();
        let Some(standing) = self.standing.as_mut() else {
            return;
        };
        let Some(asked) = standing.asked.take() else {
            return;
        };
        let heard = Candidate::heard_of(&asked.command, asked.at, answer);
        let pause = standing.candidate.election().settings().retry_period;
        if matches!(heard, Heard::Failed) && (standing.is_aside || standing.is_leaving) {
            standing.release_failed += 1;
            standing.release_at = match standing.is_leaving {
                true => now,
                false => now + pause,
            };
        }
        let has_lapsed = standing.leads && !standing.is_leader(now);
        let was_leading = standing.leads;
        let sign = standing.sign(&heard, &asked);
        let renewed = match &heard {
            Heard::Written(lease, sent_at) if standing.is_ours(lease) => {
                standing.acknowledge(lease);
                Some(*sent_at)
            }
            // Our renewal whose answer was lost, or the last one that was answered.
            Heard::Lease(lease) if standing.acknowledged.is_some() && sign.is_none() => {
                if standing.is_ours(lease) {
                    standing.acknowledge(lease);
                }
                None
            }
            _ => None,
        };
        let jitter = moment.jitter();
        standing.hear(heard, now, jitter);
        let is_same_term = standing.is_same_term();
        let is_lost = matches!(answer, Err(error) if error.code() == 0);
        if let Some(why) = sign.filter(|_| !self.flaws.has(Flaw::LowerVersionTaken)) {
            self.change_history(why, moment);
        }
        if renewed.is_some() && !was_leading {
            // What was lost while it did not lead is looked at too, noticed or not.
            self.history.doubt.get_or_insert(Doubt {
                since: Duration::ZERO,
                base: renewed_before,
                late_base: renewed_before,
            });
            // Any other term begins with lists.
            if is_same_term {
                self.distrust(moment);
            }
        }
        if let (Some(sent_at), Some(doubt)) = (renewed, self.history.doubt) {
            match doubt.since <= sent_at {
                true => self.end_doubt(moment),
                // It was under way when the connection was lost.
                false => self.renew_soon(now),
            }
        }
        if has_lapsed {
            // The term was over by the clock, and its end was not announced yet.
            self.wake_all();
        }
        if is_lost {
            self.lost_connection(None, moment);
        }
        self.announce(moment);
        self.effects.push(Effect::Elect);
    }

    /// Takes a line of a watch of the Lease. While a request is under way only its answer counts.
    pub fn lease_told(&mut self, line: &[u8], moment: &mut Moment<'_>) {
        let (now, jitter) = (moment.now.monotonic, moment.jitter());
        let Some(standing) = self.standing.as_mut().filter(|one| one.asked.is_none()) else {
            return;
        };
        if let Some(lease) = told(line) {
            match standing.is_strange(&lease) {
                // The watch may lag; the Lease as it is now shows whose history this is.
                true => standing.candidate.read_at(now),
                false => standing.hear(Heard::Told(lease), now, jitter),
            }
            self.announce(moment);
            self.effects.push(Effect::Elect);
        }
    }

    /// Forgets what is known of the Lease in a lost history.
    pub(crate) fn forget_term(&mut self) {
        if let Some(standing) = self.standing.as_mut() {
            standing.acknowledged = None;
            standing.term = None;
        }
    }

    /// Trusts no connection if this process was stopped and continued.
    fn notice_sleep(&mut self, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        let standing = self.standing.as_mut();
        if let Some(standing) = standing.filter(|one| now > one.due.saturating_add(OVERSLEPT)) {
            standing.due = Duration::MAX;
            self.distrust(moment);
        }
    }

    /// The version of our last renewal that the server has acknowledged; 0 if there is none, or if
    /// it says nothing about other kinds.
    pub(crate) fn renewed_version(&self) -> u64 {
        let standing = self.standing.as_ref();
        let standing = standing.filter(|one| one.is_comparable == Some(true));
        let acknowledged = standing.and_then(|one| one.acknowledged);
        acknowledged.map_or(0, |(version, _)| version)
    }

    /// Renews the Lease at once.
    pub(crate) fn renew_soon(&mut self, now: Duration) {
        if let Some(standing) = self.standing.as_mut() {
            standing.candidate.renew_at(now);
            self.effects.push(Effect::Elect);
        }
    }

    /// Begins or ends the term as the election has it.
    fn announce(&mut self, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        let Some(standing) = self.standing.as_mut() else {
            return;
        };
        let holder = standing.candidate.election().holder().unwrap_or_default();
        // Before the first answer nothing is known, which is not news.
        if standing.holder.as_deref().unwrap_or_default() != holder {
            standing.holder = Some(holder.to_owned());
            let news = News::NewLeader(holder.to_owned());
            self.effects.push(Effect::Tell(news));
        }
        let election = standing.candidate.election();
        let leads = election.role(now) == Role::Leader && !standing.is_aside;
        if leads == standing.leads {
            return;
        }
        standing.leads = leads;
        let is_same_term = standing.is_same_term();
        let news = match leads {
            true => News::BecameLeader,
            false => News::LostLease,
        };
        self.effects.extend([Effect::Tell(news), Effect::Term]);
        if !leads {
            return;
        }
        standing.term = standing.candidate.term();
        // The same holder as before: only our own writes were made since, which the gate knows.
        // Any other term begins with lists that are newer than the predecessor's last write.
        if !is_same_term && !self.flaws.has(Flaw::TermWithOldCaches) {
            self.begin_round(moment);
        }
        self.start_caches(moment);
        // What the predecessor left half-done is looked at when the kinds are listed.
        self.plan_resync(moment);
        self.wake_all();
    }

    /// Gives the Lease up, because another process may see more, or does not stand for it.
    fn step_aside(&mut self) {
        let Some(standing) = self.standing.as_mut() else {
            return;
        };
        standing.is_aside = true;
        standing.release_failed = 0;
        if !standing.leads {
            return;
        }
        let why = "most kinds are out of touch with the server".to_owned();
        self.effects.push(Effect::Tell(News::SteppedDown(why)));
    }

    /// Gives the Lease up for good, at the end of a stop.
    pub(crate) fn leave(&mut self, moment: &mut Moment<'_>) {
        if let Some(standing) = self.standing.as_mut() {
            standing.is_leaving = true;
            standing.release_failed = 0;
            // A renewal under way is not waited for. Should it take effect, the version to write
            // against is another one, and is read.
            if standing.asked.take().is_some() {
                standing.must_read = true;
            }
            self.effects.push(Effect::Elect);
        }
        self.announce(moment);
    }

    /// Whether a request of the election is waited for. If not, one under way is to be dropped.
    pub fn is_election_asked(&self) -> bool {
        let standing = self.standing.as_ref();
        standing.is_some_and(|standing| standing.asked.is_some())
    }

    /// Whether the Lease is ours, as last seen; `false` without a Lease.
    pub fn holds_lease(&self) -> bool {
        let standing = self.standing.as_ref();
        standing.is_some_and(|standing| standing.candidate.election().holds())
    }

    /// Whether the Lease is still ours, or an answer about it is under way.
    pub(crate) fn is_leaving(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| {
            let gave_up = standing.release_failed >= RELEASE_TRIES;
            !gave_up && (standing.asked.is_some() || standing.candidate.election().holds())
        })
    }
}

impl Standing {
    fn is_leader(&self, now: Duration) -> bool {
        self.candidate.election().role(now) == Role::Leader
    }

    /// What is asked for in order to give the Lease up, and to stand again after a step aside.
    fn release(&mut self, sees: bool, pause: Duration, now: Now) -> Command {
        if now.monotonic < self.release_at {
            return Command::WaitUntil(self.release_at);
        }
        let gives_up = self.is_leaving && self.release_failed >= RELEASE_TRIES;
        let release = self.candidate.release(now.wall).filter(|_| !gives_up);
        match release {
            // Another write may have changed its version.
            Some(_) if self.must_read => {
                self.must_read = false;
                Command::Read
            }
            Some(release) => {
                self.must_read = true;
                release
            }
            None if self.is_aside && !self.is_leaving && sees => {
                self.is_aside = false;
                self.candidate.next(now.monotonic, now.wall)
            }
            None => Command::WaitUntil(now.monotonic + pause),
        }
    }

    /// Takes in what was heard of the Lease. Once it was seen in other hands, or not at all, the
    /// next term is another one.
    fn hear(&mut self, heard: Heard, now: Duration, jitter: f64) {
        self.candidate.hear(heard, now, jitter);
        if !self.candidate.election().holds() {
            self.term = None;
        }
    }

    /// Whether the Lease is of our last term: no other candidate has held it since.
    fn is_same_term(&self) -> bool {
        self.term.is_some() && self.term == self.candidate.term()
    }

    fn is_ours(&self, lease: &Lease) -> bool {
        let identity = &self.candidate.election().settings().identity;
        lease.spec.holder_identity.as_ref() == Some(identity)
    }

    fn acknowledge(&mut self, lease: &Lease) {
        let version = lease.metadata.resource_version.parse::<u64>();
        self.acknowledged = version.ok().map(|version| (version, lease.spec.renew_time));
    }

    /// Whether a Lease of ours is newer than our last renewal and is none that was sent since.
    fn is_strange(&self, lease: &Lease) -> bool {
        let version = lease.metadata.resource_version.parse::<u64>();
        let (Ok(version), Some((known, renewed))) = (version, self.acknowledged) else {
            return false;
        };
        let is_known = [renewed, self.sent].contains(&lease.spec.renew_time);
        self.is_ours(lease) && version >= known && !is_known
    }

    /// What an answer says against the history that we know.
    fn sign(&mut self, heard: &Heard, asked: &Asked) -> Option<String> {
        let (lease, is_written) = match heard {
            Heard::Written(lease, _) => (lease, true),
            Heard::Lease(lease) => (lease, false),
            _ => return None,
        };
        if !self.is_ours(lease) {
            return None;
        }
        let version = lease.metadata.resource_version.parse::<u64>().ok()?;
        if is_written && asked.newest > 0 {
            let fits = version >= asked.newest;
            let comparable = *self.is_comparable.get_or_insert(fits);
            return (comparable && !fits).then(|| {
                let newest = asked.newest;
                format!("the Lease was renewed at version {version} after {newest} was seen")
            });
        }
        let (known, _) = self.acknowledged.filter(|_| !is_written)?;
        (version < known || self.is_strange(lease))
            .then(|| format!("the Lease at version {version} lacks our renewal at version {known}"))
    }
}
