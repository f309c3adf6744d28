//! A controller of somebody else's, simulated with the same faults: a greeting in every namespace.

use std::time::Duration;

use flyball_api::views::ConfigMap;
use flyball_api::views::Namespace;
use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Actions, Answers, Body, Controller, Descriptor, Keys, Now, Report, Rule, Step, Write,
};
use flyball_sim::{Edit, Part, Sim, Truth};
use serde_json::json;

struct Greeter {
    tries_again: bool,
}

impl Controller for Greeter {
    type Key = ObjectName;
    type Observation = ObjectName;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "greeter",
        aliases: &[],
        client: "greeter",
        component: "greeter",
        queue: "greeter",
        watches: &[Watch::of::<Namespace>(), Watch::of::<ConfigMap>()],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        match change.name.namespace.as_str() {
            "" => vec![change.name.clone()],
            namespace => vec![ObjectName::new("", namespace)],
        }
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<ObjectName> {
        let namespace = store.get::<Namespace>("", &key.name)?;
        let greeted = store.get::<ConfigMap>(&key.name, "greeting").is_some();
        (!greeted && !namespace.is_deleting()).then(|| key.clone())
    }

    fn step(&self, key: &ObjectName, answers: &Answers, _: Now) -> Step {
        let Some(round) = answers.stage("greet") else {
            let greeting = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "greeting"}, "data": {"hello": key.name.as_str()},
            });
            let create = Write::create(ConfigMap::kind(), &key.name, Body::of(&greeting));
            return Step::Do(Actions::in_order("greet", vec![create.into()]));
        };
        match round.first_error() {
            Some(error) if !error.is_already_exists() && self.tries_again => Step::retry(
                error,
                Report::new(Rule::new("GreetingFailed", "could not greet")),
            ),
            _ => Step::rest(Report::new(Rule::new("Greeted", "greeted"))),
        }
    }
}

fn sim(tries_again: bool) -> Sim {
    let namespace = |number: u64| {
        let body = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("n{number}")},
        });
        let path = "/api/v1/namespaces".to_owned();
        (
            Duration::from_secs(20 * number),
            Edit::Create { path, body },
        )
    };
    Sim::of(vec![Part::custom(2, move || Greeter { tries_again })])
        .edits((0..20).map(namespace))
        .settles("every namespace is greeted", |truth: &Truth| {
            let mut all = truth.all("namespaces", "");
            let lacks = |name: &str| truth.get("configmaps", name, "greeting").is_none();
            match all.find(|one| lacks(&one.meta().name)) {
                None => Ok(()),
                Some(one) => Err(format!("{} is not greeted", one.meta().name)),
            }
        })
}

#[test]
fn a_controller_that_tries_again_greets_everybody() {
    for seed in 0..3 {
        assert_eq!(sim(true).run(seed).violation, None, "seed {seed}");
    }
}

#[test]
fn a_controller_that_gives_up_is_found_out() {
    let found = (0..20).any(|seed| sim(false).run(seed).violation.is_some());
    assert!(found);
}
