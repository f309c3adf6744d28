//! The timing of an election.

use std::fmt;
use std::time::Duration;

use flyball_api::Text;

/// Who we are and how patient everybody is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Our identity, unique among all candidates of all time.
    pub identity: Text,
    /// How long others wait after the last change of the record.
    pub lease_duration: Duration,
    /// How long a leader goes on trying to renew.
    pub renew_deadline: Duration,
    /// How long between tries.
    pub retry_period: Duration,
}

/// Timing that could make two leaders, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSettings {
    /// The lease must outlast the leader's patience.
    LeaseTooShort,
    /// The leader must have time for more than one try.
    RenewTooShort,
    /// Nothing may be zero, and the Lease counts whole seconds.
    NotPositive,
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeaseTooShort => "leaseDuration must be greater than renewDeadline",
            Self::RenewTooShort => "renewDeadline must be greater than retryPeriod*1.2",
            Self::NotPositive => {
                "leaseDuration must be at least one second, renewDeadline and retryPeriod greater than zero"
            }
        })
    }
}

impl Settings {
    /// Checks upstream's rules: lease > renew > 1.2 × retry > 0.
    pub fn check(&self) -> Result<(), BadSettings> {
        if self.lease_duration <= self.renew_deadline {
            return Err(BadSettings::LeaseTooShort);
        }
        if self.renew_deadline <= self.retry_period.mul_f64(1.2) {
            return Err(BadSettings::RenewTooShort);
        }
        if self.lease_duration < Duration::from_secs(1) || self.retry_period.is_zero() {
            return Err(BadSettings::NotPositive);
        }
        Ok(())
    }
}
