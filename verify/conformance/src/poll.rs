//! Waiting for a condition: probe until it holds or the deadline passes. Nothing here waits a fixed time and hopes.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// Calls `probe` until it returns a value, pausing 5 ms at first and 100 ms at most between calls.
///
/// # Errors
/// At once when `probe` fails; after `limit` with a message that says what was awaited.
pub async fn until<T>(
    what: &str,
    limit: Duration,
    mut probe: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + limit;
    let mut pause = PAUSE_MIN;
    loop {
        if let Some(value) = probe()
            .await
            .with_context(|| format!("while waiting for {what}"))?
        {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("{what} did not happen within {:.1} s", limit.as_secs_f64());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(PAUSE_MAX);
    }
}
