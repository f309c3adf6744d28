//! Leave to write, which may end at any moment.

/// Says whether this process may still write.
pub trait Permit: Send + Sync {
    /// Asked at the last moment before each write is sent, also before it is sent again.
    fn may_write(&self) -> bool;
}
