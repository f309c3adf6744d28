//! Seams for deliberate mistakes, by which the simulator shows that it would notice them.

/// A mistake of the orchestration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Two controllers may want one kind cached as different types.
    SecondView,
    /// A controller begins once its informers are complete, published or not.
    ReadyBeforePublished,
    /// A kind that changes its version loses its old view at once.
    OldVersionDropped,
    /// A term begins with the caches as they are.
    TermWithOldCaches,
    /// A version lower than one seen before is taken without a word.
    LowerVersionTaken,
    /// One kind is not listed anew when a round begins.
    KindNotRelisted,
    /// A resync is forgotten.
    ResyncLost,
    /// Changes are routed before their cache is published.
    RoutedBeforePublished,
    /// A stop does not wait for syncs that run.
    StopForgetsSyncs,
    /// A term lasts until the Lease is seen in other hands, whatever the clock says.
    TermBeyondClock,
    /// After a lost connection writing goes on as if nothing had happened.
    NeverInDoubt,
}

/// The mistakes that a process makes.
pub trait Flaws {
    /// Whether it makes this one.
    fn has(&self, flaw: Flaw) -> bool;
}

/// No mistakes: what users run. All that asks for one is compiled to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sound;

impl Flaws for Sound {
    #[inline]
    fn has(&self, _: Flaw) -> bool {
        false
    }
}
