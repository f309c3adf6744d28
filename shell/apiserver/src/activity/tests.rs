use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_after_its_last_request() {
    let activity = Activity::new();
    let start = Instant::now();
    assert_eq!(activity.idle_since(), Some(start));
    let (one, other) = (activity.begin(), activity.begin());
    assert_eq!(activity.idle_since(), None);
    drop(one);
    assert_eq!(activity.idle_since(), None);
    tokio::time::advance(Duration::from_secs(5)).await;
    drop(other);
    assert_eq!(activity.idle_since(), Some(start + Duration::from_secs(5)));
}

#[tokio::test]
async fn it_is_known_since_when_nothing_is_read() {
    let (near, mut far) = tokio::io::duplex(4);
    let activity = Activity::new();
    let mut near = Watched::new(near, activity.clone());
    near.write_all(b"abcd").await.unwrap();
    assert_eq!(activity.stalled_since(), None);
    let more = tokio::time::timeout(Duration::from_millis(1), near.write_all(b"e"));
    assert!(more.await.is_err());
    assert!(activity.stalled_since().is_some());
    far.read_exact(&mut [0; 4]).await.unwrap();
    near.write_all(b"e").await.unwrap();
    assert_eq!(activity.stalled_since(), None);
}

#[tokio::test(start_paused = true)]
async fn more_to_wait_for_is_no_progress() {
    let activity = Activity::new();
    let start = Instant::now();
    let one = activity.wait();
    tokio::time::advance(Duration::from_secs(5)).await;
    let other = activity.wait();
    assert_eq!(activity.stalled_since(), Some(start));
    activity.note_progress();
    assert_eq!(
        activity.stalled_since(),
        Some(start + Duration::from_secs(5))
    );
    drop((one, other));
    assert_eq!(activity.stalled_since(), None);
}

#[tokio::test(start_paused = true)]
async fn clients_without_credentials_go_first_and_busy_users_stay() {
    let start = Instant::now();
    let (stranger, idle, stalled, busy) = (
        Activity::new(),
        Activity::new(),
        Activity::new(),
        Activity::new(),
    );
    for user in [&idle, &stalled, &busy] {
        user.note_user();
    }
    let _asked = (stranger.begin(), stalled.begin(), busy.begin());
    let _waiting = (stranger.wait(), stalled.wait());
    stalled.hold(10);
    busy.hold(10);
    assert_eq!(stalled.claim(), None, "a moment is no stall");
    assert_eq!(stalled.hoarding_since(), None);
    tokio::time::advance(PRESSURE_PATIENCE).await;
    assert_eq!(stranger.claim(), Some(Claim::Unknown(start)));
    assert_eq!(idle.claim(), Some(Claim::Idle(start)));
    assert_eq!(stalled.claim(), Some(Claim::Stalled(start)));
    assert_eq!(busy.claim(), None);
    assert!(stranger.claim() < idle.claim() && idle.claim() < stalled.claim());
    assert_eq!(stalled.hoarding_since(), Some(start));
    assert_eq!(busy.hoarding_since(), None, "the server works for it");
    stalled.ask_to_leave();
    assert_eq!((stalled.claim(), stalled.hoarding_since()), (None, None));
}
