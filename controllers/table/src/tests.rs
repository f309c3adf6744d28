use std::collections::BTreeMap;
use std::time::Duration;

use super::*;

#[test]
fn no_name_means_two_controllers() {
    let names = CONTROLLERS.iter().flat_map(|entry| {
        let aliases = entry.descriptor.aliases.iter().copied();
        aliases.chain([entry.descriptor.name])
    });
    for name in names {
        let found = CONTROLLERS.iter().filter(|entry| entry.is(name));
        assert_eq!(found.count(), 1, "{name}");
    }
}

#[test]
fn an_entry_makes_the_controller_that_it_names() {
    for entry in CONTROLLERS {
        let made = entry.with_defaults("").descriptor();
        assert_eq!(made.name, entry.descriptor.name);
    }
}

#[test]
fn a_gate_has_one_default() {
    let mut defaults = BTreeMap::new();
    for gate in gates() {
        let known = *defaults.entry(gate.name).or_insert(gate.default);
        assert_eq!(known, gate.default, "{}", gate.name);
    }
    assert!(!Defaults { root_ca: "" }.gate("NoSuchGate"));
}

#[test]
fn all_views_of_the_manager_are_in_one_place_and_there_is_one_per_kind() {
    let watches = CONTROLLERS.iter().flat_map(|one| one.descriptor.watches);
    for watch in watches {
        let name = watch.view().name;
        assert!(name.starts_with("flyball_api::views::"), "{name}");
    }
    let drivers = CONTROLLERS.iter().map(|one| one.with_defaults(""));
    let settings = flyball_process::Settings {
        resync_period: Duration::MAX,
        shutdown_timeout: Duration::ZERO,
        release_on_exit: true,
    };
    let process = flyball_process::Process::new(drivers.collect(), None, settings);
    if let Err(conflict) = process {
        panic!("{conflict}");
    }
}
