//! How the controllers of the table are made from flags and a configuration file.

use flyball::{Entry, Making};
use flyball_plan::Driver;
use flyball_workqueue::Options as QueueOptions;

use crate::options::{Options, Tuning};

/// Whether a controller is to run: chosen by name, and not switched off by a flag of its own.
pub fn is_wanted(entry: &Entry, options: &Options) -> bool {
    let switched_on = match entry.descriptor.name {
        "garbage-collector-controller" => options.settings.bool("enable-garbage-collector"),
        _ => true,
    };
    switched_on && options.generic.selection.enabled(entry.descriptor.name)
}

/// How many times the configured rate and burst a controller's client may send, as upstream grants
/// it: emptying a namespace takes some requests for every resource that there is.
pub fn rate_factors(client: &str) -> (f64, u32) {
    match client {
        "generic-garbage-collector" => (2.0, 1),
        "namespace-controller" => (20.0, 100),
        _ => (1.0, 1),
    }
}

/// Makes a controller as configured, for a server with these certificates.
pub fn make(entry: &Entry, options: &Options, root_ca: &str) -> Box<dyn Driver> {
    let tuning = options.tunings.get(entry.descriptor.name);
    let (queue, workers) = queue(entry, tuning);
    (entry.make)(&Making {
        gate: &|name| options.generic.feature_gates.enabled(name),
        queue,
        workers,
        root_ca,
        terminated_pod_threshold: options.generic.terminated_pod_threshold,
    })
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
    use crate::options::{Request, parse};

    fn wanted(words: &[&str], name: &str) -> bool {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Ok(Request::Run(options)) = parse("flyball", &words) else {
            panic!("{words:?} are no options");
        };
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
}
