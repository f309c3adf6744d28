//! Why a body cannot be read, and where in the object that was noticed.
//!
//! The words are those of upstream's decoder where it has any; the place is ours.

use std::fmt;

/// A body that cannot be read. It never can: the client has to send another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtobufUnreadable {
    /// The field, such as `spec.template.spec`; empty if it is about the body as a whole.
    pub place: String,
    /// What is wrong there.
    pub fault: ProtobufFault,
}

impl fmt::Display for ProtobufUnreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for ProtobufUnreadable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

impl ProtobufUnreadable {
    /// The same, seen from the message that has the field `name`.
    pub(crate) fn within(mut self, name: &str) -> Self {
        // A message that is inlined has no name in JSON.
        if self.place.is_empty() {
            self.place.push_str(name);
        } else if !name.is_empty() {
            self.place.insert(0, '.');
            self.place.insert_str(0, name);
        }
        self
    }
}

impl From<ProtobufFault> for ProtobufUnreadable {
    fn from(fault: ProtobufFault) -> Self {
        let place = String::new();
        Self { place, fault }
    }
}

/// What is wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufFault {
    /// It does not begin as the bodies of Kubernetes do.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    NotProtobuf,
    /// The envelope says that what it holds is compressed.
    #[error("content encoding {0:?} is not supported")]
    Encoded(String),
    /// The envelope does not say what it holds.
    #[error("Object '{0}' is missing")]
    Unnamed(&'static str),
    /// The envelope holds what is no built-in kind.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind {
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// It ends in the middle of a field.
    #[error("unexpected EOF")]
    Truncated,
    /// A number has more than 64 bits.
    #[error("proto: integer overflow")]
    IntegerOverflow,
    /// A field has a number that none can have.
    #[error("proto: illegal tag {number} (wire type {wire})")]
    IllegalTag {
        /// The number.
        number: u64,
        /// How its value would be written.
        wire: u8,
    },
    /// A group ends that did not begin.
    #[error("proto: wiretype end group for non-group")]
    EndGroup,
    /// A value is not written as the type of its field is.
    #[error("proto: wrong wireType = {0}")]
    WrongWireType(u8),
    /// A text is not UTF-8.
    #[error("proto: invalid UTF-8")]
    NotUtf8,
    /// What must be JSON is not.
    #[error("invalid JSON: {0}")]
    NotJson(String),
    /// A number that JSON cannot say, such as infinity.
    #[error("unsupported value: {0}")]
    NotFinite(String),
    /// A moment before the year 0 or after the year 9999, as seconds since 1970.
    #[error("time {0} is outside of the years 0 to 9999")]
    TimeOutOfRange(i64),
    /// A value that is neither a number nor a string.
    #[error("impossible IntOrString.Type")]
    NeitherIntNorString,
    /// It is longer than any body may be.
    #[error("more than {0} bytes")]
    TooLarge(usize),
    /// Messages are nested too deep.
    #[error("nested deeper than {0} messages")]
    TooDeep(usize),
    /// It holds more values than any object has.
    #[error("more than {0} values")]
    TooMany(usize),
}
