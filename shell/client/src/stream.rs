//! A watch as it comes in, line by line.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use flyball_api::ApiError;
use http_body::{Body, Frame};
use http_body_util::BodyExt;

use crate::lines::Lines;
use crate::load::chain;
use crate::transport::ResponseBody;

type BodyError = <ResponseBody as Body>::Error;

/// The lines of a watch.
pub struct WatchStream {
    body: ResponseBody,
    lines: Lines,
    ended: bool,
}

impl WatchStream {
    pub(crate) fn new(body: ResponseBody) -> Self {
        Self {
            body,
            lines: Lines::default(),
            ended: false,
        }
    }

    /// The next line; `None` when the server ended the watch. A line cut off by the end is handed
    /// out as it is, so that whoever reads it can say what was wrong.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            match self.ready_line()? {
                Some(line) => return Ok(Some(line)),
                None if self.ended => return Ok(self.lines.remainder()),
                None => {}
            }
            let frame = self.body.frame().await;
            self.push(frame)?;
        }
    }

    /// A line that has already arrived, without waiting.
    pub fn ready_line(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let line = self
                .lines
                .next()
                .map_err(|_| ApiError::transport("a watch line had no end"))?;
            if line.is_some() || self.ended {
                return Ok(line);
            }
            let mut nobody = Context::from_waker(Waker::noop());
            match Pin::new(&mut self.body).poll_frame(&mut nobody) {
                Poll::Ready(frame) => self.push(frame)?,
                Poll::Pending => return Ok(None),
            }
        }
    }

    fn push(&mut self, frame: Option<Result<Frame<Bytes>, BodyError>>) -> Result<(), ApiError> {
        match frame {
            Some(Ok(frame)) => {
                if let Ok(chunk) = frame.into_data() {
                    self.lines.push(&chunk);
                }
            }
            Some(Err(error)) => {
                self.ended = true;
                let reason = format!("the watch broke off: {}", chain(&error));
                return Err(ApiError::transport(reason));
            }
            None => self.ended = true,
        }
        Ok(())
    }
}
