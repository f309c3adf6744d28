//! One Lease as the server keeps it: writes against a version, nothing else.

use flyball_api::views::{Lease, LeaseSpec};
use flyball_api::{LeanMeta, Text};

use crate::Command;

/// What a request came to on the server.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Is(Lease),
    Absent,
    Wrote(Lease),
    Refused,
}

#[derive(Default)]
pub(super) struct Server {
    lease: Option<Lease>,
    revision: u64,
}

impl Server {
    pub(super) fn serve(&mut self, request: &Command) -> Reply {
        match (request, &self.lease) {
            (Command::Read, Some(lease)) => Reply::Is(lease.clone()),
            (Command::Read, None) => Reply::Absent,
            (Command::Create(spec), None) => self.store(spec),
            (Command::Update(spec, version), Some(lease))
                if lease.metadata.resource_version == *version =>
            {
                self.store(spec)
            }
            _ => Reply::Refused,
        }
    }

    fn store(&mut self, spec: &LeaseSpec) -> Reply {
        self.revision += 1;
        let resource_version = Text::from(self.revision.to_string());
        let metadata = LeanMeta {
            resource_version,
            ..LeanMeta::default()
        };
        let lease = Lease {
            metadata: metadata.into(),
            spec: spec.clone(),
        };
        self.lease = Some(lease.clone());
        Reply::Wrote(lease)
    }
}
