//! Who held the Lease when, from the audit log.
//!
//! The record's holder is the user of the last lease write that succeeded: candidates write it only to acquire, to
//! renew or to release, and a standby's attempt on a Lease that is held fails or is not made.

use anyhow::{Context as _, Result};
use jiff::Timestamp;

use crate::cluster::Cluster;
use crate::poll::until;
use crate::requests::{Mark, Request, Requests};

const WORKLOAD_RESOURCES: &[&str] = &[
    "deployments",
    "replicasets",
    "replicationcontrollers",
    "pods",
];

/// When the server received a request.
pub(super) fn received(request: &Request) -> Result<Timestamp> {
    request
        .received
        .parse()
        .with_context(|| format!("audit time {}", request.received))
}

/// Whether this is a write that only a leader may make.
pub(super) fn is_leaders_write(request: &Request) -> bool {
    let resource = request.resource.split('/').next().unwrap_or_default();
    request.is_write() && WORKLOAD_RESOURCES.contains(&resource)
}

/// Whether this is a lease write that took effect.
pub(super) fn is_lease_write(request: &Request) -> bool {
    request.resource == "leases" && request.is_write() && (200..300).contains(&request.code)
}

/// Every leader's write that was received while somebody else had written the Lease last.
pub(super) fn writes_without_lease(requests: &Requests) -> Result<Vec<String>> {
    let mut ordered: Vec<(Timestamp, &Request)> = Vec::new();
    for request in &requests.all {
        if is_lease_write(request) || is_leaders_write(request) {
            ordered.push((received(request)?, request));
        }
    }
    ordered.sort_by_key(|(at, _)| *at);
    let mut holder = "";
    let mut wrong = Vec::new();
    for (at, request) in ordered {
        if is_lease_write(request) {
            holder = &request.user;
        } else if holder != request.user {
            wrong.push(format!(
                "{at} {} {} {} by {} while {} holds the lease",
                request.verb,
                request.resource,
                request.name,
                request.user,
                if holder.is_empty() { "nobody" } else { holder },
            ));
        }
    }
    Ok(wrong)
}

/// How often the Lease went from one user to another.
pub(super) fn handovers(requests: &Requests) -> Result<usize> {
    let mut writes: Vec<(Timestamp, &str)> = Vec::new();
    for request in requests.all.iter().filter(|one| is_lease_write(one)) {
        writes.push((received(request)?, &request.user));
    }
    writes.sort();
    Ok(writes.windows(2).filter(|two| two[0].1 != two[1].1).count())
}

/// Waits for a request of `user` after `since` that satisfies `wanted`; the earliest that was received.
pub(super) async fn first(
    cluster: &Cluster,
    what: &str,
    user: &str,
    since: Mark,
    limit: std::time::Duration,
    wanted: impl Fn(&Request) -> bool,
) -> Result<Timestamp> {
    let audit = cluster.audit()?;
    until(what, limit, async || {
        let requests = audit.since(since)?.by_user(user).filter(&wanted);
        let times: Vec<Timestamp> = requests.all.iter().map(received).collect::<Result<_>>()?;
        Ok(times.into_iter().min())
    })
    .await
}

/// Seconds from one moment to another.
pub(super) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(at: u8, user: &str, verb: &str, resource: &str, code: u16) -> Request {
        Request {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            namespace: "n".to_owned(),
            name: "x".to_owned(),
            user: user.to_owned(),
            user_agent: String::new(),
            code,
            received: format!("2030-01-01T00:00:{at:02}.000000Z"),
            uri: String::new(),
            body: None,
        }
    }

    #[test]
    fn a_write_after_anothers_lease_write_is_wrong_in_whatever_order_it_was_logged() {
        let all = vec![
            request(1, "a", "update", "leases", 200),
            request(2, "a", "create", "pods", 201),
            request(5, "a", "delete", "pods", 200),
            request(4, "b", "update", "leases", 200),
            request(6, "b", "patch", "deployments/status", 200),
        ];
        let wrong = writes_without_lease(&Requests { all }).unwrap();
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("delete pods x by a while b holds"));
    }

    #[test]
    fn a_refused_lease_write_changes_no_holder() {
        let all = vec![
            request(1, "a", "update", "leases", 200),
            request(2, "b", "update", "leases", 409),
            request(3, "a", "create", "replicasets", 201),
        ];
        let requests = Requests { all };
        assert!(writes_without_lease(&requests).unwrap().is_empty());
        assert_eq!(handovers(&requests).unwrap(), 0);
    }

    #[test]
    fn events_and_reviews_need_no_lease() {
        let all = vec![
            request(1, "a", "create", "events", 201),
            request(2, "a", "create", "tokenreviews", 201),
        ];
        assert!(writes_without_lease(&Requests { all }).unwrap().is_empty());
    }
}
