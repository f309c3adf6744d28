//! Requests to an API server: what to do, to what, with which body.

use bytes::Bytes;

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Create.
    Post,
    /// Replace.
    Put,
    /// Change parts, as a strategic merge patch.
    StrategicPatch,
    /// Change parts, as a JSON merge patch, which every kind understands.
    MergePatch,
    /// Apply a configuration on the server's side.
    ApplyPatch,
    /// Remove.
    Delete,
}

impl Method {
    /// What the body is written in, as the header says it.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::StrategicPatch => "application/strategic-merge-patch+json",
            Self::MergePatch => "application/merge-patch+json",
            Self::ApplyPatch => "application/apply-patch+yaml",
            _ => "application/json",
        }
    }
}

/// In what form an answer is wanted. A server that does not know a form answers in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// As it is.
    #[default]
    Whole,
    /// No more than the metadata of an object, or of each that a watch tells of.
    Metadata,
    /// No more than the metadata of each object of a list.
    MetadataList,
    /// What there is to discover, all at once.
    Discovery,
}

/// A request: method, path with query, body.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// To what: path and query.
    pub path: String,
    /// The JSON to send; empty for none.
    pub body: Bytes,
    /// The tag of an answer that is known already and need not be sent again; empty for none.
    pub known: String,
    form: Form,
}

impl Request {
    /// A read.
    pub fn get(path: impl Into<String>) -> Self {
        Self::with(Method::Get, path, Bytes::new())
    }

    /// A request with a JSON body.
    pub fn with(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method,
            path: path.into(),
            body: body.into(),
            known: String::new(),
            form: Form::Whole,
        }
    }

    /// The same request, asking the server to answer with no more than the object's metadata, or,
    /// of a watch, that of each object.
    pub fn metadata_only(self) -> Self {
        Self {
            form: Form::Metadata,
            ..self
        }
    }

    /// The same list, asking for no more than the metadata of each object.
    pub fn metadata_list(self) -> Self {
        Self {
            form: Form::MetadataList,
            ..self
        }
    }

    /// The same read, asking for everything that can be discovered at once.
    pub fn discovery(self) -> Self {
        Self {
            form: Form::Discovery,
            ..self
        }
    }

    /// The same read, to be answered only if the answer is another than the one with this tag.
    pub fn unless(self, known: &str) -> Self {
        Self {
            known: known.to_owned(),
            ..self
        }
    }

    /// How the answer should look, as the header says it.
    pub fn accept(&self) -> &'static str {
        match self.form {
            Form::Whole => "application/json",
            Form::Metadata => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            Form::MetadataList => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            Form::Discovery => crate::discovery::ACCEPT,
        }
    }
}
