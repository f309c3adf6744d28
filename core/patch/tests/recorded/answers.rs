use flyball_api::Timestamp;
use flyball_patch::{
    Change, FieldSet, apply, json_patch, merge_patch, no_other_version, strategic_merge, update,
};
use flyball_schema::{builtin, custom_resource};
use serde_json::{Value, json};

fn records(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn json_and_merge_patches_give_what_they_gave_there() {
    for record in records(include_str!("json.jsonl")) {
        let (live, patch) = (record["live"].clone(), &record["patch"]);
        let ours = match patch {
            Value::Array(_) => json_patch(live, patch),
            _ => merge_patch(live, patch),
        };
        assert_eq!(ours.ok(), record.get("patched").cloned(), "{record}");
    }
}

#[test]
fn strategic_merge_patches_give_what_they_gave_there() {
    let schema = builtin().kind("apps", "v1", "Deployment").unwrap();
    for record in records(include_str!("strategic.jsonl")) {
        let ours = strategic_merge(record["live"].clone(), record["patch"].clone(), schema);
        match ours {
            Ok(merged) => {
                let merged = without_empty(&merged);
                assert_eq!(merged, without_empty(&record["merged"]), "{record}");
            }
            Err(refused) => {
                assert_eq!(record["message"], refused.message, "{record}");
                assert_eq!(record["code"], refused.class.code(), "{record}");
            }
        }
    }
}

/// A typed object has no empty fields.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| (name.clone(), without_empty(member)));
            let members = members.filter(|(_, member)| {
                !member.is_null() && *member != json!({}) && *member != json!([])
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

#[test]
fn owners_are_who_they_were_there() {
    let definition = serde_json::from_str(include_str!("definition.json")).unwrap();
    let (types, resource) = custom_resource(&definition, "v1").unwrap();
    let blank = json!({"apiVersion": "probe.io/v1", "kind": "Deployment"});
    let ignored = FieldSet::new();
    for record in records(include_str!("owners.jsonl")) {
        let change = Change {
            owner: record["owner"].as_str().unwrap(),
            api_version: "probe.io/v1",
            kind: "Deployment",
            subresource: "",
            schema: types.schema(resource.of),
            blank: &blank,
            ignored: &ignored,
            convert: &no_other_version,
            keeps_nulls: false,
            now: Timestamp::UNIX_EPOCH,
        };
        let live = record.get("live").filter(|live| !live.is_null());
        let mut body = record["body"].clone();
        let ours = match record.get("force") {
            Some(force) => apply(live, &body, force == true, &change),
            None => update(live, &mut body, &change).map(|()| body),
        };
        match ours {
            Ok(object) => assert_eq!(timeless(&object), timeless(&record["answer"]), "{record}"),
            Err(refused) => assert_eq!(record["message"], refused.message, "{record}"),
        }
    }
}

/// An object without what depends on the moment, and without empty metadata.
fn timeless(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return object;
    };
    metadata.remove("uid");
    metadata.retain(|_, value| *value != json!({}) && *value != json!([]));
    let Some(owners) = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut)
    else {
        return object;
    };
    for owner in owners.iter_mut() {
        // That a time is told, or not, does not depend on it.
        if let Some(time) = owner.get_mut("time") {
            *time = "then".into();
        }
    }
    owners.sort_by_key(Value::to_string);
    object
}
