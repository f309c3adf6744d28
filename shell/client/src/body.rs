//! The whole body of an answer.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::load::chain;
use crate::transport::ResponseBody;

/// More than any list page of 500 objects.
const BODY_BYTES_MAX: usize = 1 << 30;

/// Reads a body to its end.
pub(crate) async fn collect(mut body: ResponseBody) -> Result<Bytes, String> {
    let mut whole = Chunks::None;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| format!("reading the answer failed: {}", chain(&error)))?;
        if let Ok(chunk) = frame.into_data() {
            whole = whole.and(chunk);
        }
        if whole.len() > BODY_BYTES_MAX {
            return Err("reading the answer failed: it is larger than any answer".to_owned());
        }
    }
    Ok(whole.into_bytes())
}

/// What has arrived of a body. Most bodies arrive whole and need no copy.
enum Chunks {
    None,
    One(Bytes),
    More(BytesMut),
}

impl Chunks {
    fn and(self, chunk: Bytes) -> Self {
        match self {
            Self::None => Self::One(chunk),
            Self::One(first) => {
                let mut all = BytesMut::with_capacity(2 * (first.len() + chunk.len()));
                all.extend_from_slice(&first);
                all.extend_from_slice(&chunk);
                Self::More(all)
            }
            Self::More(mut all) => {
                all.extend_from_slice(&chunk);
                Self::More(all)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(chunk) => chunk.len(),
            Self::More(all) => all.len(),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::One(chunk) => chunk,
            Self::More(all) => all.freeze(),
        }
    }
}
