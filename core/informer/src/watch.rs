//! What a controller watches.

use std::fmt;

use flyball_api::{Kind, Object};

use crate::{AnyInformer, Informer};

/// A kind to be watched, as controllers name it in their descriptors. The informer is made once
/// per kind and process, however many controllers ask for it.
#[derive(Clone, Copy)]
pub struct Watch {
    kind: fn() -> Kind,
    informer: fn() -> Box<dyn AnyInformer>,
}

impl Watch {
    /// Watches the kind of `T`.
    pub const fn of<T: Object>() -> Self {
        Self {
            kind: T::kind,
            informer: || Box::new(Informer::<T>::new()),
        }
    }

    /// The kind that is watched.
    pub fn kind(&self) -> Kind {
        (self.kind)()
    }

    /// A new informer of that kind.
    pub fn informer(&self) -> Box<dyn AnyInformer> {
        (self.informer)()
    }
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
