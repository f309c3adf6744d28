//! Watches the Lease, so that a standby need not wait for its next try.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::ApiError;
use flyball_client::Client;
use tokio::time::sleep;

use crate::shared::Shared;

/// The pause before a watch is opened again, up to doubled by chance.
const PAUSE: Duration = Duration::from_secs(1);

/// Passes every change of the Lease to the process as it happens. Without it the election goes on
/// by polling.
pub(crate) async fn watch_lease(shared: Arc<Shared>, client: Client, lease: String) {
    let (collection, name) = lease.rsplit_once('/').unwrap_or((lease.as_str(), ""));
    let path = format!("{collection}?watch=true&fieldSelector=metadata.name%3D{name}");
    let mut suspect = client.connections_suspect();
    loop {
        suspect.borrow_and_update();
        tokio::select! {
            // Trouble with the server is logged by the election itself.
            _ = read(&shared, &client, &path) => {
                sleep(PAUSE.mul_f64(1.0 + fastrand::f64())).await;
            }
            // The connection may be dead: the watch is opened again.
            Ok(()) = suspect.changed() => {}
        }
    }
}

async fn read(shared: &Arc<Shared>, client: &Client, path: &str) -> Result<(), ApiError> {
    let mut stream = client.watch(path).await?;
    while let Some(line) = stream.next().await? {
        if flyball_election::told(&line).is_none() {
            break;
        }
        shared.act(|process, moment| process.lease_told(&line, moment));
    }
    Ok(())
}
