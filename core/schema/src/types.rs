//! Types as an arena, and places in it.

use std::collections::BTreeMap;

use flyball_api::Text;

use crate::Rules;

/// The types of one source: all built-in kinds, or one version of a custom resource.
#[derive(Clone, Debug, Default)]
pub struct Types {
    types: Vec<Type>,
    /// Beside the types, because only those of custom resources have rules.
    rules: BTreeMap<TypeId, Rules>,
}

/// A type of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(crate) usize);

/// A type: its shape, and what documents say of it.
#[derive(Clone, Debug)]
pub struct Type {
    /// The name in documents, such as `io.k8s.api.core.v1.PodSpec`; empty for a type without a name.
    pub name: Text,
    /// What it means, for people.
    pub description: Box<str>,
    /// What values look like.
    pub shape: Shape,
}

/// What values of a type look like.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A fixed set of fields.
    Object(ObjectShape),
    /// Any keys, one type of value.
    Map {
        /// The type of all values.
        value: TypeId,
        /// Whether the map has one owner as a whole (`x-kubernetes-map-type: atomic`).
        atomic: bool,
    },
    /// Items of one type.
    List(ListShape),
    /// A string.
    Text(TextFormat),
    /// A whole number of this many bits.
    Integer {
        /// 32 or 64.
        bits: u8,
    },
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A whole number or a string, such as a port or a percentage.
    IntOrText,
    /// Anything: what is there is kept.
    Any,
}

/// What a string stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Text.
    Plain,
    /// Bytes in base 64.
    Bytes,
    /// A moment, to the second.
    Time,
    /// A moment, to the microsecond.
    MicroTime,
    /// An amount, such as `500m`; numbers are accepted too.
    Quantity,
}

/// The fields of an object.
#[derive(Clone, Debug, Default)]
pub struct ObjectShape {
    /// The fields, in order of name.
    pub fields: Box<[Field]>,
    /// Whether fields that are not listed are kept (`x-kubernetes-preserve-unknown-fields`).
    pub open: bool,
    /// Whether the object has one owner as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: Text,
    /// Its type.
    pub of: TypeId,
    /// Whether it must be there.
    pub required: bool,
    /// Whether a strategic merge patch may say which keys stay (`patchStrategy: retainKeys`).
    pub retain_keys: bool,
    /// Whether a strategic merge patch sets it as a whole (`patchStrategy: replace`).
    pub replaced: bool,
    /// What it means, for people.
    pub description: Box<str>,
}

/// A list.
#[derive(Clone, Debug)]
pub struct ListShape {
    /// The type of its items.
    pub item: TypeId,
    /// How server-side apply sees it.
    pub kind: ListKind,
    /// How a strategic merge patch sees it.
    pub strategic: Strategic,
}

/// How server-side apply tells the items of a list apart (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// It does not: the list has one owner.
    Atomic,
    /// By their value.
    Set,
    /// By these fields.
    Map {
        /// The names of the fields that identify an item.
        keys: Box<[Text]>,
    },
}

/// What a strategic merge patch does with a list (`patchStrategy`, `patchMergeKey`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategic {
    /// Replaces it.
    Replace,
    /// Merges items that have the same value in this field.
    MergeBy(Text),
    /// Adds values that are not there yet.
    MergeValues,
}

impl Types {
    /// An arena without types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type.
    pub fn add(&mut self, of: Type) -> TypeId {
        self.types.push(of);
        TypeId(self.types.len() - 1)
    }

    /// Replaces a type that was added before what it refers to was known.
    pub fn set(&mut self, id: TypeId, of: Type) {
        self.types[id.0] = of;
    }

    /// The type at a place. Places of another arena mean nothing here.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0]
    }

    /// What is asked of the values of a type beyond their shape; none for built-in types.
    pub fn rules(&self, id: TypeId) -> Option<&Rules> {
        self.rules.get(&id)
    }

    /// Says what is asked of the values of a type.
    pub fn set_rules(&mut self, id: TypeId, rules: Rules) {
        self.rules.insert(id, rules);
    }

    /// Copies a type and all that it refers to from another arena.
    pub fn graft(&mut self, from: &Types, id: TypeId) -> TypeId {
        let mut places = BTreeMap::new();
        self.graft_below(from, id, &mut places)
    }

    fn graft_below(
        &mut self,
        from: &Types,
        id: TypeId,
        places: &mut BTreeMap<TypeId, TypeId>,
    ) -> TypeId {
        if let Some(place) = places.get(&id) {
            return *place;
        }
        // The place is taken before what it refers to is copied, because some types refer to themselves.
        let mut of = from.get(id).clone();
        let place = self.add(of.clone());
        places.insert(id, place);
        match &mut of.shape {
            Shape::Object(object) => {
                for field in &mut object.fields {
                    field.of = self.graft_below(from, field.of, places);
                }
            }
            Shape::Map { value, .. } => *value = self.graft_below(from, *value, places),
            Shape::List(list) => list.item = self.graft_below(from, list.item, places),
            _ => {}
        }
        self.set(place, of);
        if let Some(rules) = from.rules(id) {
            self.set_rules(place, rules.clone());
        }
        place
    }

    /// The place from which a type is read.
    pub fn schema(&self, id: TypeId) -> Schema<'_> {
        Schema { types: self, id }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Type> {
        self.types.iter_mut()
    }

    /// All types with their places.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }
}

/// A place in an arena: a type and what it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a> {
    types: &'a Types,
    id: TypeId,
}

impl<'a> Schema<'a> {
    /// The type at this place.
    pub fn id(self) -> TypeId {
        self.id
    }

    /// The type itself.
    pub fn get(self) -> &'a Type {
        self.types.get(self.id)
    }

    /// What values look like.
    pub fn shape(self) -> &'a Shape {
        &self.get().shape
    }

    /// What is asked of the values beyond their shape.
    pub fn rules(self) -> Option<&'a Rules> {
        self.types.rules(self.id)
    }

    /// Another type of the same arena.
    pub fn at(self, id: TypeId) -> Self {
        Self { id, ..self }
    }

    /// The field of this name, if this is an object that has it.
    pub fn field_named(self, name: &str) -> Option<&'a Field> {
        let Shape::Object(object) = self.shape() else {
            return None;
        };
        let at = object
            .fields
            .binary_search_by(|field| field.name.as_str().cmp(name));
        at.ok().map(|at| &object.fields[at])
    }

    /// The type of what is found under `name`: of a field, or of a value if this is a map.
    pub fn field(self, name: &str) -> Option<Self> {
        match self.shape() {
            Shape::Map { value, .. } => Some(self.at(*value)),
            _ => self.field_named(name).map(|field| self.at(field.of)),
        }
    }

    /// The type of the items, if this is a list.
    pub fn item(self) -> Option<Self> {
        match self.shape() {
            Shape::List(list) => Some(self.at(list.item)),
            _ => None,
        }
    }
}
