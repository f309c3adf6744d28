//! Reading from Go types what a `.proto` file does not say: names in JSON, inlining, pointers, `omitempty`.

use std::collections::BTreeMap;

/// A struct, as far as it is read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GoType {
    /// Whether it embeds `TypeMeta`, so that an object of it can stand alone.
    pub(super) is_kind: bool,
    /// Its fields by their number in protobuf.
    pub(super) fields: BTreeMap<u32, GoField>,
}

/// What the tags and the type of a field say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GoField {
    /// Its name in JSON; empty if it is inlined.
    pub(super) json: String,
    pub(super) inline: bool,
    /// Whether absent and zero differ.
    pub(super) pointer: bool,
    pub(super) omitempty: bool,
    pub(super) omitzero: bool,
}

/// The structs of a file, by name.
pub(super) fn types(text: &str) -> Result<BTreeMap<String, GoType>, String> {
    let mut types = BTreeMap::new();
    let mut open: Option<(String, GoType)> = None;
    for line in text.lines() {
        let start = line.strip_prefix("type ").and_then(|rest| {
            let (name, rest) = rest.split_once(' ')?;
            rest.starts_with("struct {").then_some(name)
        });
        if let Some(name) = start {
            open = Some((name.to_owned(), GoType::default()));
        } else if line == "}" {
            types.extend(open.take());
        } else if let Some((name, of)) = &mut open {
            let line = line.trim();
            if line.starts_with("//") {
                continue;
            }
            read_field(line, of).map_err(|error| format!("{name}: {error}: `{line}`"))?;
        }
    }
    Ok(types)
}

fn read_field(line: &str, of: &mut GoType) -> Result<(), String> {
    let mut parts = line.split('`');
    let (Some(declared), Some(tags)) = (parts.next(), parts.next()) else {
        return Ok(());
    };
    let json = tag(tags, "json");
    let mut words = declared.split_whitespace();
    let first = words.next().ok_or("a tag without a field")?;
    let go_type = words.next().unwrap_or(first);
    let Some(protobuf) = tag(tags, "protobuf") else {
        of.is_kind |= words_end(first) == "TypeMeta" && go_type == first;
        return Ok(());
    };
    // Types that write their own JSON have fields without a name in it.
    let (Some(json), false) = (json, protobuf == "-") else {
        return Ok(());
    };
    let number = protobuf.split(',').nth(1).and_then(|of| of.parse().ok());
    let number = number.ok_or("a protobuf tag without a number")?;
    let mut options = json.split(',');
    let name = options.next().unwrap_or_default();
    let options: Vec<&str> = options.collect();
    let inline = options.contains(&"inline") || (name.is_empty() && go_type == first);
    if name.is_empty() && !inline {
        return Err("a field without a name in JSON".to_owned());
    }
    let field = GoField {
        json: name.to_owned(),
        inline,
        pointer: go_type.starts_with('*'),
        omitempty: options.contains(&"omitempty"),
        omitzero: options.contains(&"omitzero"),
    };
    of.fields.insert(number, field);
    Ok(())
}

/// The last part of a qualified name.
fn words_end(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn tag<'a>(tags: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = tags.split_once(&format!("{key}:\""))?;
    rest.split('"').next()
}

/// The API group that a file registers its types in.
pub(super) fn group_name(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.contains("GroupName = \""))?;
    line.split('"').nth(1)
}
