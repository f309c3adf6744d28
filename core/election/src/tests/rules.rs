//! Each rule on its own, by hand.

use std::time::Duration;

use flyball_api::views::{Lease, LeaseSpec};
use flyball_api::{LeanMeta, MicroTime, Timestamp};

use crate::{BadSettings, Command, Election, Heard, Role, Settings};

const LEASE: Duration = Duration::from_secs(15);

fn settings() -> Settings {
    Settings {
        identity: "me".into(),
        lease_duration: LEASE,
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
    }
}

fn candidate() -> Election {
    Election::new(settings()).unwrap()
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn wall(seconds: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add(s(1_000_000 + seconds))
}

/// A Lease held since ever, last renewed at `renewed`.
fn held(holder: &str, version: &str, renewed: u64) -> Lease {
    let spec = LeaseSpec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(15),
        acquire_time: Some(MicroTime(wall(0))),
        renew_time: Some(MicroTime(wall(renewed))),
        lease_transitions: Some(4),
        strategy: None,
        preferred_holder: None,
    };
    lease(spec, version)
}

fn lease(spec: LeaseSpec, version: &str) -> Lease {
    let metadata = LeanMeta {
        resource_version: version.into(),
        ..LeanMeta::default()
    };
    Lease {
        metadata: metadata.into(),
        spec,
    }
}

/// A candidate that became leader by a write sent at `at` and answered at once.
fn leader(at: u64) -> Election {
    let mut me = candidate();
    me.heard(Heard::Absent, s(at), 0.0);
    let Command::Create(spec) = me.next(s(at), wall(at)) else {
        panic!("no create")
    };
    me.heard(Heard::Written(lease(spec, "10"), s(at)), s(at), 0.0);
    assert_eq!(me.role(s(at)), Role::Leader);
    me
}

#[test]
fn an_absent_lease_is_read_then_created_and_leads() {
    let mut me = candidate();
    assert_eq!(me.next(s(1), wall(1)), Command::Read);
    me.heard(Heard::Absent, s(1), 0.5);
    let Command::Create(spec) = me.next(s(1), wall(1)) else {
        panic!("no create")
    };
    assert_eq!(spec.holder_identity.as_deref(), Some("me"));
    assert_eq!(spec.lease_duration_seconds, Some(15));
    assert_eq!(spec.lease_transitions, Some(0));
    assert_eq!(
        (spec.acquire_time, spec.renew_time),
        (Some(MicroTime(wall(1))), spec.acquire_time)
    );
    assert_eq!(me.role(s(1)), Role::Standby);
    me.heard(Heard::Written(lease(spec, "10"), s(1)), s(3), 0.5);
    assert_eq!(me.role(s(3)), Role::Leader);
    assert_eq!(me.holder(), Some("me"));
}

#[test]
fn a_create_that_lost_the_race_reads_after_a_pause() {
    let mut me = candidate();
    me.heard(Heard::Absent, s(1), 0.0);
    me.heard(Heard::Failed, s(1), 0.5);
    assert_eq!(
        me.next(s(1), wall(1)),
        Command::WaitUntil(s(1) + s(2).mul_f64(1.6))
    );
    assert_eq!(me.next(s(5), wall(5)), Command::Read);
}

#[test]
fn a_leader_renews_every_retry_period_without_reading() {
    let mut me = leader(1);
    assert_eq!(me.next(s(2), wall(2)), Command::WaitUntil(s(3)));
    let Command::Update(spec, version) = me.next(s(3), wall(3)) else {
        panic!("no update")
    };
    assert_eq!(version, "10");
    assert_eq!(spec.lease_transitions, Some(0));
    assert_eq!(spec.acquire_time, Some(MicroTime(wall(1))));
    assert_eq!(spec.renew_time, Some(MicroTime(wall(3))));
    me.heard(Heard::Written(lease(spec, "11"), s(3)), s(4), 0.9);
    assert_eq!(me.next(s(4), wall(4)), Command::WaitUntil(s(6)));
    assert_eq!(me.leads_until(), Some(s(13)));
}

#[test]
fn a_term_counts_from_when_the_renewal_was_sent() {
    let mut me = candidate();
    me.heard(Heard::Absent, s(1), 0.0);
    let Command::Create(spec) = me.next(s(1), wall(1)) else {
        panic!("no create")
    };
    me.heard(Heard::Written(lease(spec.clone(), "10"), s(1)), s(6), 0.0);
    assert_eq!(me.role(s(10)), Role::Leader);
    assert_eq!(me.role(s(11)), Role::Standby);
    // An answer that comes after the whole term grants nothing.
    let mut me = candidate();
    me.heard(Heard::Absent, s(1), 0.0);
    me.heard(Heard::Written(lease(spec, "10"), s(1)), s(11), 0.0);
    assert_eq!(me.role(s(11)), Role::Standby);
}

#[test]
fn a_held_lease_is_taken_only_after_a_lease_of_observed_silence() {
    let mut me = candidate();
    // Its renewal is a week old by its own clock, which proves nothing.
    me.heard(Heard::Lease(held("you", "7", 0)), s(1), 1.0);
    assert_eq!(
        me.next(s(1), wall(1)),
        Command::WaitUntil(s(1) + s(2).mul_f64(2.2))
    );
    assert_eq!(me.next(s(6), wall(6)), Command::Read);
    // Renewed: the silence starts anew.
    me.heard(Heard::Lease(held("you", "8", 6)), s(6), 0.0);
    // Written again, but its record says the same: still silent.
    me.heard(Heard::Lease(held("you", "9", 6)), s(12), 0.0);
    me.heard(Heard::Lease(held("you", "9", 6)), s(20), 1.0);
    // The next try is not later than the moment the lease is over.
    assert_eq!(me.next(s(20), wall(20)), Command::WaitUntil(s(21)));
    assert_eq!(me.next(s(21), wall(21)), Command::Read);
    me.heard(Heard::Lease(held("you", "9", 6)), s(21), 0.0);
    let Command::Update(spec, version) = me.next(s(21), wall(21)) else {
        panic!("no update")
    };
    assert_eq!(version, "9");
    assert_eq!(spec.holder_identity.as_deref(), Some("me"));
    assert_eq!(spec.lease_transitions, Some(5));
    assert_eq!(spec.acquire_time, Some(MicroTime(wall(21))));
}

#[test]
fn the_holder_says_how_long_its_lease_is() {
    let mut me = candidate();
    let mut long = held("you", "7", 0);
    long.spec.lease_duration_seconds = Some(60);
    me.heard(Heard::Lease(long.clone()), s(0), 0.0);
    me.heard(Heard::Lease(long.clone()), s(59), 0.0);
    assert_eq!(me.next(s(59), wall(59)), Command::WaitUntil(s(60)));
    me.heard(Heard::Lease(long), s(60), 0.0);
    assert!(matches!(me.next(s(60), wall(60)), Command::Update(..)));
    // One that does not say is given ours.
    let mut me = candidate();
    let mut unsaid = held("you", "7", 0);
    unsaid.spec.lease_duration_seconds = None;
    me.heard(Heard::Lease(unsaid.clone()), s(0), 0.0);
    me.heard(Heard::Lease(unsaid), s(14), 0.0);
    assert_eq!(me.next(s(14), wall(14)), Command::WaitUntil(LEASE));
}

#[test]
fn a_released_lease_is_taken_the_moment_it_is_told() {
    let mut me = candidate();
    me.heard(Heard::Lease(held("you", "7", 0)), s(1), 1.0);
    me.heard(Heard::Told(held("", "8", 1)), s(2), 1.0);
    let Command::Update(spec, version) = me.next(s(2), wall(2)) else {
        panic!("no update")
    };
    assert_eq!(version, "8");
    assert_eq!(spec.lease_transitions, Some(5));
    assert_eq!(me.holder(), None);
}

#[test]
fn a_failed_takeover_pauses_instead_of_spinning() {
    let mut me = candidate();
    me.heard(Heard::Lease(held("you", "7", 0)), s(0), 0.0);
    // Long silent, and the server does not answer.
    for at in [20, 30, 40] {
        assert_eq!(me.next(s(at), wall(at)), Command::Read);
        me.heard(Heard::Failed, s(at), 0.0);
        assert_eq!(me.next(s(at), wall(at)), Command::WaitUntil(s(at + 2)));
    }
    me.heard(Heard::Lease(held("you", "7", 0)), s(50), 0.0);
    assert!(matches!(me.next(s(50), wall(50)), Command::Update(..)));
    me.heard(Heard::Failed, s(50), 0.0);
    assert_eq!(me.next(s(50), wall(50)), Command::WaitUntil(s(52)));
    assert_eq!(me.next(s(52), wall(52)), Command::Read);
}

#[test]
fn a_leaders_lost_write_is_followed_by_a_read_at_once_then_by_pauses() {
    let mut me = leader(1);
    me.heard(Heard::Failed, s(3), 0.9);
    assert_eq!(me.next(s(3), wall(3)), Command::Read);
    // Still leading, so the pause between tries is even.
    me.heard(Heard::Failed, s(4), 0.9);
    assert_eq!(me.next(s(4), wall(4)), Command::WaitUntil(s(6)));
    // Somebody annotated it: the record is ours, the version is another.
    let Some(Command::Update(_, _)) = leader(1).release(wall(1)) else {
        panic!("no release")
    };
    let mut again = held("me", "12", 1);
    again.spec.acquire_time = Some(MicroTime(wall(1)));
    me.heard(Heard::Lease(again), s(6), 0.9);
    let Command::Update(spec, version) = me.next(s(6), wall(6)) else {
        panic!("no update")
    };
    assert_eq!((version.as_str(), spec.lease_transitions), ("12", Some(4)));
    assert_eq!(me.role(s(6)), Role::Leader);
}

#[test]
fn a_leader_stops_at_its_deadline_without_being_told() {
    let me = leader(1);
    assert_eq!(me.role(s(10)), Role::Leader);
    assert_eq!(me.role(s(11)), Role::Standby);
    // It may try on: against the last known version that can only succeed if nobody took over.
    assert!(matches!(me.next(s(11), wall(11)), Command::Update(_, version) if version == "10"));
}

#[test]
fn a_leader_that_sees_another_holder_stops_at_once() {
    let mut me = leader(1);
    me.heard(Heard::Told(held("you", "11", 2)), s(2), 0.0);
    assert_eq!(me.role(s(2)), Role::Standby);
    assert_eq!(me.leads_until(), None);
    assert_eq!(me.holder(), Some("you"));
    assert_eq!(me.release(wall(2)), None);
}

#[test]
fn a_leader_that_sees_its_lease_emptied_or_gone_stops_and_comes_back() {
    let mut me = leader(1);
    me.heard(Heard::Told(held("", "11", 2)), s(2), 0.0);
    assert_eq!(me.role(s(2)), Role::Standby);
    assert!(matches!(me.next(s(2), wall(2)), Command::Update(_, version) if version == "11"));
    let mut me = leader(1);
    me.heard(Heard::Failed, s(3), 0.0);
    me.heard(Heard::Absent, s(3), 0.0);
    assert_eq!(me.role(s(3)), Role::Standby);
    let Command::Create(spec) = me.next(s(3), wall(3)) else {
        panic!("no create")
    };
    assert_eq!(spec.lease_transitions, Some(0));
}

#[test]
fn what_a_lagging_watch_tells_is_history() {
    let mut me = leader(1);
    me.heard(Heard::Told(held("you", "9", 0)), s(2), 0.0);
    assert_eq!(me.role(s(2)), Role::Leader);
    assert_eq!(me.holder(), Some("me"));
    // Versions that are no numbers cannot be compared: the news is believed.
    me.heard(Heard::Told(held("you", "x", 0)), s(2), 0.0);
    assert_eq!(me.role(s(2)), Role::Standby);
}

#[test]
fn a_read_is_believed_even_if_versions_went_backwards() {
    // As after a server was restored from a backup.
    let mut me = leader(1);
    me.heard(Heard::Failed, s(3), 0.0);
    me.heard(Heard::Lease(held("you", "2", 0)), s(3), 0.0);
    assert_eq!(me.role(s(3)), Role::Standby);
    assert_eq!(me.next(s(3), wall(3)), Command::WaitUntil(s(5)));
}

#[test]
fn an_answer_that_was_overtaken_grants_nothing() {
    let mut me = leader(1);
    let Command::Update(spec, _) = me.next(s(3), wall(3)) else {
        panic!("no update")
    };
    me.heard(Heard::Told(held("you", "12", 3)), s(4), 0.0);
    me.heard(Heard::Written(lease(spec, "11"), s(3)), s(4), 0.0);
    assert_eq!(me.role(s(4)), Role::Standby);
    assert_eq!(me.holder(), Some("you"));
}

#[test]
fn a_release_is_upstreams_record_and_ends_leading() {
    let mut me = leader(1);
    let Some(Command::Update(spec, version)) = me.release(wall(4)) else {
        panic!("no release")
    };
    assert_eq!(version, "10");
    assert_eq!(spec.holder_identity.as_deref(), Some(""));
    assert_eq!(spec.lease_duration_seconds, Some(1));
    assert_eq!(spec.lease_transitions, Some(0));
    assert_eq!(spec.acquire_time, Some(MicroTime(wall(4))));
    assert_eq!(spec.renew_time, Some(MicroTime(wall(4))));
    assert_eq!(me.role(s(1)), Role::Standby);
    assert_eq!(candidate().release(wall(4)), None);
}

#[test]
fn settings_that_could_make_two_leaders_or_none_are_refused() {
    let with = |lease: u64, renew: u64, retry: u64| {
        let ms = Duration::from_millis;
        let (lease_duration, renew_deadline, retry_period) = (ms(lease), ms(renew), ms(retry));
        Settings {
            lease_duration,
            renew_deadline,
            retry_period,
            ..settings()
        }
        .check()
    };
    assert_eq!(with(15_000, 10_000, 2_000), Ok(()));
    assert_eq!(with(10_000, 10_000, 2_000), Err(BadSettings::LeaseTooShort));
    assert_eq!(with(15_000, 10_000, 9_000), Err(BadSettings::RenewTooShort));
    assert_eq!(with(15_000, 10_000, 0), Err(BadSettings::NotPositive));
    assert_eq!(with(900, 500, 100), Err(BadSettings::NotPositive));
    assert_eq!(with(0, 0, 0), Err(BadSettings::LeaseTooShort));
}

#[test]
fn a_lease_of_broken_seconds_is_written_longer_never_shorter() {
    let (lease_duration, renew_deadline) =
        (Duration::from_millis(1_900), Duration::from_millis(1_500));
    let retry_period = Duration::from_millis(500);
    let mut me = Election::new(Settings {
        lease_duration,
        renew_deadline,
        retry_period,
        ..settings()
    })
    .unwrap();
    me.heard(Heard::Absent, s(0), 0.0);
    let Command::Create(spec) = me.next(s(0), wall(0)) else {
        panic!("no create")
    };
    assert_eq!(spec.lease_duration_seconds, Some(2));
}
