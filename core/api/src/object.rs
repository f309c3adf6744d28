//! What informers, queues and controllers need to know of an object, and no more.

use std::fmt;

use crate::{DecodeError, Kind, OwnerReference, Pool, Text, Uid};

/// The name of an object: namespace (empty for cluster-scoped kinds) and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectName {
    /// The namespace, empty for cluster-scoped kinds.
    pub namespace: Text,
    /// The name within the namespace.
    pub name: Text,
}

impl ObjectName {
    /// The name of an object.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An object that an informer can list, watch and cache.
///
/// Views of this crate implement it, and so may any type of a library user.
pub trait Object: Sized + Send + Sync + 'static {
    /// The kind whose collection is listed and watched.
    fn kind() -> Kind;
    /// The namespace, empty for cluster-scoped kinds.
    fn namespace(&self) -> &str;
    /// The name within the namespace.
    fn name(&self) -> &str;
    /// The identity of this incarnation.
    fn uid(&self) -> &Uid;
    /// The version the server gave to this state of the object.
    fn resource_version(&self) -> &str;
    /// Whether the object has been asked to go away.
    fn is_deleting(&self) -> bool;
    /// Whom it belongs to, and what holds it back from going.
    fn lineage(&self) -> Lineage<'_>;
    /// Reads the object from its JSON text, skipping what the type does not hold.
    fn decode(json: &[u8]) -> Result<Self, DecodeError>;
    /// Replaces parts that many objects have in common by shared copies.
    fn share(&mut self, _pool: &mut Pool) {}
    /// The named indexes kept over all cached objects of this type.
    fn indexes() -> &'static [Index<Self>] {
        &[]
    }

    /// Namespace and name as one value.
    fn object_name(&self) -> ObjectName {
        ObjectName::new(self.namespace(), self.name())
    }
}

/// Implements [`Object`] for a view that has a field `metadata` of type [`Meta`](crate::Meta) or of
/// one with the same fields and methods, and gives the view its `KIND`.
///
/// ```
/// use flyball_api::{Kind, Meta, Object};
///
/// #[derive(serde::Deserialize)]
/// struct Database {
///     metadata: Meta,
/// }
/// flyball_api::object!(Database, Kind::namespaced("example.com", "v1", "Database", "databases"));
///
/// let database = Database::decode(br#"{"metadata":{"name":"orders"}}"#)?;
/// assert_eq!(database.name(), "orders");
/// # Ok::<(), flyball_api::DecodeError>(())
/// ```
///
/// A function that reads the view may follow the kind (`decode = function`), and so may its
/// [indexes](Index).
#[macro_export]
macro_rules! object {
    ($view:ty, $kind:expr, decode = $decode:expr $(, $index:expr)* $(,)?) => {
        impl $crate::Object for $view {
            fn kind() -> $crate::Kind {
                $kind
            }
            fn namespace(&self) -> &str {
                &self.metadata.namespace
            }
            fn name(&self) -> &str {
                &self.metadata.name
            }
            fn uid(&self) -> &$crate::Uid {
                &self.metadata.uid
            }
            fn resource_version(&self) -> &str {
                &self.metadata.resource_version
            }
            fn is_deleting(&self) -> bool {
                self.metadata.is_deleting()
            }
            fn lineage(&self) -> $crate::Lineage<'_> {
                self.metadata.lineage()
            }
            fn decode(json: &[u8]) -> Result<Self, $crate::DecodeError> {
                $decode(json)
            }
            fn share(&mut self, pool: &mut $crate::Pool) {
                self.metadata.share(pool);
            }
            fn indexes() -> &'static [$crate::Index<Self>] {
                const INDEXES: &[$crate::Index<$view>] = &[$($index),*];
                INDEXES
            }
        }

        impl $view {
            /// The kind of this view.
            pub const KIND: $crate::Kind = $kind;
        }
    };
    ($view:ty, $kind:expr $(, $index:expr)* $(,)?) => {
        $crate::object!($view, $kind, decode = $crate::decode $(, $index)*);
    };
}

/// Whom an object belongs to, and what must be cleared before it may go.
///
/// The garbage collector sees objects of all kinds by this; a type that leaves something out hides
/// it from the collector. Types that are cached only where no collector runs may leave out all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage<'a> {
    /// The owners.
    pub owners: &'a [OwnerReference],
    /// The finalizers.
    pub finalizers: &'a [Text],
}

/// A named way to find cached objects by something other than their name.
pub struct Index<T: 'static> {
    /// The name by which readers ask for it.
    pub name: &'static str,
    /// Pushes the values under which one object is found.
    pub values: fn(&T, &mut Vec<Text>),
}
