//! Listing page by page.

use std::time::Duration;

use flyball_api::{ApiError, Object, Text};

use super::fault::Fault;
use super::page::read_page;
use super::{Command, ListRequest, Moment, Next, Outcome, Problem, Reflector, State, admit};
use crate::StoreView;
use crate::store::objects::Objects;

/// Objects per page.
pub(super) const PAGE_SIZE: u32 = 500;

/// How long a page may take: a server gives a list up after a minute by itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// A list under way.
pub(super) struct Listing<T> {
    request: ListRequest,
    asked_at: Duration,
    gathered: Objects<T>,
    /// The version that the first page gave for the whole list.
    version: Option<Text>,
    /// Whether the list asked for any state, the one case in which a server with a cache of its
    /// own never gives pages.
    any_state: bool,
}

impl<T> Listing<T> {
    pub(super) fn deadline(&self) -> Duration {
        self.asked_at + PATIENCE
    }
}

impl<T: Object> Reflector<T> {
    /// Asks for the first page.
    pub(super) fn list(&mut self, moment: Moment) -> Outcome<T> {
        let (resource_version, limit) = match self.version.as_str() {
            _ if self.version_unusable => (None, Some(PAGE_SIZE)),
            "" => (Some("0".to_owned()), Some(PAGE_SIZE)),
            // Servers answer such a list from their own cache only if it is not to be paged.
            version => (
                Some(version.to_owned()),
                self.server_pages.then_some(PAGE_SIZE),
            ),
        };
        self.list_by(
            ListRequest {
                resource_version,
                limit,
                continue_token: None,
            },
            moment,
        )
    }

    fn list_by(&mut self, request: ListRequest, moment: Moment) -> Outcome<T> {
        self.state = State::Listing(Listing {
            any_state: request.resource_version.as_deref() == Some("0"),
            request: request.clone(),
            asked_at: moment.now,
            gathered: Objects::default(),
            version: None,
        });
        Outcome::command(Command::List(request))
    }

    /// A page came.
    pub(super) fn page(
        &mut self,
        body: &[u8],
        moment: Moment,
        cached: &StoreView<T>,
    ) -> Outcome<T> {
        let State::Listing(mut listing) = std::mem::replace(&mut self.state, State::Idle) else {
            return Outcome::nothing();
        };
        let (pool, gathered) = (&mut self.pool, &mut listing.gathered);
        let read = read_page(body, &self.types, |object| {
            gathered.put(admit(object, pool, cached));
        });
        let page = match read {
            Ok(page) => page,
            Err(what) => {
                return self.wait(Next::List, Problem::MalformedList(what), None, moment);
            }
        };
        let version = listing.version.get_or_insert(page.version).clone();
        if page.continue_token.is_empty() {
            let done = self.listed(listing.gathered, version);
            return Outcome {
                command: self.watch(moment).command,
                ..done
            };
        }
        self.server_pages |= listing.any_state;
        let next = ListRequest {
            resource_version: None,
            limit: listing.request.limit,
            continue_token: Some(page.continue_token),
        };
        listing.request = next.clone();
        listing.asked_at = moment.now;
        self.state = State::Listing(listing);
        Outcome::command(Command::List(next))
    }

    /// A page did not come.
    pub(super) fn list_failed(&mut self, error: &ApiError, moment: Moment) -> Outcome<T> {
        let State::Listing(listing) = &self.state else {
            return Outcome::nothing();
        };
        let problem = Problem::ListFailed(error.clone());
        match Fault::of(error) {
            Fault::Expired if listing.request.continue_token.is_some() => {
                // The list grew too old while it was read page by page; in one piece it cannot.
                self.version_unusable = true;
                let whole = self.list_by(ListRequest::default(), moment);
                whole.with_notice(self.kind, problem, None)
            }
            Fault::Expired | Fault::TooNew => {
                self.version_unusable = true;
                self.page_next = true;
                self.list_again(problem, moment)
            }
            _ => self.wait(Next::List, problem, error.retry_after(), moment),
        }
    }
}
