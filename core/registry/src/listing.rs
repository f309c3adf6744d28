//! A collection as it was at one revision, to be written when there is time for it.
//!
//! Choosing what is in a list needs the store; writing it does not, and takes longer by far. So a list
//! leaves the registry as references to what is stored.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::answer::{Answer, Layout};
use crate::failure::Failure;
use crate::list::partial;
use crate::negotiation::Media;
use crate::object::Object;
use crate::request::Representation;
use crate::served::Kind;
use crate::stored::{Stored, write_whole};
use crate::table::{IncludeObject, Table};
use crate::{depth, versions};

/// A page of a collection.
#[derive(Debug)]
pub struct Listing {
    pub(crate) resource: Arc<Kind>,
    pub(crate) items: Vec<Arc<Stored>>,
    /// The list's own metadata.
    pub(crate) meta: Value,
    pub(crate) representation: Representation,
    pub(crate) include: IncludeObject,
    pub(crate) now: flyball_api::Timestamp,
    pub(crate) layout: Layout,
    pub(crate) warnings: Vec<String>,
}

/// Lists of custom objects say where to go on even if there is nothing more, as upstream writes them.
pub(crate) fn tell_no_more(meta: &mut Value) {
    if meta["continue"].is_null() {
        meta["continue"] = "".into();
    }
}

/// As many objects are written in no time, even as rows of a table.
const SHORT: usize = 64;

impl Listing {
    /// Whether it is written in no time.
    pub fn is_short(&self) -> bool {
        let is_spliced = self.representation == Representation::Whole && !self.is_in_protobuf();
        self.items.len() <= SHORT || (is_spliced && self.items.len() <= 16 * SHORT)
    }

    /// How many bytes its objects take, about what it takes when it is written.
    pub fn weight(&self) -> usize {
        self.items.iter().map(|item| item.bare().len()).sum()
    }

    /// The answer.
    pub fn render(self) -> Answer {
        if self.is_in_protobuf() {
            return self.in_protobuf();
        }
        let body = match self.representation {
            Representation::Whole | Representation::Discovery => self.whole(),
            Representation::Metadata | Representation::MetadataList => {
                self.partial().to_string().into_bytes()
            }
            Representation::Table => self.table().to_string().into_bytes(),
        };
        Answer {
            layout: self.layout,
            warnings: self.warnings,
            ..Answer::new(200, body)
        }
    }

    fn is_in_protobuf(&self) -> bool {
        let media = Media::Protobuf;
        matches!(self.layout, Layout::Asked { media: asked, .. } if asked == media)
    }

    /// The answer in protobuf, of which there is none for tables and for custom objects as they are. Only one object at
    /// a time is in memory beside what is stored and what is written.
    fn in_protobuf(self) -> Answer {
        let (api_version, kind, is_whole) = match self.representation {
            Representation::Metadata | Representation::MetadataList => {
                let kind = "PartialObjectMetadataList".to_owned();
                ("meta.k8s.io/v1".to_owned(), kind, false)
            }
            _ => {
                let resource = &self.resource;
                (resource.api_version(), resource.list_kind.to_string(), true)
            }
        };
        let version = versions::of(&self.resource).filter(|_| is_whole);
        let items = self.items.iter().map(|item| {
            if is_whole {
                let bare = match version {
                    Some(version) => version.bare(item),
                    None => self.resource.bare(item),
                };
                return depth::read_kept(&bare);
            }
            match partial(&self.resource.object(item)) {
                Value::Object(object) => object,
                _ => Object::new(),
            }
        });
        let written = flyball_protobuf::encode_list(&api_version, &kind, &self.meta, items);
        let Some(body) = written else {
            let answer = Answer::from(Failure::not_in_protobuf(&kind));
            return answer.warned(self.warnings);
        };
        Answer {
            content_type: Media::Protobuf.name(),
            layout: Layout::Fixed,
            warnings: self.warnings,
            ..Answer::new(200, body)
        }
    }

    fn whole(&self) -> Vec<u8> {
        let mut meta = self.meta.clone();
        if self.resource.of_definition().is_some() {
            tell_no_more(&mut meta);
        }
        let head = format!(
            r#"{{"kind":"{}","apiVersion":"{}","metadata":{meta},"items":["#,
            self.resource.list_kind,
            self.resource.api_version(),
        );
        let bytes: usize = self.items.iter().map(|item| item.bare().len() + 1).sum();
        let mut out = Vec::with_capacity(head.len() + bytes + 3);
        out.extend_from_slice(head.as_bytes());
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let bare = self.resource.bare(item);
            match (versions::of(&self.resource), self.resource.of_definition()) {
                (Some(version), _) => out.extend_from_slice(&version.bare(item)),
                // Custom objects say what they are in lists too.
                (None, Some(_)) => write_whole(&self.resource, &bare, &mut out),
                (None, None) => out.extend_from_slice(&bare),
            }
        }
        out.extend_from_slice(b"]}");
        out
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        self.items.iter().map(|item| self.resource.object(item))
    }

    fn partial(&self) -> Value {
        let items: Vec<Value> = self.objects().map(|object| partial(&object)).collect();
        json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": self.meta,
            "items": (!items.is_empty()).then_some(items),
        })
    }

    fn table(&self) -> Value {
        let objects: Vec<Object> = self.objects().collect();
        let kept = versions::kept(&self.resource).unwrap_or(&self.resource);
        let table = Table {
            group: &kept.group,
            kind: &kept.kind,
            custom: self.resource.columns(),
            include: self.include,
            headers: true,
            now: self.now,
        };
        let mut table = table.render(&objects, self.meta.clone());
        if let (Some(version), Value::Object(table)) = (versions::of(&self.resource), &mut table) {
            version.tell_rows(table);
        }
        table
    }
}
