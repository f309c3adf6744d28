//! The permission to write: it ends with the term, by the clock, and with a round.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use flyball_api::request::{Method, Request};
use flyball_api::{ApiError, Class};
use flyball_client::{Client, Permit};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower::Service;

use super::api::{Answer, Api, pass};
use super::toys::{shared, win};
use crate::permission::WritePermit;
use crate::shared::Shared;

/// A server to which connections take as long to open as the test wants.
struct Stalling {
    api: Api,
    is_open: watch::Receiver<bool>,
    opening: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Clone for Stalling {
    fn clone(&self) -> Self {
        Self {
            api: self.api.clone(),
            is_open: self.is_open.clone(),
            opening: None,
        }
    }
}

type Request1 = http::Request<Bytes>;

impl Service<Request1> for Stalling {
    type Response = <Api as Service<Request1>>::Response;
    type Error = <Api as Service<Request1>>::Error;
    type Future = <Api as Service<Request1>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let is_open = &self.is_open;
        let opening = self.opening.get_or_insert_with(|| {
            let mut is_open = is_open.clone();
            Box::pin(async move { drop(is_open.wait_for(|is_open| *is_open).await) })
        });
        ready!(opening.as_mut().poll(cx));
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request1) -> Self::Future {
        self.api.call(request)
    }
}

/// A leader for ten seconds, whose write waits for a connection.
struct Waiting {
    api: Api,
    shared: Arc<Shared>,
    open: watch::Sender<bool>,
    write: JoinHandle<Result<Bytes, ApiError>>,
}

impl Waiting {
    fn begin() -> Self {
        let api = Api::new(|_, _| Answer::Is(201, "{}".to_owned()));
        let shared = shared(&api, Some(Duration::from_secs(10)));
        win(&shared);
        let (open, is_open) = watch::channel(false);
        let stalling = Stalling {
            api: api.clone(),
            is_open,
            opening: None,
        };
        let round = shared.look(|process, _| process.round());
        let permit = permit(&shared, round);
        let client = Client::over(stalling, "server", "tester").unwrap();
        let client = client.permitted(Arc::new(permit));
        let create = Request::with(Method::Post, "/api/v1/namespaces/shop/pods", "{}");
        let write = tokio::spawn(async move { client.send(&create).await });
        Self {
            api,
            shared,
            open,
            write,
        }
    }
}

fn permit(shared: &Arc<Shared>, round: u64) -> WritePermit {
    WritePermit {
        shared: shared.clone(),
        round: Some(round),
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_opens_within_the_term_is_written_to() {
    let waiting = Waiting::begin();
    pass(Duration::from_secs(9)).await;
    waiting.open.send_replace(true);
    waiting.write.await.unwrap().unwrap();
    assert_eq!(waiting.api.lines().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_opens_after_the_term_is_not_written_to() {
    let waiting = Waiting::begin();
    // By the clock alone: the end of the term was announced by no task.
    pass(Duration::from_secs(10)).await;
    waiting.open.send_replace(true);
    let error = waiting.write.await.unwrap().unwrap_err();
    assert_eq!(error.class(), Class::Terminal);
    assert_eq!(waiting.api.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_waits_for_a_connection_is_given_up_when_the_term_ends() {
    let waiting = Waiting::begin();
    pass(Duration::from_secs(10)).await;
    assert!(!waiting.write.is_finished());
    let announced = Instant::now();
    waiting.shared.act(|process, moment| process.elect(moment));
    assert!(waiting.write.await.unwrap().is_err());
    assert_eq!(announced.elapsed(), Duration::ZERO);
    assert_eq!(waiting.api.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_of_one_round() {
    let api = Api::new(|_, _| Answer::Never);
    let shared = shared(&api, None);
    let round = shared.look(|process, _| process.round());
    assert!(permit(&shared, round).may_write());
    assert!(!permit(&shared, round + 1).may_write());
}
