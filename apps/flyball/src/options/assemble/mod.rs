//! From settings to options: every conversion and every check, each mistake told and none stopping
//! at the first.

mod serving;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::checks;
use super::controllers::Selection;
use super::duration::GoDuration;
use super::features::FeatureGates;
use super::settings::Settings;
use super::typed::{Client, Generic, LeaderElection, LogFormat, Logging, Rate};

/// Reads settings and collects what is wrong with them.
pub(super) struct Assembly<'a> {
    pub(super) settings: &'a Settings,
    pub(super) problems: Vec<String>,
}

impl Assembly<'_> {
    /// Adds a problem with the value of one flag: where it is, what it is, what to do.
    pub(super) fn complain(&mut self, flag: &str, what: impl std::fmt::Display) {
        self.problems
            .push(format!("{}: {what}", self.settings.place(flag)));
    }

    /// A duration that must not be negative.
    fn length(&mut self, flag: &str) -> Duration {
        let value = self.settings.duration(flag);
        value.to_std().unwrap_or_else(|| {
            self.complain(flag, format_args!("{value} must not be negative"));
            Duration::ZERO
        })
    }

    /// A duration that must be longer than nothing.
    fn positive_length(&mut self, flag: &str) -> Duration {
        let value = self.settings.duration(flag);
        match value.to_std() {
            Some(length) if !length.is_zero() => length,
            _ => {
                self.complain(flag, format_args!("{value} must be longer than 0s"));
                Duration::from_secs(1)
            }
        }
    }

    fn path(&self, flag: &str) -> Option<PathBuf> {
        Some(self.settings.text(flag))
            .filter(|text| !text.is_empty())
            .map(PathBuf::from)
    }

    /// A file that must be readable if it is named; `advice` says what else the user can do.
    fn file(&mut self, flag: &str, advice: &str) -> Option<PathBuf> {
        let path = self.path(flag)?;
        if let Err(error) = readable(&path) {
            self.complain(
                flag,
                format_args!("cannot read {path:?}: {error}; {advice}"),
            );
        }
        Some(path)
    }

    pub(super) fn generic(&mut self) -> Generic {
        let entries = self.settings.list("controllers");
        let selection = Selection::parse(entries).unwrap_or_else(|unknown| {
            // The list of known names follows once, whatever the number of unknown ones.
            let (last, others) = unknown
                .split_last()
                .map_or((None, &[][..]), |(l, o)| (Some(l), o));
            for error in others {
                let first_line = error.to_string();
                let first_line = first_line.lines().next().unwrap_or_default();
                self.complain("controllers", first_line);
            }
            if let Some(last) = last {
                self.complain("controllers", last);
            }
            checks::empty_selection()
        });
        let gates = self.settings.map("feature-gates");
        let feature_gates = FeatureGates::parse(gates).unwrap_or_else(|errors| {
            for error in errors {
                self.complain("feature-gates", error);
            }
            checks::default_gates()
        });
        let shutdown = self.length("controller-shutdown-timeout");
        Generic {
            selection,
            feature_gates,
            start_interval: self.length("controller-start-interval"),
            shutdown_timeout: Some(shutdown).filter(|length| !length.is_zero()),
            resync_period_min: self.positive_length("min-resync-period"),
            service_account_credentials: self.settings.bool("use-service-account-credentials"),
            external_cloud: self.settings.text("cloud-provider") == "external",
            root_ca_file: self.settings.text("root-ca-file").to_owned(),
            terminated_pod_threshold: self.settings.int("terminated-pod-gc-threshold"),
        }
    }

    pub(super) fn leader_election(&mut self) -> LeaderElection {
        let problems_before = self.problems.len();
        let election = LeaderElection {
            enabled: self.settings.bool("leader-elect"),
            lease_duration: self.positive_length("leader-elect-lease-duration"),
            renew_deadline: self.positive_length("leader-elect-renew-deadline"),
            retry_period: self.positive_length("leader-elect-retry-period"),
            lease_name: self.settings.text("leader-elect-resource-name").to_owned(),
            lease_namespace: self
                .settings
                .text("leader-elect-resource-namespace")
                .to_owned(),
        };
        // Lengths that are wrong by themselves are not compared with each other.
        if election.enabled && self.problems.len() == problems_before {
            checks::leader_election(self, &election);
        }
        election
    }

    pub(super) fn client(&mut self) -> Client {
        let advice = "name a readable kubeconfig, or leave the flag out inside a pod";
        Client {
            kubeconfig: self.file("kubeconfig", advice),
            master: Some(self.settings.text("master").to_owned()).filter(|m| !m.is_empty()),
            rate: self.rate(),
        }
    }

    fn rate(&mut self) -> Option<Rate> {
        let qps = self.settings.float("kube-api-qps");
        // Upstream's clients take a negative rate for no limit at all.
        if qps < 0.0 {
            return None;
        }
        if qps == 0.0 {
            self.complain(
                "kube-api-qps",
                "0 would stop every request; use a negative number for no limit",
            );
        }
        let burst = self.settings.int("kube-api-burst");
        let burst = u32::try_from(burst)
            .ok()
            .filter(|burst| *burst > 0)
            .unwrap_or_else(|| {
                self.complain("kube-api-burst", format_args!("{burst} must be at least 1"));
                1
            });
        Some(Rate { qps, burst })
    }

    pub(super) fn logging(&mut self) -> Logging {
        let format = match self.settings.text("logging-format") {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            other => {
                self.complain(
                    "logging-format",
                    format_args!("{other:?} is not a log format; use text or json"),
                );
                LogFormat::Text
            }
        };
        let levels = self.settings.text("vmodule").split(',').filter_map(|word| {
            let (pattern, level) = word.split_once('=')?;
            Some((pattern.to_owned(), level.parse().ok()?))
        });
        let module_levels = levels.collect();
        let verbosity = u32::try_from(self.settings.int("v")).unwrap_or(u32::MAX);
        Logging {
            format,
            verbosity,
            module_levels,
        }
    }

    /// Checks of settings that no part of the options carries yet.
    pub(super) fn remaining(&mut self) {
        checks::cloud(self);
        checks::signing(self);
        checks::controller_limits(self);
        checks::versions(self);
    }
}

fn readable(path: &Path) -> std::io::Result<()> {
    // Opening a directory succeeds, reading from it does not.
    std::io::Read::read(&mut std::fs::File::open(path)?, &mut [0]).map(|_| ())
}

/// A duration in Go's notation, for messages.
pub(super) fn shown(length: Duration) -> GoDuration {
    GoDuration::from(length)
}
