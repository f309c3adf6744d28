//! Leave to write, which may end at any moment.

use std::sync::Arc;

use futures::future::BoxFuture;
use http::Request;

/// Says whether this process may still write.
pub trait Permit: Send + Sync {
    /// Asked at the last moment before each write is sent, also before it is sent again.
    fn may_write(&self) -> bool;

    /// Resolves when writes may no longer be made.
    fn ended(&self) -> BoxFuture<'static, ()>;
}

/// The permit of one write. It travels among the request's extensions, through the layers that
/// add credentials, to the place where the request is handed to a connection.
#[derive(Clone)]
struct WritePermit(Arc<dyn Permit>);

/// A write was not sent because its permit had ended.
#[derive(Debug, thiserror::Error)]
#[error("this process may no longer write")]
pub(crate) struct NotPermitted;

/// Attaches a permit to a write.
pub(crate) fn attach<B>(request: &mut Request<B>, permit: Arc<dyn Permit>) {
    request.extensions_mut().insert(WritePermit(permit));
}

/// Detaches the permit from a request; a read has none.
pub(crate) fn detach<B>(request: &mut Request<B>) -> Option<Arc<dyn Permit>> {
    let permit = request.extensions_mut().remove::<WritePermit>();
    permit.map(|permit| permit.0)
}

/// Asks the permit of a request that is about to be sent.
pub(crate) fn ask(permit: Option<&Arc<dyn Permit>>) -> Result<(), NotPermitted> {
    match permit {
        Some(permit) if !permit.may_write() => Err(NotPermitted),
        _ => Ok(()),
    }
}
