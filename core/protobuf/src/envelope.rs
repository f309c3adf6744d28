//! The envelope of a body: four bytes, then what it holds and of which kind that is.

use serde_json::{Map, Value};

use crate::encode::FRAME_LENGTH_BYTES;
use crate::error::{ProtobufFault, ProtobufUnreadable};
use crate::message::{Decoder, text};
use crate::table::table;
use crate::wire::{Reader, Wire};

/// How every body begins, so that it cannot be taken for JSON or any other protobuf.
pub(crate) const PREFIX: &[u8] = b"k8s\0";

/// The media type.
const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The longest body that is read, which is also what upstream's server accepts.
pub(crate) const BODY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Whether a `Content-Type` says that the body is for [`decode`].
pub fn is_protobuf(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case(MEDIA_TYPE)
}

/// The object in a body, as the client would have sent it in JSON.
///
/// The kind is one of the built-in ones: clients send custom resources as JSON. Nothing is checked beyond what is
/// needed to read it; fields that must be there may be missing. What JSON would show as `null` is left out, but for
/// items of lists and values of maps.
pub fn decode(body: &[u8]) -> Result<Value, ProtobufUnreadable> {
    if body.len() > BODY_BYTES_MAX {
        return Err(ProtobufFault::TooLarge(BODY_BYTES_MAX).into());
    }
    object(&mut Decoder::new(table()), body, 0)
}

/// An event of a stream.
#[derive(Debug, PartialEq)]
pub struct Event<'a> {
    /// What happened.
    pub kind: &'a str,
    /// The object that it happened to, as [`decode`] gives it.
    pub object: Value,
    /// The stream after it.
    pub rest: &'a [u8],
}

/// The first event of a stream; none if its end has not come yet.
pub fn decode_event(stream: &[u8]) -> Result<Option<Event<'_>>, ProtobufUnreadable> {
    let Some((length, rest)) = stream.split_first_chunk::<FRAME_LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    if length > BODY_BYTES_MAX {
        return Err(ProtobufFault::TooLarge(BODY_BYTES_MAX).into());
    }
    let Some((event, rest)) = rest.split_at_checked(length) else {
        return Ok(None);
    };
    let (mut kind, mut object) = ("", Value::Null);
    let mut reader = Reader::new(event);
    while let Some((number, wire)) = reader.tag()? {
        match (number, wire) {
            (1, Wire::Length) => kind = text(reader.bytes()?)?,
            (2, Wire::Length) => object = raw_object(reader.bytes()?)?,
            (1 | 2, wire) => return Err(ProtobufFault::WrongWireType(wire.number()).into()),
            _ => reader.skip(wire)?,
        }
    }
    Ok(Some(Event { kind, object, rest }))
}

/// The object in the message around its body.
fn raw_object(body: &[u8]) -> Result<Value, ProtobufUnreadable> {
    let mut reader = Reader::new(body);
    let mut found = Value::Null;
    while let Some((number, wire)) = reader.tag()? {
        match (number, wire) {
            (1, Wire::Length) => found = decode(reader.bytes()?)?,
            (1, wire) => return Err(ProtobufFault::WrongWireType(wire.number()).into()),
            _ => reader.skip(wire)?,
        }
    }
    Ok(found)
}

/// The object in a body, which may itself lie in another one, `depth` messages deep.
pub(crate) fn object(
    decoder: &mut Decoder<'_>,
    body: &[u8],
    depth: usize,
) -> Result<Value, ProtobufUnreadable> {
    let body = body
        .strip_prefix(PREFIX)
        .ok_or(ProtobufFault::NotProtobuf)?;
    let envelope = Envelope::read(body)?;
    if !envelope.encoding.is_empty() {
        return Err(ProtobufFault::Encoded(envelope.encoding.to_owned()).into());
    }
    let (api_version, kind) = (envelope.api_version, envelope.kind);
    if kind.is_empty() {
        return Err(ProtobufFault::Unnamed("Kind").into());
    }
    if api_version.is_empty() {
        return Err(ProtobufFault::Unnamed("apiVersion").into());
    }
    let of = decoder.table().kind(api_version, kind);
    let of = of.ok_or_else(|| ProtobufFault::UnknownKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    })?;
    let mut fields = Map::new();
    decoder.message(of, envelope.raw, &mut fields, depth)?;
    fields.insert("apiVersion".to_owned(), Value::from(api_version));
    fields.insert("kind".to_owned(), Value::from(kind));
    Ok(Value::Object(fields))
}

/// Upstream's `runtime.Unknown`. Its content type is not looked at: upstream does not either.
#[derive(Default)]
struct Envelope<'a> {
    api_version: &'a str,
    kind: &'a str,
    raw: &'a [u8],
    encoding: &'a str,
}

impl<'a> Envelope<'a> {
    fn read(body: &'a [u8]) -> Result<Self, ProtobufFault> {
        let mut envelope = Envelope::default();
        let mut reader = Reader::new(body);
        while let Some((number, wire)) = reader.tag()? {
            match (number, wire) {
                (1, Wire::Length) => envelope.read_type(reader.bytes()?)?,
                (2, Wire::Length) => envelope.raw = reader.bytes()?,
                (3, Wire::Length) => envelope.encoding = text(reader.bytes()?)?,
                (1..=4, wire) if wire != Wire::Length => {
                    return Err(ProtobufFault::WrongWireType(wire.number()));
                }
                _ => reader.skip(wire)?,
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, body: &'a [u8]) -> Result<(), ProtobufFault> {
        let mut reader = Reader::new(body);
        while let Some((number, wire)) = reader.tag()? {
            match (number, wire) {
                (1, Wire::Length) => self.api_version = text(reader.bytes()?)?,
                (2, Wire::Length) => self.kind = text(reader.bytes()?)?,
                (1 | 2, wire) => return Err(ProtobufFault::WrongWireType(wire.number())),
                _ => reader.skip(wire)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_matter_in_a_content_type() {
        for (content_type, expected) in [
            ("application/vnd.kubernetes.protobuf", true),
            ("application/vnd.kubernetes.protobuf;stream=watch", true),
            (" Application/VND.kubernetes.protobuf ; charset=utf-8", true),
            ("application/json", false),
            ("application/vnd.kubernetes.protobuf+x", false),
            ("", false),
        ] {
            assert_eq!(is_protobuf(content_type), expected, "{content_type}");
        }
    }
}
