//! Types and values for tests.

use flyball_schema::{
    Field, ListKind, ListShape, ObjectShape, Schema, Shape, Strategic, TextFormat, Type, TypeId,
    Types,
};
use proptest::prelude::*;
use serde_json::Value;

/// A kind like a Deployment, with one of everything that patches tell apart.
pub(crate) struct Kind {
    types: Types,
    root: TypeId,
}

impl Kind {
    pub(crate) fn schema(&self) -> Schema<'_> {
        self.types.schema(self.root)
    }
}

/// Builds types from the inside out.
struct Builder(Types);

impl Builder {
    fn add(&mut self, name: &str, shape: Shape) -> TypeId {
        self.0.add(Type {
            name: name.into(),
            description: "".into(),
            shape,
        })
    }

    fn text(&mut self) -> TypeId {
        self.add("", Shape::Text(TextFormat::Plain))
    }

    /// Fields that end in `!` are required.
    fn object(&mut self, name: &str, fields: &[(&str, TypeId)], atomic: bool) -> TypeId {
        let mut fields: Vec<Field> = fields
            .iter()
            .map(|(field, of)| Field {
                name: field.trim_end_matches('!').into(),
                of: *of,
                required: field.ends_with('!'),
                retain_keys: false,
                replaced: false,
                description: "".into(),
            })
            .collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        let shape = ObjectShape {
            fields: fields.into(),
            open: false,
            atomic,
        };
        self.add(name, Shape::Object(shape))
    }

    fn map(&mut self, value: TypeId, atomic: bool) -> TypeId {
        self.add("", Shape::Map { value, atomic })
    }

    fn list(&mut self, item: TypeId, kind: ListKind, strategic: Strategic) -> TypeId {
        let list = ListShape {
            item,
            kind,
            strategic,
        };
        self.add("", Shape::List(list))
    }

    fn keyed(&mut self, item: TypeId, keys: &[&str]) -> TypeId {
        let strategic = Strategic::MergeBy(keys[0].into());
        let keys = keys.iter().map(|key| (*key).into()).collect();
        self.list(item, ListKind::Map { keys }, strategic)
    }
}

/// The kind of most tests.
pub(crate) fn kind() -> Kind {
    let mut build = Builder(Types::new());
    let text = build.text();
    let integer = build.add("", Shape::Integer { bits: 32 });
    let boolean = build.add("", Shape::Boolean);
    let int_or_text = build.add("", Shape::IntOrText);
    let time = build.add("", Shape::Text(TextFormat::Time));
    let quantity = build.add("", Shape::Text(TextFormat::Quantity));
    let carrier = build.add("io.k8s.apimachinery.pkg.runtime.RawExtension", Shape::Any);
    let free = build.add("", Shape::Any);
    let texts = build.map(text, false);
    let atomic_texts = build.map(text, true);
    let quantities = build.map(quantity, false);
    let command = build.list(text, ListKind::Atomic, Strategic::Replace);
    let values = build.list(text, ListKind::Set, Strategic::MergeValues);
    let anything = build.list(free, ListKind::Atomic, Strategic::Replace);

    let owner = build.object(
        "meta.v1.OwnerReference",
        &[("uid!", text), ("name!", text)],
        false,
    );
    let owners = build.keyed(owner, &["uid"]);
    let metadata = build.object(
        "meta.v1.ObjectMeta",
        &[
            ("name", text),
            ("namespace", text),
            ("uid", text),
            ("resourceVersion", text),
            ("generation", integer),
            ("creationTimestamp", time),
            ("labels", texts),
            ("annotations", texts),
            ("finalizers", values),
            ("ownerReferences", owners),
            ("managedFields", anything),
        ],
        false,
    );
    let port = build.object(
        "core.v1.ContainerPort",
        &[
            ("containerPort!", integer),
            ("protocol", text),
            ("name", text),
        ],
        false,
    );
    let ports = build.keyed(port, &["containerPort", "protocol"]);
    let variable = build.object("core.v1.EnvVar", &[("name!", text), ("value", text)], false);
    let variables = build.keyed(variable, &["name"]);
    let resources = build.object("", &[("limits", quantities)], false);
    let container = build.object(
        "core.v1.Container",
        &[
            ("name!", text),
            ("image", text),
            ("command", command),
            ("ports", ports),
            ("env", variables),
            ("resources", resources),
        ],
        false,
    );
    let containers = build.keyed(container, &["name"]);
    let volume = build.object("core.v1.Volume", &[("name!", text), ("path", text)], false);
    let volumes = build.keyed(volume, &["name"]);
    let pod = build.object(
        "core.v1.PodSpec",
        &[
            ("containers", containers),
            ("volumes", volumes),
            ("tolerations", anything),
            ("nodeSelector", atomic_texts),
            ("hostNetwork", boolean),
        ],
        false,
    );
    let template = build.object("", &[("metadata", metadata), ("spec", pod)], false);
    let selector = build.object("meta.v1.LabelSelector", &[("matchLabels", texts)], true);
    let rolling = build.object("", &[("maxSurge", int_or_text)], false);
    let strategy = build.object("", &[("type", text), ("rollingUpdate", rolling)], false);
    let spec = build.object(
        "apps.v1.DeploymentSpec",
        &[
            ("replicas", integer),
            ("paused", boolean),
            ("selector", selector),
            ("strategy", strategy),
            ("template", template),
            ("carried", carrier),
            ("free", free),
        ],
        false,
    );
    // Not built in, so its keys have no defaults.
    let condition = build.object("", &[("type!", text), ("status", text)], false);
    let conditions = build.keyed(condition, &["type"]);
    let status = build.object(
        "",
        &[("replicas", integer), ("conditions", conditions)],
        false,
    );
    let root = build.object(
        "apps.v1.Deployment",
        &[
            ("apiVersion", text),
            ("kind", text),
            ("metadata", metadata),
            ("spec", spec),
            ("status", status),
        ],
        false,
    );
    Kind {
        types: build.0,
        root,
    }
}

/// A short text from a small alphabet, so that names meet.
pub(crate) fn json_text() -> impl Strategy<Value = String> {
    "[ab/~.:$k]{0,4}"
}

/// Any JSON, of a depth that a reader of JSON follows.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..3).prop_map(Value::from),
        (-8i32..8).prop_map(|quarters| Value::from(f64::from(quarters) / 4.0)),
        json_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(json_text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
