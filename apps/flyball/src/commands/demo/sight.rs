//! What can be seen of the Deployment on tour and its pods, as watches tell it.

use std::collections::BTreeMap;

use serde_json::Value;

/// How far a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Ready,
    Stopping,
}

#[derive(Clone, Debug)]
struct Pod {
    image: String,
    state: State,
    /// When it was first seen, so that a pod keeps its place in the picture.
    place: usize,
}

/// The present state, desired and actual.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    desired: usize,
    image: String,
    pods: BTreeMap<String, Pod>,
    /// How many pods were ever seen.
    seen: usize,
    /// Whether the Deployment's own status says that all is as wanted.
    reported: bool,
    /// Whether the Deployment was deleted, and is no more.
    deleted: bool,
}

impl Sight {
    /// Takes a line of a watch of Deployments.
    pub(super) fn deployment(&mut self, event: &Value) {
        let object = &event["object"];
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let (spec, status) = (&object["spec"], &object["status"]);
        self.deleted = event["type"] == "DELETED";
        let going = self.deleted || !object["metadata"]["deletionTimestamp"].is_null();
        let wanted = if going { 0 } else { count(&spec["replicas"]) };
        self.desired = usize::try_from(wanted).unwrap_or_default();
        self.image = image(&spec["template"]["spec"]);
        let all = ["replicas", "updatedReplicas", "availableReplicas"];
        self.reported = all.iter().all(|field| count(&status[*field]) == wanted)
            && count(&status["observedGeneration"]) >= count(&object["metadata"]["generation"]);
    }

    /// Takes a line of a watch of pods.
    pub(super) fn pod(&mut self, event: &Value) {
        let object = &event["object"];
        let Some(name) = object["metadata"]["name"].as_str() else {
            return;
        };
        if event["type"] == "DELETED" {
            self.pods.remove(name);
            return;
        }
        let conditions = object["status"]["conditions"].as_array();
        let is_ready =
            |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
        let ready = conditions.is_some_and(|all| all.iter().any(is_ready));
        let state = match () {
            () if !object["metadata"]["deletionTimestamp"].is_null() => State::Stopping,
            () if ready => State::Ready,
            () => State::Starting,
        };
        let place = self.pods.get(name).map_or(self.seen, |pod| pod.place);
        self.seen = self.seen.max(place + 1);
        let image = image(&object["spec"]);
        self.pods.insert(
            name.to_owned(),
            Pod {
                image,
                state,
                place,
            },
        );
    }

    /// How many pods are wanted.
    pub(super) fn desired(&self) -> usize {
        self.desired
    }

    /// The pods in a row: round for those of the first image, square for those of another.
    pub(super) fn actual(&self, first_image: &str) -> String {
        let mut pods: Vec<&Pod> = self.pods.values().collect();
        pods.sort_by_key(|pod| pod.place);
        let mark = |pod: &&Pod| match (pod.state, pod.image == first_image) {
            (State::Stopping, _) => "×",
            (State::Ready, true) => "●",
            (State::Ready, false) => "■",
            (State::Starting, true) => "○",
            (State::Starting, false) => "□",
        };
        let present = pods.iter().map(mark);
        let staying = pods.iter().filter(|pod| pod.state != State::Stopping);
        let missing = self.desired.saturating_sub(staying.count());
        let all = present.chain(std::iter::repeat_n("·", missing));
        all.collect::<Vec<_>>().join(" ")
    }

    /// Whether there are exactly the wanted pods, all of the wanted image and ready, and the
    /// Deployment says so, too.
    pub(super) fn settled(&self) -> bool {
        let good = |pod: &Pod| pod.state == State::Ready && pod.image == self.image;
        self.reported && self.pods.len() == self.desired && self.pods.values().all(good)
    }

    /// Whether nothing is left.
    pub(super) fn gone(&self) -> bool {
        self.deleted && self.pods.is_empty()
    }

    /// Whether there is a pod of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.pods.contains_key(name)
    }

    /// The name of the pod that has been there for longest.
    pub(super) fn oldest(&self) -> Option<&str> {
        let oldest = self.pods.iter().min_by_key(|(_, pod)| pod.place);
        oldest.map(|(name, _)| name.as_str())
    }

    /// In words, for whoever wants to know what is wrong.
    pub(super) fn words(&self) -> String {
        let count = |state| self.pods.values().filter(|pod| pod.state == state).count();
        format!(
            "desired are {}, and there are {} ready, {} starting, {} stopping",
            self.desired,
            count(State::Ready),
            count(State::Starting),
            count(State::Stopping)
        )
    }
}

fn image(spec: &Value) -> String {
    spec["containers"][0]["image"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, image: &str, ready: bool) -> Value {
        let status = if ready { "True" } else { "False" };
        json!({"type": "MODIFIED", "object": {
            "metadata": {"name": name},
            "spec": {"containers": [{"image": image}]},
            "status": {"conditions": [{"type": "Ready", "status": status}]},
        }})
    }

    fn deployment(image: &str, status: [u64; 3]) -> Value {
        let [replicas, updated, available] = status;
        json!({"type": "MODIFIED", "object": {
            "metadata": {"generation": 2},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": image}]}}},
            "status": {
                "observedGeneration": 2, "replicas": replicas,
                "updatedReplicas": updated, "availableReplicas": available,
            },
        }})
    }

    #[test]
    fn the_picture_shows_every_pod_in_its_place_and_what_is_missing() {
        let mut sight = Sight::default();
        sight.deployment(&deployment("v1", [0, 0, 0]));
        assert_eq!(sight.actual("v1"), "· ·");
        sight.pod(&pod("z", "v1", false));
        sight.pod(&pod("a", "v2", true));
        sight.pod(&pod("z", "v1", true));
        assert_eq!(sight.actual("v1"), "● ■");
        let mut going = pod("z", "v1", true);
        going["object"]["metadata"]["deletionTimestamp"] = json!("2026-11-16T10:00:00Z");
        sight.pod(&going);
        assert_eq!(sight.actual("v1"), "× ■ ·");
        assert_eq!(sight.oldest(), Some("z"));
        going["type"] = json!("DELETED");
        sight.pod(&going);
        assert_eq!(sight.actual("v1"), "■ ·");
        assert!(!sight.has("z"));
    }

    #[test]
    fn it_is_gone_when_nothing_is_left() {
        let mut sight = Sight::default();
        let mut event = deployment("v1", [1, 1, 1]);
        sight.deployment(&event);
        sight.pod(&pod("a", "v1", true));
        event["object"]["metadata"]["deletionTimestamp"] = json!("2026-11-16T10:00:00Z");
        sight.deployment(&event);
        assert_eq!((sight.desired(), sight.gone()), (0, false));
        let mut pod = pod("a", "v1", true);
        pod["type"] = json!("DELETED");
        sight.pod(&pod);
        assert!(!sight.gone(), "the Deployment is there");
        event["type"] = json!("DELETED");
        sight.deployment(&event);
        assert!(sight.gone());
    }

    #[test]
    fn it_is_settled_when_pods_and_status_both_say_so() {
        let mut sight = Sight::default();
        sight.deployment(&deployment("v2", [2, 2, 2]));
        assert!(!sight.settled());
        sight.pod(&pod("a", "v2", true));
        sight.pod(&pod("b", "v1", true));
        assert!(!sight.settled(), "one is of the old image");
        sight.pod(&pod("b", "v2", true));
        assert!(sight.settled());
        sight.deployment(&deployment("v2", [3, 2, 2]));
        assert!(!sight.settled(), "the status counts one more");
    }
}
