//! Bodies as they go over the wire: on one line, for people, in YAML, packed.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/writers.go`.

use std::io::Write as _;

use bytes::{BufMut, Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use flyball_registry::{Answer, Layout, Media, indented};

/// Larger bodies are packed for whoever can unpack them.
const PACKED_FROM_BYTES: usize = 128 << 10;

/// The body of an answer as whoever asks wants it, and what it is written in.
pub(crate) fn laid_out(answer: &Answer, is_for_people: bool) -> (String, Bytes) {
    let Layout::Asked {
        media,
        indented: asked,
    } = answer.layout
    else {
        return (answer.content_type.to_owned(), answer.body.clone());
    };
    let body = match media {
        Media::Yaml => in_yaml(&answer.body),
        Media::Json if asked || is_for_people => indented(&answer.body).into(),
        Media::Json => with_newline(answer.body.clone()),
    };
    // Parameters say of what kind a document is, whatever it is written in.
    let parameters = answer.content_type.strip_prefix(Media::Json.name());
    let content_type = format!("{}{}", media.name(), parameters.unwrap_or_default());
    (content_type, body)
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
            assert_eq!(
                laid_out(&answer, people),
                (kind.to_owned(), Bytes::from(body))
            );
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
