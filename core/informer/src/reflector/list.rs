//! Listing page by page.

use std::time::Duration;

use flyball_api::{ApiError, Object, Text};

use super::fault::Fault;
use super::page::read_page;
use super::{Command, ListRequest, Moment, Next, Outcome, Problem, Reflector, Sign, State, admit};
use crate::StoreView;
use crate::store::objects::Objects;

/// Objects per page.
pub(super) const PAGE_SIZE: u32 = 500;

/// How long a page may take: a server gives a list up after a minute by itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// A list under way.
pub(super) struct Listing<T> {
    first: ListRequest,
    asked_at: Duration,
    gathered: Objects<T>,
    /// The version that the first page gave for the whole list; `None` until that page came.
    version: Option<Text>,
}

impl<T> Listing<T> {
    pub(super) fn deadline(&self) -> Duration {
        self.asked_at + PATIENCE
    }

    /// The request for the first page.
    pub(super) fn first_page(&self) -> &ListRequest {
        &self.first
    }
}

impl<T: Object> Reflector<T> {
    /// Asks for the first page of a consistent list, or for the whole of another in one piece:
    /// servers answer the latter from their own cache, which does not page.
    pub(super) fn list(&mut self, moment: Moment) -> Outcome<T> {
        let version = self.not_older_than().map(str::to_owned);
        let request = ListRequest {
            limit: version.is_none().then_some(PAGE_SIZE),
            resource_version: version,
            continue_token: None,
        };
        self.list_by(request, moment)
    }

    /// Asks for the first page by the given request.
    pub(super) fn list_by(&mut self, first: ListRequest, moment: Moment) -> Outcome<T> {
        self.state = State::Listing(Listing {
            first: first.clone(),
            asked_at: moment.now,
            gathered: Objects::default(),
            version: None,
        });
        Outcome::command(Command::List(first))
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
        let cached = self.shareable(cached);
        let (pool, gathered) = (&mut self.pool, &mut listing.gathered);
        let read = read_page(body, &self.types, |object| {
            gathered.put(admit(object, pool, cached));
        });
        let page = match read {
            Ok(page) => page,
            Err(what) => {
                self.contact.lose(moment.now);
                return self.wait(Next::List, Problem::MalformedList(what), None, moment);
            }
        };
        self.contact.regain();
        let version = listing.version.get_or_insert(page.version).clone();
        if page.continue_token.is_empty() {
            let done = self.listed(listing.gathered, version);
            return Outcome {
                command: self.watch(moment).command,
                ..done
            };
        }
        let next = ListRequest {
            resource_version: None,
            limit: listing.first.limit,
            continue_token: Some(page.continue_token),
        };
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
            Fault::Expired if listing.version.is_some() => {
                // The list grew too old while it was read page by page; in one piece it cannot.
                self.newest_only = true;
                let whole = self.list_by(ListRequest::default(), moment);
                whole.with_notice(self.kind, problem, None)
            }
            fault @ (Fault::Expired | Fault::TooNew) => {
                self.page_next = true;
                self.list_newest(problem, moment)
                    .with_sign(Sign::of_fault(fault))
            }
            _ => self.wait(Next::List, problem, error.retry_after(), moment),
        }
    }
}
