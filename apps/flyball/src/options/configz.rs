//! The body of `/configz`: the effective configuration, in upstream's shape.
//!
//! Upstream's sections come out exactly as upstream prints them. Settings that upstream keeps only
//! in flags (serving, access, logs, metrics, gates) follow in sections of their own, so that the
//! body, put into a file, is a complete configuration.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::controllers::{CONTROLLERS, Workers};
use super::duration::GoDuration;
use super::settings::Settings;
use super::tuning::Tuning;

/// The group under which `/configz` shows this configuration.
pub const GROUP: &str = "kubecontrollermanager.config.k8s.io";
pub(super) const API_VERSION: &str = "kubecontrollermanager.config.k8s.io/v1alpha1";
pub(super) const KIND: &str = "KubeControllerManagerConfiguration";

/// Fields of upstream's configuration that no flag sets, with the JSON of their only value.
pub(super) const UNCHANGING: &[(&str, &str)] = &[
    ("Generic.Port", "0"),
    ("Generic.Address", "\"0.0.0.0\""),
    ("Generic.ClientConnection.acceptContentTypes", "\"\""),
    ("Generic.LeaderMigration.leaderName", "\"\""),
    ("Generic.LeaderMigration.resourceLock", "\"\""),
    ("Generic.LeaderMigration.controllerLeaders", "null"),
    ("DeprecatedController", "{}"),
    (
        "GarbageCollectorController.GCIgnoredResources",
        r#"[{"Group":"events.k8s.io","Resource":"events"},{"Group":"","Resource":"events"}]"#,
    ),
    ("NodeIPAMController.SecondaryServiceCIDR", "\"\""),
    ("NodeLifecycleController.PodEvictionTimeout", "\"0s\""),
    (
        concat!(
            "PersistentVolumeBinderController.VolumeConfiguration.",
            "PersistentVolumeRecyclerConfiguration.MaximumRetry"
        ),
        "3",
    ),
];

/// Renders the body. Our own tuning keys appear only for controllers where they were changed.
pub(super) fn render(settings: &Settings, tunings: &BTreeMap<&'static str, Tuning>) -> Value {
    let mut root = json!({ "kind": KIND, "apiVersion": API_VERSION });
    for (path, text) in UNCHANGING {
        put(
            &mut root,
            path,
            serde_json::from_str(text).unwrap_or_default(),
        );
    }
    for setting in settings.iter() {
        put(
            &mut root,
            setting.flag.path,
            setting.value.to_json(setting.flag.kind),
        );
    }
    let mut untouched = Vec::new();
    let defaults = super::tuning::read(&Settings::default(), &BTreeMap::new(), &mut untouched);
    for known in CONTROLLERS {
        let (Some(tuning), Some(default)) = (tunings.get(known.name), defaults.get(known.name))
        else {
            continue;
        };
        let duration = |length| json!(GoDuration::from(length).to_string());
        let mut changed = |differs: bool, key: &str, value: Value| {
            if differs {
                put(&mut root, &format!("{}.{key}", known.section), value);
            }
        };
        // Elsewhere the flag's own key, which upstream prints too, has the number.
        if let Workers::Fixed(default) = known.workers {
            changed(tuning.workers != default, "workers", json!(tuning.workers));
        }
        if let Some(count) = tuning.retries_max {
            changed(true, "maxRetries", json!(count));
        }
        changed(
            tuning.delay_base != default.delay_base,
            "baseDelay",
            duration(tuning.delay_base),
        );
        changed(
            tuning.delay_max != default.delay_max,
            "maxDelay",
            duration(tuning.delay_max),
        );
        if let Some(length) = tuning.resync {
            changed(true, "resync", duration(length));
        }
    }
    json!({ GROUP: root })
}

/// Sets the value at a dotted path, making the objects on the way.
fn put(root: &mut Value, path: &str, value: Value) {
    let mut at = root;
    for part in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[part];
    }
    *at = value;
}
