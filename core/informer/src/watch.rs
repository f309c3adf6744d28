//! What a controller watches.

use std::any::{TypeId, type_name};
use std::fmt;

use flyball_api::views::{
    Deployment, Job, Namespace, Node, Partial, Pod, ReplicaSet, ReplicationController,
};
use flyball_api::{Kind, Object};

use crate::{AnyInformer, Informer};

/// A kind to be watched, as controllers name it in their descriptors. The informer is made once
/// per kind and process, however many controllers ask for it.
#[derive(Clone, Copy)]
pub struct Watch {
    kind: fn() -> Kind,
    view: fn() -> View,
    informer: fn() -> Box<dyn AnyInformer>,
}

impl Watch {
    /// Watches the kind of `T`.
    pub const fn of<T: Object>() -> Self {
        Self {
            kind: T::kind,
            view: View::of::<T>,
            informer: || Box::new(Informer::<T>::new()),
        }
    }

    /// The kind that is watched.
    pub fn kind(&self) -> Kind {
        (self.kind)()
    }

    /// The type that objects are cached as.
    pub fn view(&self) -> View {
        (self.view)()
    }

    /// A new informer of that kind.
    pub fn informer(&self) -> Box<dyn AnyInformer> {
        (self.informer)()
    }
}

/// The type that the objects of a kind are cached as.
#[derive(Clone, Copy, Debug)]
pub struct View {
    id: TypeId,
    /// Its name, for messages.
    pub name: &'static str,
}

impl View {
    fn of<T: Object>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        }
    }
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// Watches whose informers are compiled here. What [`Watch::of`] makes is compiled once more in
/// every crate that asks for it, and one informer is 40 kB of program.
macro_rules! compiled_here {
    ($($name:ident, $view:ident, $words:literal;)*) => {
        impl Watch {
            $(
                #[doc = $words]
                pub const $name: Self = {
                    #[inline(never)]
                    fn informer() -> Box<dyn AnyInformer> {
                        Box::new(Informer::<$view>::new())
                    }
                    Self { kind: $view::kind, view: View::of::<$view>, informer }
                };
            )*
        }
    };
}

compiled_here! {
    DEPLOYMENTS, Deployment, "Watches Deployments.";
    JOBS, Job, "Watches Jobs.";
    NAMESPACES, Namespace, "Watches namespaces.";
    NODES, Node, "Watches nodes.";
    PODS, Pod, "Watches pods.";
    REPLICA_SETS, ReplicaSet, "Watches ReplicaSets.";
    REPLICATION_CONTROLLERS, ReplicationController, "Watches ReplicationControllers.";
}

/// An informer of a kind that is known only at run time, and only by its metadata.
pub fn metadata_informer(kind: Kind) -> Box<dyn AnyInformer> {
    Box::new(Informer::<Partial>::of(kind))
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    #[test]
    fn a_descriptor_is_a_constant_that_makes_informers() {
        const WATCHES: &[Watch] = &[Watch::of::<Thing>()];
        assert_eq!(WATCHES[0].kind(), Thing::KIND);
        assert_eq!(WATCHES[0].informer().kind(), Thing::KIND);
    }
}
