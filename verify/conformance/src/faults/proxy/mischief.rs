//! The kinds of nonsense that a broken server, a captive portal or a bad cable sends.

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::sync::{mpsc, watch};

use super::Mood;
use super::relay::{Answer, whole};

/// What is done to the lists and watches of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mischief {
    /// A line in each watch that is no JSON.
    GarbageLine,
    /// Half an event, then the connection ends.
    HalfLine,
    /// A web page with status 200 instead of lists and watches.
    WebPage,
    /// A watch line that never ends.
    EndlessLine,
    /// Status 500 for lists and watches.
    ServerError,
    /// An event of type ERROR with code 410 in each watch.
    Expired,
    /// Lists that are cut off in the middle, and no watch that works.
    BrokenList,
}

impl Mischief {
    pub(crate) const ALL: [Self; 7] = [
        Self::GarbageLine,
        Self::HalfLine,
        Self::WebPage,
        Self::EndlessLine,
        Self::ServerError,
        Self::Expired,
        Self::BrokenList,
    ];

    /// Whether neither lists nor watches get through, so that the cache cannot follow.
    pub(crate) fn is_total(self) -> bool {
        matches!(self, Self::WebPage | Self::ServerError | Self::BrokenList)
    }

    /// The answer given instead of the server's, if it comes to that.
    pub(super) fn instead(self, is_watch: bool) -> Option<Answer> {
        match self {
            Self::WebPage => {
                let page =
                    "<!DOCTYPE html><html><body>Please log in to the network</body></html>\n";
                Some(answer(StatusCode::OK, "text/html", page))
            }
            Self::ServerError => {
                let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","message":"the harness says no","code":500}"#;
                Some(answer(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "application/json",
                    status,
                ))
            }
            Self::BrokenList if !is_watch => {
                let list = r#"{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"#;
                Some(answer(StatusCode::OK, "application/json", list))
            }
            _ => None,
        }
    }

    /// Does it to a watch. Returns whether the watch then goes on.
    pub(super) async fn inflict(
        self,
        to: &mpsc::UnboundedSender<Bytes>,
        mood: &mut watch::Receiver<Mood>,
    ) -> bool {
        let say = |text: &'static [u8]| to.send(Bytes::from_static(text)).is_ok();
        match self {
            Self::GarbageLine => say(b"}{ no event \xff\xfe is this\n"),
            Self::HalfLine => {
                say(br#"{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"ha"#);
                false
            }
            Self::Expired | Self::BrokenList => {
                say(b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n");
                false
            }
            Self::EndlessLine => {
                babble(to, mood).await;
                false
            }
            Self::WebPage | Self::ServerError => false,
        }
    }
}

/// Sends one line without an end until the mood changes or nobody listens, at a pace that shows within seconds
/// whether the reader keeps all of it.
async fn babble(to: &mpsc::UnboundedSender<Bytes>, mood: &mut watch::Receiver<Mood>) {
    let chunk = Bytes::from(vec![b'x'; 1 << 20]);
    loop {
        if to.send(chunk.clone()).is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_millis(10)) => {}
            () = to.closed() => return,
            _ = mood.changed() => return,
        }
    }
}

pub(super) fn answer(code: StatusCode, content_type: &str, body: &'static str) -> Answer {
    let mut answer = Response::new(whole(Bytes::from_static(body.as_bytes())));
    *answer.status_mut() = code;
    if let Ok(value) = http::HeaderValue::from_str(content_type) {
        answer
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, value);
    }
    answer
}
