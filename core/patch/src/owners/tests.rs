use flyball_api::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error::{Class, PatchRefused};
use crate::fields::FieldSet;
use crate::testing::{Kind, any_json, kind};

mod clients;
mod laws;
mod migration;
mod nonsense;

/// An object and the clients that change it, one second after the other.
struct World {
    kind: Kind,
    blank: Value,
    ignored: FieldSet,
    object: Option<Value>,
    seconds: i64,
}

/// What a client sends.
fn with_head(mut body: Value) -> Value {
    body["apiVersion"] = "apps/v1".into();
    body["kind"] = "Deployment".into();
    body
}

impl World {
    fn new() -> Self {
        Self {
            kind: kind(),
            blank: with_head(json!({"metadata": {}, "spec": {}, "status": {}})),
            ignored: FieldSet::new(),
            object: None,
            seconds: 0,
        }
    }

    /// A world in which a client called `maker` has created an object.
    fn with(body: Value) -> Self {
        let mut world = Self::new();
        world.update("maker", body).unwrap();
        world
    }

    fn change<'a>(&'a self, owner: &'a str, subresource: &'a str) -> Change<'a> {
        Change {
            owner,
            api_version: "apps/v1",
            kind: "Deployment",
            subresource,
            schema: self.kind.schema(),
            blank: &self.blank,
            ignored: &self.ignored,
            convert: &no_other_version,
            keeps_nulls: false,
            now: Timestamp::from_unix_seconds(self.seconds),
        }
    }

    /// Creates the object, or puts another in its place; owners stay as they are.
    fn update(&mut self, owner: &str, body: Value) -> Result<(), PatchRefused> {
        self.update_through(owner, "", body)
    }

    fn update_through(
        &mut self,
        owner: &str,
        subresource: &str,
        body: Value,
    ) -> Result<(), PatchRefused> {
        self.seconds += 1;
        let mut object = with_head(body);
        if self.object.is_some() {
            object["metadata"]["uid"] = "u".into();
        }
        let result = update(
            self.object.as_ref(),
            &mut object,
            &self.change(owner, subresource),
        );
        object["metadata"]["uid"] = "u".into();
        self.object = Some(object);
        result
    }

    fn apply(&mut self, owner: &str, body: Value) -> Result<(), PatchRefused> {
        self.apply_with(owner, body, false)
    }

    fn force(&mut self, owner: &str, body: Value) -> Result<(), PatchRefused> {
        self.apply_with(owner, body, true)
    }

    fn apply_with(&mut self, owner: &str, body: Value, force: bool) -> Result<(), PatchRefused> {
        self.seconds += 1;
        let config = with_head(body);
        let change = self.change(owner, "");
        let mut object = apply(self.object.as_ref(), &config, force, &change)?;
        object["metadata"]["uid"] = "u".into();
        self.object = Some(object);
        Ok(())
    }

    fn object(&self) -> &Value {
        self.object.as_ref().unwrap()
    }

    /// Name, operation, time and fields of all owners.
    fn owners(&self) -> Value {
        let entries = self.object()["metadata"]["managedFields"].as_array();
        let entries = entries.into_iter().flatten().map(|entry| {
            assert_eq!(entry["fieldsType"], "FieldsV1");
            let mut line = vec![entry["manager"].clone(), entry["operation"].clone()];
            line.extend(entry.get("subresource").cloned());
            line.push(match entry["time"].as_str() {
                Some(time) => time.parse::<Timestamp>().unwrap().unix_seconds().into(),
                None => Value::Null,
            });
            line.push(entry["fieldsV1"].clone());
            Value::Array(line)
        });
        entries.collect()
    }
}
