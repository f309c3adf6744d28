//! Never more pods than replicas and what was in flight by right.
//!
//! A replica set controller may only create what is missing from what it has seen *and* from what
//! it knows that it made itself in this life. Pods of an earlier leader, or whose answer was lost,
//! may come on top of that: nobody could know of them.
//!
//! Authority: upstream's expectations, `pkg/controller/controller_utils.go`; here
//! `docs/decisions/0006-gate.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flyball_api::Uid;
use flyball_api::views::{Pod, ReplicaSet, ReplicationController};
use flyball_informer::Snapshot;
use flyball_plan::rules::pods::is_active;
use flyball_plan::{Action, Answer};

use super::{Happened, Invariant};
use crate::bugs::pods_seen;
use crate::step::Life;
use crate::truth::{Thing, Truth};

/// The pods that each life knows that it made, by owner.
#[derive(Default)]
pub(super) struct OwnWrites {
    made: BTreeMap<(Life, String), BTreeSet<String>>,
}

/// Namespace, identity and wish of the owner of a key, as it was seen.
fn owner(controller: &str, key: &str, seen: &Snapshot) -> Option<(String, Uid, usize)> {
    let (namespace, name) = key.split_once('/')?;
    let (uid, replicas) = match controller {
        "replicaset-controller" => {
            let set = seen.get::<ReplicaSet>(namespace, name)?;
            (set.metadata.uid.clone(), set.spec.replicas)
        }
        "replicationcontroller-controller" => {
            let one = seen.get::<ReplicationController>(namespace, name)?;
            (one.metadata.uid.clone(), one.spec.replicas)
        }
        _ => return None,
    };
    let replicas = usize::try_from(replicas.unwrap_or(1)).unwrap_or(0);
    Some((namespace.to_owned(), uid, replicas))
}

impl Invariant for OwnWrites {
    fn name(&self) -> &'static str {
        "never more pods than replicas and what was in flight by right"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        match happened {
            Happened::Answered {
                life,
                controller,
                key,
                seen,
                action,
                answer: Answer::Done(written),
            } if creates_pod(action) => {
                if let Some((_, uid, _)) = owner(controller, key, seen) {
                    let made = self.made.entry((*life, uid.to_string())).or_default();
                    made.insert(written.uid.to_string());
                }
                Ok(())
            }
            Happened::Decided(decided) => {
                let items = decided.actions.items.iter();
                let wanted = items.filter(|action| creates_pod(action)).count();
                let owner = owner(decided.controller, decided.key, decided.seen);
                let (1.., Some((namespace, uid, replicas))) = (wanted, owner) else {
                    return Ok(());
                };
                let seen = pods_seen(decided.seen, &namespace, &uid);
                let seen: BTreeSet<String> = seen.map(|pod| pod.metadata.uid.to_string()).collect();
                let made = self.made.get(&(decided.life, uid.to_string()));
                // What it released or what is gone meanwhile does not count any more.
                let own = truth
                    .all("pods", &namespace)
                    .filter_map(|thing| match thing {
                        Thing::Pod(pod) if is_active(pod) => Some(&pod.metadata),
                        _ => None,
                    });
                let own = own.filter(|meta| meta.is_controlled_by(&uid));
                let known = own.filter(|meta| {
                    let id = meta.uid.to_string();
                    seen.contains(&id) || made.is_some_and(|made| made.contains(&id))
                });
                let known = known.count();
                if known + wanted <= replicas {
                    return Ok(());
                }
                Err(format!(
                    "{} {}: creates {wanted} of {replicas} though it made or saw {known} already",
                    decided.controller, decided.key
                ))
            }
            _ => Ok(()),
        }
    }
}

fn creates_pod(action: &Action) -> bool {
    let write = action.write();
    write.is_some_and(|write| write.is_create() && write.target.kind == Pod::KIND)
}
