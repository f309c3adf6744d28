//! From an object to what blocks it: reports, followed from one to the next.

use std::collections::{HashMap, HashSet};

use crate::{Again, Finished, Outcome, Rule, Target, Wait};

/// How many objects are remembered; reports about further ones are not kept.
const OBJECTS_MAX: usize = 10_000;

/// The newest report of each controller about each object that waits for something.
#[derive(Debug, Default)]
pub struct Reports {
    objects: HashMap<Target, Vec<Stop>>,
    /// The objects that the newest sync of a key explained one by one.
    details: HashMap<(&'static str, String), Vec<Target>>,
}

/// One stop on the way to the blocker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The object.
    pub about: Target,
    /// The controller that decided about it.
    pub controller: &'static str,
    /// The rule that decided.
    pub rule: Rule,
    /// What it waits for.
    pub waits_for: Wait,
    /// When the controller looks again, if nothing changes.
    pub again: Again,
}

impl Reports {
    /// Takes note of how a sync ended: what it says replaces what its key said before.
    pub fn note(&mut self, controller: &'static str, finished: &Finished) {
        let report = &finished.report;
        let stop = |about: &Target, rule, waits_for: &Wait| Stop {
            about: about.clone(),
            controller,
            rule,
            waits_for: waits_for.clone(),
            again: report.again,
        };
        if let Some(about) = &finished.about {
            self.drop_stop(controller, about);
            if let Some(wait) = &report.waits_for {
                self.keep(stop(about, report.rule, wait));
            }
        }
        // A key that waits for its own writes decided nothing about single objects.
        if matches!(finished.outcome, Outcome::Gated(_)) {
            return;
        }
        let key = (controller, finished.key.clone());
        for about in self.details.remove(&key).unwrap_or_default() {
            self.drop_stop(controller, &about);
        }
        for detail in &report.details {
            self.keep(stop(&detail.about, detail.rule, &detail.waits_for));
        }
        let details: Vec<Target> = report.details.iter().map(|it| it.about.clone()).collect();
        if !details.is_empty() {
            self.details.insert(key, details);
        }
    }

    fn drop_stop(&mut self, controller: &str, about: &Target) {
        if let Some(stops) = self.objects.get_mut(about) {
            stops.retain(|stop| stop.controller != controller);
            if stops.is_empty() {
                self.objects.remove(about);
            }
        }
    }

    fn keep(&mut self, stop: Stop) {
        if self.objects.len() >= OBJECTS_MAX && !self.objects.contains_key(&stop.about) {
            return;
        }
        let stops = self.objects.entry(stop.about.clone()).or_default();
        stops.retain(|other| other.controller != stop.controller);
        stops.push(stop);
    }

    /// The way from an object to what blocks it. The last stop's wait says what would end it; an
    /// object about which nothing was reported ends the way at the stop that waits for it.
    pub fn walk(&self, from: &Target) -> Vec<Stop> {
        let mut way: Vec<Stop> = Vec::new();
        let mut seen = HashSet::new();
        let mut at = Some(from.clone());
        while let Some(target) = at.take().filter(|target| seen.insert(target.clone())) {
            // The newest one: an older one of another controller may have been overtaken by it.
            let Some(stop) = self.objects.get(&target).and_then(|stops| stops.last()) else {
                break;
            };
            at = stop.waits_for.target();
            way.push(stop.clone());
        }
        way
    }
}

#[cfg(test)]
mod tests;
