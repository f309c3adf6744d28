//! Settings: what a controller reads from flags when it is made.

use crate::Controller;

/// The settings of a process, by the names of upstream's flags.
pub trait Settings {
    /// Whether a feature gate is on.
    fn gate(&self, name: &str) -> bool;
    /// The value of a flag that takes a number.
    fn number(&self, flag: &str) -> Option<i64>;
    /// The certificates by which clients recognize the API server, in PEM.
    fn root_ca(&self) -> &str;
}

/// A controller that a process makes from its settings.
pub trait Configure: Controller {
    /// The controller as these settings have it.
    fn configure(settings: &dyn Settings) -> Self;
}
