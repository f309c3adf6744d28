//! Own-only: a controller keeps its hands off what is not its own.

use flyball_api::ObjectName;
use flyball_plan::{Action, Body, Target};
use serde_json::{Value, json};

use super::Lawful;
use crate::{Moment, Runner, World};

/// Runs among look-alikes that belong to others, and finds every write to be to the key's object,
/// to something it controls, or to an orphan that it may adopt; and everything created to be
/// controlled by the key's object.
pub fn own_only<C: Lawful<Key = ObjectName>>(mut world: World) -> Result<(), String> {
    add_lookalikes::<C>(&mut world);
    let mut runner = Runner::new(C::subject(), &world);
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Before { key, action, world } => judge::<C>(key, action, world),
        Moment::Stage { .. } | Moment::After { .. } => Ok(()),
    };
    runner.converge(&mut world, C::others, &mut watch).map(drop)
}

/// For everything that might be a child: one like it that a stranger controls, and one like it in
/// another namespace.
fn add_lookalikes<C: Lawful>(world: &mut World) {
    let children = world
        .objects()
        .filter(|(id, _)| id.0 != C::KIND && id.0.namespaced);
    let children: Vec<Value> = children.map(|(_, object)| Value::clone(object)).collect();
    for mut child in children {
        let metadata = &mut child["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default().to_owned();
        metadata["uid"] = Value::Null;
        metadata["name"] = format!("{name}-of-a-stranger").into();
        metadata["ownerReferences"] = json!([super::upset::stranger()]);
        world.put(child.clone());
        child["metadata"]["name"] = name.into();
        child["metadata"]["namespace"] = "elsewhere".into();
        child["metadata"]["ownerReferences"] = json!([]);
        world.put(child);
    }
}

fn judge<C: Lawful>(key: &str, action: &Action, world: &World) -> Result<(), String> {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let owner = world.json(C::KIND, namespace, name).unwrap_or(&Value::Null);
    let key = Target {
        kind: C::KIND,
        name: ObjectName::new(namespace, name),
    };
    let Some(write) = action.write() else {
        return Ok(());
    };
    if write.is_create() {
        let own = controller(&parse(&write.body)) == owner["metadata"]["uid"];
        let foreign = || format!("{key:?} creates what it does not control: {action:?}");
        return own.then_some(()).ok_or_else(foreign);
    }
    let Some(child) = world.target(&write.target) else {
        return Ok(());
    };
    let own = match controller(child) {
        _ if write.target == key => true,
        Value::Null => C::may_adopt(owner, child),
        uid => uid == owner["metadata"]["uid"],
    };
    let what = crate::flow(child);
    own.then_some(())
        .ok_or_else(|| format!("{key:?} lays hands on {what}: {action:?}"))
}

/// The UID of the controller of an object; null if it has none.
fn controller(object: &Value) -> Value {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let controller = owners
        .into_iter()
        .flatten()
        .find(|owner| owner["controller"] == true);
    controller.map_or(Value::Null, |owner| owner["uid"].clone())
}

fn parse(body: &Body) -> Value {
    serde_json::from_str(body.json()).unwrap_or_default()
}
