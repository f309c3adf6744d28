//! How the controllers of the table are made from flags and a configuration file.

use flyball::Entry;
use flyball_controllers::of_client;
use flyball_plan::{Driver, Settings};
use flyball_workqueue::Options as QueueOptions;

use crate::options::{Options, Tuning};

/// Whether a controller is to run: chosen by name, and not switched off by a flag of its own.
pub fn is_wanted(entry: &Entry, options: &Options) -> bool {
    let switch = entry.descriptor.enabled_by;
    switch.is_none_or(|flag| options.settings.bool(flag))
        && options.generic.selection.enabled(entry.descriptor.name)
}

/// How many times the configured rate and burst a controller's client may send.
pub fn rate_factors(client: &str) -> (f64, u32) {
    let entry = of_client(client);
    entry.map_or((1.0, 1), |entry| {
        (entry.descriptor.qps_factor, entry.descriptor.burst_factor)
    })
}

/// Makes a controller as configured, for a server with these certificates.
pub fn make(entry: &Entry, options: &Options, root_ca: &str) -> Box<dyn Driver> {
    let tuning = options.tunings.get(entry.descriptor.name);
    let (queue, workers) = queue(entry, tuning);
    entry.tuned(&Configured { options, root_ca }, workers, queue)
}

/// The settings of flags and files.
struct Configured<'a> {
    options: &'a Options,
    root_ca: &'a str,
}

impl Settings for Configured<'_> {
    fn gate(&self, name: &str) -> bool {
        self.options.generic.feature_gates.enabled(name)
    }
    fn number(&self, flag: &str) -> Option<i64> {
        Some(self.options.settings.int(flag))
    }
    fn root_ca(&self) -> &str {
        self.root_ca
    }
}

/// How a controller's queue paces itself: configured, else as its descriptor says.
fn queue(entry: &Entry, tuning: Option<&Tuning>) -> (QueueOptions, usize) {
    let (defaults, workers) = (entry.pacing(), entry.descriptor.workers);
    let Some(tuning) = tuning else {
        return (defaults, workers);
    };
    let options = QueueOptions {
        base_delay: tuning.delay_base,
        max_delay: tuning.delay_max,
        max_retries: tuning.retries_max.or(entry.descriptor.retries_max),
        ..defaults
    };
    let workers = usize::try_from(tuning.workers).unwrap_or(workers);
    (options, workers)
}

#[cfg(test)]
mod tests {
    use flyball::CONTROLLERS;

    use super::*;
    use crate::options::controllers::{Workers, find};
    use crate::options::{Request, parse};

    fn options(words: &[&str]) -> Box<Options> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match parse("flyball", &words) {
            Ok(Request::Run(options)) => options,
            _ => panic!("{words:?} are no options"),
        }
    }

    fn wanted(words: &[&str], name: &str) -> bool {
        let options = options(words);
        let entry = CONTROLLERS.iter().find(|entry| entry.is(name)).unwrap();
        is_wanted(entry, &options)
    }

    #[test]
    fn the_garbage_collector_has_two_switches() {
        assert!(wanted(&[], "garbagecollector"));
        assert!(!wanted(
            &["--enable-garbage-collector=false"],
            "garbagecollector"
        ));
        assert!(!wanted(
            &["--controllers=*,-garbagecollector"],
            "garbagecollector"
        ));
        assert!(wanted(&["--enable-garbage-collector=false"], "deployment"));
    }

    #[test]
    fn upstreams_table_agrees_with_every_descriptor() {
        let defaults = options(&[]);
        for Entry { descriptor, .. } in CONTROLLERS {
            let known = find(descriptor.name).unwrap_or_else(|| panic!("{}", descriptor.name));
            assert_eq!(known.aliases, descriptor.aliases, "{}", descriptor.name);
            assert_eq!(known.client, descriptor.client, "{}", descriptor.name);
            let workers = match known.workers {
                Workers::Fixed(workers) => i64::from(workers),
                Workers::Flag(flag) => defaults.settings.int(flag),
            };
            assert_eq!(workers, descriptor.workers as i64, "{}", descriptor.name);
        }
    }

    #[test]
    fn the_readme_lists_what_is_in_the_table() {
        let readme = include_str!("../../../README.md");
        let line = readme
            .lines()
            .find(|line| line.contains("controllers, complete:"));
        let bold = line.unwrap().split("**").skip(1).step_by(2);
        let listed: Vec<&str> = bold.collect();
        let names = CONTROLLERS.iter().map(|entry| entry.descriptor.name);
        let short = |name: &'static str| name.strip_suffix("-controller").unwrap_or(name);
        let mut names: Vec<&str> = names.map(short).collect();
        names.sort_unstable();
        assert_eq!(listed, names);
    }
}
