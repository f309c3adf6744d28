//! Bodies as they go over the wire: on one line, for people, in YAML, in protobuf, packed.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/writers.go`.

use std::io::Write as _;

use bytes::{BufMut, Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use flyball_registry::{Answer, Failure, Layout, Media, indented};

/// Larger bodies are packed for whoever can unpack them.
const PACKED_FROM_BYTES: usize = 128 << 10;

/// An answer as whoever asks wants it.
#[derive(Debug, PartialEq)]
pub(crate) struct LaidOut {
    /// The HTTP status.
    pub(crate) code: u16,
    /// What the body is written in.
    pub(crate) content_type: String,
    /// The body.
    pub(crate) body: Bytes,
}

/// Lays an answer out as whoever asks wants it.
pub(crate) fn laid_out(answer: &Answer, is_for_people: bool) -> LaidOut {
    let Layout::Asked {
        media,
        indented: asked,
    } = answer.layout
    else {
        return LaidOut {
            code: answer.code,
            content_type: answer.content_type.to_owned(),
            body: answer.body.clone(),
        };
    };
    let mut code = answer.code;
    let body = match media {
        Media::Protobuf => in_protobuf(&answer.body).unwrap_or_else(|failure| {
            code = failure.code();
            in_protobuf(&failure.body()).unwrap_or_default()
        }),
        Media::Yaml => in_yaml(&answer.body),
        Media::Json if asked || is_for_people => indented(&answer.body).into(),
        Media::Json => with_newline(answer.body.clone()),
    };
    // Parameters say of what kind a document is, whatever it is written in.
    let parameters = answer.content_type.strip_prefix(Media::Json.name());
    let content_type = format!("{}{}", media.name(), parameters.unwrap_or_default());
    LaidOut {
        code,
        content_type,
        body,
    }
}

fn in_protobuf(json: &[u8]) -> Result<Bytes, Failure> {
    // It was written by this program.
    let value: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let written = flyball_protobuf::encode(&value).map(Bytes::from);
    let kind = value["kind"].as_str().unwrap_or_default();
    written.ok_or_else(|| Failure::not_in_protobuf(kind))
}

fn in_yaml(json: &[u8]) -> Bytes {
    // It was written by this program.
    let value = serde_json::from_slice(json).unwrap_or_default();
    flyball_yaml::write(&value).into()
}

/// Go's encoder ends what it writes with a line break, unless it is indented.
fn with_newline(body: Bytes) -> Bytes {
    let mut body = match body.try_into_mut() {
        Ok(body) => body,
        Err(shared) => {
            let mut body = BytesMut::with_capacity(shared.len() + 1);
            body.extend_from_slice(&shared);
            body
        }
    };
    body.put_u8(b'\n');
    body.freeze()
}

/// Whether a header says that its sender can unpack bodies; it must say `gzip` and no more.
pub(crate) fn unpacks(accept_encoding: &str) -> bool {
    accept_encoding.split(',').any(|one| one.trim() == "gzip")
}

/// The packed form of a body that is large enough for it.
pub(crate) fn packed(body: &Bytes) -> Option<Bytes> {
    if body.len() <= PACKED_FROM_BYTES {
        return None;
    }
    let capacity = body.len() / 4;
    let mut packer = GzEncoder::new(Vec::with_capacity(capacity), Compression::fast());
    packer.write_all(body).ok()?;
    Some(packer.finish().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn answer(layout: Layout) -> Answer {
        Answer {
            code: 200,
            content_type: "application/json;as=Something",
            body: Bytes::from_static(br#"{"kind":"Status","code":404}"#),
            layout,
            warnings: Vec::new(),
            retry_after_seconds: 0,
            etag: String::new(),
        }
    }

    #[test]
    fn a_body_is_laid_out_as_it_was_asked_for() {
        let asked = |media, indented| answer(Layout::Asked { media, indented });
        for (answer, people, kind, body) in [
            (
                answer(Layout::Fixed),
                true,
                "application/json;as=Something",
                r#"{"kind":"Status","code":404}"#,
            ),
            (
                asked(Media::Json, false),
                false,
                "application/json;as=Something",
                "{\"kind\":\"Status\",\"code\":404}\n",
            ),
            (
                asked(Media::Json, false),
                true,
                "application/json;as=Something",
                "{\n  \"kind\": \"Status\",\n  \"code\": 404\n}",
            ),
            (
                asked(Media::Json, true),
                false,
                "application/json;as=Something",
                "{\n  \"kind\": \"Status\",\n  \"code\": 404\n}",
            ),
            (
                asked(Media::Yaml, true),
                true,
                "application/yaml;as=Something",
                "code: 404\nkind: Status\n",
            ),
        ] {
            let want = LaidOut {
                code: 200,
                content_type: kind.to_owned(),
                body: body.into(),
            };
            assert_eq!(laid_out(&answer, people), want);
        }
    }

    #[test]
    fn what_protobuf_cannot_say_is_refused_in_it() {
        let layout = Layout::Asked {
            media: Media::Protobuf,
            indented: false,
        };
        for (body, code, kind) in [
            (r#"{"kind":"Status","apiVersion":"v1"}"#, 200, None),
            (
                r#"{"kind":"Widget","apiVersion":"v1"}"#,
                406,
                Some("Widget"),
            ),
            (
                r#"{"kind":"Pod","apiVersion":"v1","spec":1}"#,
                406,
                Some("Pod"),
            ),
        ] {
            let answer = Answer {
                body: body.into(),
                ..answer(layout)
            };
            let laid_out = laid_out(&answer, true);
            let protobuf = "application/vnd.kubernetes.protobuf;as=Something";
            assert_eq!((laid_out.code, &*laid_out.content_type), (code, protobuf));
            let told = flyball_protobuf::decode(&laid_out.body).unwrap();
            assert_eq!(told["kind"], "Status", "{body}");
            let message = kind.map(|kind| Failure::not_in_protobuf(kind).0.message.to_string());
            assert_eq!(told["message"].as_str(), message.as_deref(), "{body}");
        }
    }

    #[test]
    fn large_bodies_are_packed_for_who_can_unpack_them() {
        for (header, want) in [
            ("gzip", true),
            ("br, gzip", true),
            ("gzip;q=0", false),
            ("", false),
        ] {
            assert_eq!(unpacks(header), want, "{header}");
        }
        assert_eq!(packed(&vec![b'a'; 128 << 10].into()), None);
        let body = Bytes::from(vec![b'a'; (128 << 10) + 1]);
        let small = packed(&body).unwrap();
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&small[..])
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, body);
    }
}
