//! The certificate: one sync (cases), which changes lead to one, and what becomes of any world.

use std::sync::Arc;

use flyball_api::views::{Namespace, ROOT_CA};
use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{Controller, lint};
use flyball_testkit::laws::{self, verdict};
use flyball_testkit::{Moment, Runner, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn subject() -> RootCaPublisher {
    RootCaPublisher::new("trust")
}

fn prepared(world: World) -> World {
    world.knowing::<ConfigMap>()
}

fn namespace(name: &str, phase: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": phase}})
}

fn map(namespace: &str, name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data})
}

#[test]
fn namespaces_get_what_their_cases_say() {
    check_cases_in(&subject(), "src/root_ca/cases", prepared);
}

#[test]
fn a_namespace_is_looked_at_when_it_or_its_certificate_changes() {
    fn of<T: Object>(json: Value) -> Arc<T> {
        Arc::new(T::decode(json.to_string().as_bytes()).unwrap())
    }
    let keys = |change: &Change| {
        let keys = subject().route(change, &Snapshot::default());
        keys.iter().map(ObjectName::to_string).collect::<Vec<_>>()
    };
    let shop = || of::<Namespace>(namespace("shop", "Active"));
    assert_eq!(keys(&Change::added(shop())), ["shop"]);
    assert_eq!(keys(&Change::updated(shop(), shop())), ["shop"]);
    assert_eq!(keys(&Change::deleted(shop())), [""; 0]);
    let own = || of::<ConfigMap>(map("shop", ROOT_CA, &json!({})));
    assert_eq!(keys(&Change::added(own())), [""; 0]);
    assert_eq!(keys(&Change::updated(own(), own())), ["shop"]);
    assert_eq!(keys(&Change::deleted(own())), ["shop"]);
    let other = of::<ConfigMap>(map("shop", "other", &json!({})));
    assert_eq!(keys(&Change::deleted(other)), [""; 0]);
}

/// Runs until nothing is left to do; the number of stages that were run.
fn run(world: &mut World) -> Result<usize, String> {
    let mut stages = 0;
    let mut runner = Runner::new(subject(), world);
    runner.run(world, &mut |moment| {
        if let Moment::Stage { actions, .. } = moment {
            stages += 1;
            match lint(actions).as_slice() {
                [] if actions.items.len() == 1 => {}
                found => return Err(format!("{found:?} in {actions:?}")),
            }
        }
        Ok(())
    })?;
    Ok(stages)
}

fn settles(states: &[u8]) -> Result<(), String> {
    let mut world = prepared(World::default());
    for (at, state) in states.iter().enumerate() {
        let name = format!("n{at}");
        let phase = if state % 2 == 0 {
            "Active"
        } else {
            "Terminating"
        };
        world.put(namespace(&name, phase));
        world.put(map(&name, "other", &json!({"a": "b"})));
        let data = match state / 2 % 3 {
            0 => continue,
            1 => json!({"ca.crt": "other"}),
            _ => Value::Null,
        };
        world.put(map(&name, ROOT_CA, &data));
    }
    run(&mut world)?;
    for (at, state) in states.iter().enumerate() {
        let found = world.get::<ConfigMap>(&format!("n{at}"), ROOT_CA);
        let text = found
            .and_then(|map| map.whole)
            .map(|whole| whole.json().to_owned());
        let data: Value = serde_json::from_str(&text.unwrap_or_else(|| "{}".to_owned())).unwrap();
        if state % 2 == 0 && data["data"] != json!({"ca.crt": "trust"}) {
            return Err(format!("n{at}: {data}"));
        }
    }
    match run(&mut world)? {
        0 => Ok(()),
        more => Err(format!("all is settled, and yet {more} stages")),
    }
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn any_world_is_settled_and_then_left_alone(
        states in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        verdict(settles(&states))?;
    }
}
