//! Group commit over an engine: a thread takes all commits that wait and has them made durable
//! together. It is what our own log does, so that engines are compared and not designs.

use std::thread::JoinHandle;

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::{mpsc, watch};

/// How many commits may wait, and be taken at once.
const QUEUE_MAX: usize = 1024;

/// A key and its value.
pub(super) type Pair = (String, Vec<u8>);

/// Something that makes pairs durable.
pub(super) trait Engine: Send + 'static {
    /// Stores all of them, and returns when they will survive a crash.
    fn commit(&mut self, pairs: Vec<Pair>) -> Result<()>;
}

/// An engine with its thread.
pub(super) struct Grouped {
    queue: mpsc::Sender<Pair>,
    durable: watch::Receiver<u64>,
    thread: JoinHandle<Result<()>>,
}

impl Grouped {
    pub(super) fn start(mut engine: impl Engine) -> Self {
        let (queue, mut received) = mpsc::channel::<Pair>(QUEUE_MAX);
        let (publish, durable) = watch::channel(0);
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            while let Some(first) = received.blocking_recv() {
                let mut group = vec![first];
                while group.len() < QUEUE_MAX
                    && let Ok(next) = received.try_recv()
                {
                    group.push(next);
                }
                count += group.len() as u64;
                engine.commit(group)?;
                publish.send_replace(count);
            }
            Ok(())
        });
        Grouped {
            queue,
            durable,
            thread,
        }
    }

    /// Hands a pair over. It is drawn once there is a place, with its number, counted from one.
    pub(super) async fn commit(&self, draw: impl FnOnce() -> (u64, Pair)) -> Result<()> {
        let place = self.queue.reserve().await.context("the engine failed")?;
        let (number, pair) = draw();
        place.send(pair);
        let mut durable = self.durable.clone();
        let waited = durable.wait_for(|count| *count >= number).await;
        waited.map(drop).context("the engine failed")
    }

    /// Ends the thread and says whether all went well.
    pub(super) fn stop(self) -> Result<()> {
        drop(self.queue);
        let outcome = self.thread.join();
        outcome.map_err(|_| anyhow!("the engine panicked"))?
    }
}
