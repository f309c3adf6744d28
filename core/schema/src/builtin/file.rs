//! Reading the embedded file, which the build script writes.

use flyball_api::Text;

use crate::types::{
    Field, ListKind, ListShape, ObjectShape, Shape, Strategic, TextFormat, Type, TypeId, Types,
};
use crate::{Resource, Subresource};

/// What the file holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) types: Types,
    /// Group, version and kind with their types.
    pub(super) kinds: Vec<([Text; 3], TypeId)>,
    pub(super) resources: Vec<Resource>,
}

/// Reads the file; none if it is not one that the build script of this version wrote.
pub(super) fn read(file: &[u8]) -> Option<Content> {
    let mut rest = Reader {
        rest: file,
        strings: Vec::new(),
    };
    for _ in 0..rest.number()? {
        let length = rest.number()?;
        let text = rest.take(length)?;
        rest.strings.push(text);
    }
    let mut content = Content::default();
    let count = rest.number()?;
    for _ in 0..count {
        content.types.add(rest.of_type(count)?);
    }
    for _ in 0..rest.number()? {
        let [group, version, kind] = rest.some_texts()?;
        content
            .kinds
            .push(([group, version, kind], rest.id(count)?));
    }
    for _ in 0..rest.number()? {
        content.resources.push(rest.resource(count)?);
    }
    rest.rest.is_empty().then_some(content)
}

/// Puts what they mean to the types and their fields.
pub(super) fn describe(types: &mut Types, packed: &[u8]) -> Option<()> {
    /// Far above what the file holds.
    const BYTES_MAX: usize = 16 << 20;
    let all = miniz_oxide::inflate::decompress_to_vec_with_limit(packed, BYTES_MAX).ok()?;
    let mut rest = Reader {
        rest: &all,
        strings: Vec::new(),
    };
    for of in types.iter_mut() {
        of.description = rest.description()?;
        if let Shape::Object(object) = &mut of.shape {
            for field in &mut object.fields {
                field.description = rest.description()?;
            }
        }
    }
    Some(())
}

struct Reader<'a> {
    rest: &'a [u8],
    strings: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }

    fn description(&mut self) -> Option<Box<str>> {
        let length = self.number()?;
        self.take(length).map(Into::into)
    }

    fn flag(&mut self) -> Option<bool> {
        self.number().map(|number| number != 0)
    }

    fn text(&mut self) -> Option<Text> {
        let at = self.number()?;
        self.strings.get(at).map(|text| Text::from(*text))
    }

    fn texts(&mut self) -> Option<Box<[Text]>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn some_texts<const COUNT: usize>(&mut self) -> Option<[Text; COUNT]> {
        self.texts()?.into_vec().try_into().ok()
    }

    fn id(&mut self, count: usize) -> Option<TypeId> {
        let id = self.number()?;
        (id < count).then_some(TypeId(id))
    }

    fn of_type(&mut self, count: usize) -> Option<Type> {
        let name = self.text()?;
        let shape = match self.number()? {
            0 => Shape::Any,
            1 => Shape::Boolean,
            2 => Shape::Number,
            3 => Shape::IntOrText,
            4 => Shape::Integer {
                bits: u8::try_from(self.number()?).ok()?,
            },
            5 => Shape::Text(match self.number()? {
                0 => TextFormat::Plain,
                1 => TextFormat::Bytes,
                2 => TextFormat::Time,
                3 => TextFormat::MicroTime,
                4 => TextFormat::Quantity,
                _ => return None,
            }),
            6 => Shape::Map {
                value: self.id(count)?,
                atomic: self.flag()?,
            },
            7 => Shape::List(self.list(count)?),
            8 => Shape::Object(self.object(count)?),
            _ => return None,
        };
        Some(Type {
            name,
            description: Box::default(),
            shape,
        })
    }

    fn list(&mut self, count: usize) -> Option<ListShape> {
        let item = self.id(count)?;
        let kind = if self.flag()? {
            let keys = self.texts()?;
            match keys.is_empty() {
                true => ListKind::Set,
                false => ListKind::Map { keys },
            }
        } else {
            ListKind::Atomic
        };
        let strategic = if self.flag()? {
            let key = self.text()?;
            match key.is_empty() {
                true => Strategic::MergeValues,
                false => Strategic::MergeBy(key),
            }
        } else {
            Strategic::Replace
        };
        Some(ListShape {
            item,
            kind,
            strategic,
        })
    }

    fn object(&mut self, count: usize) -> Option<ObjectShape> {
        let atomic = self.flag()?;
        let fields = self.number()?;
        let fields = (0..fields).map(|_| {
            let name = self.text()?;
            let of = self.id(count)?;
            let flags = self.number()?;
            Some(Field {
                name,
                of,
                required: flags & 1 != 0,
                retain_keys: flags & 2 != 0,
                replaced: flags & 4 != 0,
                description: Box::default(),
            })
        });
        Some(ObjectShape {
            fields: fields.collect::<Option<_>>()?,
            open: false,
            atomic,
        })
    }

    fn resource(&mut self, count: usize) -> Option<Resource> {
        let [group, version, kind, list_kind] = self.some_texts()?;
        let [plural, singular] = self.some_texts()?;
        let short_names = self.texts()?;
        let categories = self.texts()?;
        let namespaced = self.flag()?;
        let verbs = self.texts()?;
        let parts = self.number()?;
        let parts = (0..parts).map(|_| {
            let [name, group, version, kind] = self.some_texts()?;
            Some(Subresource {
                name,
                group,
                version,
                kind,
                verbs: self.texts()?,
            })
        });
        Some(Resource {
            group,
            version,
            kind,
            list_kind,
            plural,
            singular,
            short_names,
            categories,
            namespaced,
            verbs,
            subresources: parts.collect::<Option<_>>()?,
            of: self.id(count)?,
        })
    }
}
