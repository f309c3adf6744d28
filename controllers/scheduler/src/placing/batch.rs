//! Places one pod after the other, the most important first.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use flyball_api::{Text, Uid};

use super::board::{Board, Work};
use super::class::{Class, ClassKey};
use super::preemption::{Room, make_room};
use super::verdict::{Refused, Verdict, summary};
use super::{filter, score};
use crate::scheduling::Observation;
use crate::views::Pod;

/// The most pods that are bound in one sync; the next goes on.
pub(crate) const BURST: usize = 500;

/// The most pods that are told anew why they wait, in one sync.
pub(crate) const FAILURES_MAX: usize = 400;

/// When so many pods are to be deleted in one sync, nobody else has room made.
pub(crate) const VICTIMS_MAX: usize = 200;

/// What becomes of the pods that wait.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// Pods and their nodes, in the order they were placed.
    pub(crate) placed: Vec<(Arc<Pod>, Text)>,
    /// Pods that have to go on waiting, and why.
    pub(crate) failed: Vec<Failure>,
    /// Whether there is more to do than one sync does.
    pub(crate) more: bool,
    /// How much was looked at.
    pub(crate) work: Work,
}

/// A pod that has to go on waiting.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) pod: Arc<Pod>,
    /// Why, for people.
    pub(crate) message: Arc<str>,
    pub(crate) nomination: Nomination,
    /// Who has to go for it; those that go already are not among them.
    pub(crate) victims: Vec<Arc<Pod>>,
    /// Less important pods for which room was made on the same node, in vain.
    pub(crate) displaced: Vec<Arc<Pod>>,
}

/// What becomes of a pod's nominated node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nomination {
    /// It stays, whether there is one or not.
    Keep,
    /// There is none.
    Clear,
    /// It is this one.
    To(Text),
}

struct Batch<'a> {
    board: Board<'a>,
    classes: Vec<Result<Class<'a>, Arc<str>>>,
    class_of: HashMap<ClassKey<'a>, usize>,
    /// What was found of a class in vain, and when. It is so until something is drawn in.
    vain: HashMap<(usize, &'a str), (u64, Arc<str>, Nomination)>,
    doomed: HashSet<&'a Uid>,
    decision: Decision,
}

/// Decides what becomes of all pods that wait.
pub(crate) fn decide(seen: &Observation) -> Decision {
    let mut board = Board::new(&seen.nodes, &seen.namespaces);
    for pod in &seen.assigned {
        if let Some(node) = board.node(&pod.node_name) {
            board.put(pod, node);
        }
    }
    for pod in &seen.pending {
        if let Some(node) = board.node(&pod.nominated_node_name) {
            board.nominate(pod, node);
        }
    }
    let mut batch = Batch {
        board,
        classes: Vec::new(),
        class_of: HashMap::new(),
        vain: HashMap::new(),
        doomed: HashSet::new(),
        decision: Decision::default(),
    };
    for pod in &seen.pending {
        if batch.decision.placed.len() >= BURST {
            batch.decision.more = true;
            break;
        }
        batch.place(pod);
    }
    let mut decision = batch.decision;
    decision.work = batch.board.work(batch.classes.len());
    decision
}

impl<'a> Batch<'a> {
    fn place(&mut self, pod: &'a Arc<Pod>) {
        if self.board.slots.is_empty() {
            let why = "no nodes available to schedule pods";
            return self.fail(pod, why.into(), Nomination::Clear);
        }
        let id = self.class(pod);
        let known = self.vain.get(&(id, pod.nominated_node_name.as_str()));
        if let Some((generation, message, nomination)) = known
            && *generation == self.board.generation
        {
            let (message, nomination) = (message.clone(), nomination.clone());
            return self.fail(pod, message, nomination);
        }
        let class = match &self.classes[id] {
            Ok(class) => class,
            Err(why) => {
                let message = self.without_hope(why);
                return self.fail(pod, message, Nomination::Clear);
            }
        };
        let nominated = self.board.node(&pod.nominated_node_name);
        let promised =
            nominated.filter(|node| filter::check(pod, class, *node, &[], &self.board).is_ok());
        if let Some(node) = promised {
            return self.bind(pod, node);
        }
        let nodes = 0..self.board.slots.len();
        let verdicts: Vec<Verdict> = nodes
            .map(|node| filter::check(pod, class, node, &[], &self.board))
            .collect();
        let fits = verdicts.iter().enumerate().filter(|(_, it)| it.is_ok());
        let feasible: Vec<usize> = fits.map(|(node, _)| node).collect();
        match score::best(pod, class, &feasible, &self.board) {
            Some(node) => self.bind(pod, node),
            None => self.fall_back(pod, id, &verdicts),
        }
    }

    /// The number of a pod's class, which is worked out when it is first met.
    fn class(&mut self, pod: &'a Arc<Pod>) -> usize {
        let key = ClassKey::of(pod);
        if let Some(id) = self.class_of.get(&key) {
            return *id;
        }
        let class = Class::of(pod, &mut self.board).map_err(Arc::from);
        self.classes.push(class);
        self.class_of.insert(key, self.classes.len() - 1);
        self.classes.len() - 1
    }

    fn bind(&mut self, pod: &'a Arc<Pod>, node: usize) {
        if let Some(nominated) = self.board.node(&pod.nominated_node_name) {
            self.board.withdraw(pod, nominated);
        }
        self.board.put(pod, node);
        for class in self.classes.iter_mut().flatten() {
            class.note(pod, node, &self.board);
        }
        let name = self.board.slots[node].node.name.clone();
        self.decision.placed.push((pod.clone(), name));
    }

    /// No node will do: maybe others have to go.
    fn fall_back(&mut self, pod: &'a Arc<Pod>, id: usize, verdicts: &[Verdict]) {
        let reasons = verdicts.iter().filter_map(|it| it.as_ref().err());
        let nodes = verdicts.len();
        let refused = summary(nodes, reasons.flat_map(Refused::reasons));
        let room = match &self.classes[id] {
            // Its turn comes when those who go have been told.
            Ok(_) if self.doomed.len() >= VICTIMS_MAX => {
                self.decision.more = true;
                return;
            }
            Ok(class) => make_room(pod, class, verdicts, &self.board),
            Err(_) => return,
        };
        let (why, nomination) = match room {
            Room::On(node, victims) => {
                return self.nominate(pod, node, victims, refused.into());
            }
            Room::NotTried(why) => (why.to_owned(), Nomination::Keep),
            Room::Nowhere(why) => (why, Nomination::Clear),
        };
        let message: Arc<str> = format!("{refused} preemption: {why}").into();
        // As of now: without its own reservation, the next of its kind may fit.
        let found = (self.board.generation, message.clone(), nomination.clone());
        self.vain.insert((id, &pod.nominated_node_name), found);
        if nomination == Nomination::Clear {
            self.withdraw(pod);
        }
        self.fail(pod, message, nomination);
    }

    fn nominate(
        &mut self,
        pod: &'a Arc<Pod>,
        node: usize,
        victims: Vec<&'a Arc<Pod>>,
        message: Arc<str>,
    ) {
        self.withdraw(pod);
        let nominated = self.board.slots[node].nominated.iter();
        let displaced: Vec<&Arc<Pod>> = nominated
            .filter(|it| it.priority < pod.priority)
            .copied()
            .collect();
        for it in &displaced {
            self.board.withdraw(it, node);
        }
        self.board.nominate(pod, node);
        let mut doomed = Vec::new();
        for victim in victims.into_iter().filter(|it| !it.deleting) {
            if self.doomed.insert(&victim.uid) {
                doomed.push(victim.clone());
            }
        }
        let name = self.board.slots[node].node.name.clone();
        self.decision.failed.push(Failure {
            pod: pod.clone(),
            message,
            nomination: Nomination::To(name),
            victims: doomed,
            displaced: displaced.into_iter().cloned().collect(),
        });
    }

    /// Takes back the room that was made for a pod. Those who failed before it might fit now.
    fn withdraw(&mut self, pod: &Pod) {
        if let Some(node) = self.board.node(&pod.nominated_node_name) {
            self.board.withdraw(pod, node);
            self.decision.more |= !self.decision.failed.is_empty();
        }
    }

    fn fail(&mut self, pod: &Arc<Pod>, message: Arc<str>, nomination: Nomination) {
        self.decision.failed.push(Failure {
            pod: pod.clone(),
            message,
            nomination,
            victims: Vec::new(),
            displaced: Vec::new(),
        });
    }

    /// What is said of a pod that no node was even asked about.
    fn without_hope(&self, why: &str) -> Arc<str> {
        let nodes = self.board.slots.len();
        format!(
            "0/{nodes} nodes are available: {why}. preemption: 0/{nodes} nodes are available: \
             {nodes} Preemption is not helpful for scheduling."
        )
        .into()
    }
}
