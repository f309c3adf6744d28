//! An event loop on a thread of its own, for work that would hold up that of the first.

use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::turns::event_loop;

/// An event loop that runs until this is dropped.
pub struct LoopThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LoopThread {
    /// Starts a thread that serves what is spawned on [`LoopThread::handle`].
    pub fn start(name: &str, turns_per_second: u32) -> io::Result<Self> {
        let runtime = event_loop(turns_per_second)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || {
            // A sender that is gone is as good as its word.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        })?;
        Ok(Self {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The way to spawn on it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for LoopThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It can only have panicked, which was told when it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spawned_runs_on_the_other_thread_until_the_end() {
        let other = LoopThread::start("other", 100).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        other.handle().spawn(async move {
            let name = thread::current().name().map(str::to_owned);
            let _ = tell.send(name);
            std::future::pending::<()>().await;
            drop(tell);
        });
        assert_eq!(told.recv().unwrap().as_deref(), Some("other"));
        drop(other);
        assert!(told.recv().is_err(), "the task was dropped with its loop");
    }
}
