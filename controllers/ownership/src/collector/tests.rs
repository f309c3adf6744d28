//! The collector: one sync (cases), which changes lead to one, and what becomes of any world.

mod families;
mod laws;
mod routing;

use flyball_api::views::{Deployment, Pod, ReplicaSet};
use flyball_api::{Kind, ObjectName, Uid};
use flyball_testkit::{CaseKey, World, check_cases_in};

use super::*;

/// Kinds that the collector learns of at run time.
pub(super) const WIDGET: Kind = Kind::namespaced("example.com", "v1", "Widget", "widgets");
pub(super) const PLANET: Kind = Kind::cluster("example.com", "v1", "Planet", "planets");
pub(super) const CONFIG_MAP: Kind = Kind::namespaced("", "v1", "ConfigMap", "configmaps");

pub(super) fn prepared(world: World) -> World {
    [WIDGET, PLANET, CONFIG_MAP]
        .into_iter()
        .fold(world, World::knowing_partly)
        .deleting_pods_at_once()
}

/// The identity that a world gives to the first object of a kind and name.
fn uid_of(kind: Kind, name: &str) -> Uid {
    Uid::new(&format!("{}-{name}", kind.kind.to_lowercase()))
}

/// Reads `Pod default/web-a`, or `owner apps/v1 ReplicaSet default/web its-uid`.
impl CaseKey for Item {
    fn named(text: &str) -> Option<Self> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [kind, object] => {
                let mut kinds = [
                    Pod::KIND,
                    ReplicaSet::KIND,
                    Deployment::KIND,
                    WIDGET,
                    PLANET,
                ]
                .into_iter();
                let kind = kinds.find(|known| known.kind == kind)?;
                let name = ObjectName::named(object)?;
                let uid = uid_of(kind, &name.name);
                Some(Self::Object { kind, name, uid })
            }
            ["owner", api_version, kind, object, uid] => {
                let ObjectName { namespace, name } = ObjectName::named(object)?;
                Some(Self::Owner {
                    api_version: api_version.into(),
                    kind: kind.into(),
                    namespace,
                    name,
                    uid: uid.into(),
                })
            }
            _ => None,
        }
    }
}

#[test]
fn one_sync_does_what_its_case_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/collector/cases");
    check_cases_in(&GarbageCollector, folder, prepared);
}
