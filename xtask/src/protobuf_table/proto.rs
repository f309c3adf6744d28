//! Reading messages from the `.proto` files that upstream generates.
//!
//! Generated files are regular: one field per line, comments on lines of their own, no nested messages. Whatever
//! else there is, is refused, so that a change upstream shows.

/// A message with its fields, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

/// A field as the file declares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: String,
    /// A scalar, a message of the same file, or a path with a leading dot.
    pub(super) of: String,
    pub(super) arity: Arity,
}

/// How often a field may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    One,
    Many,
    /// By a key, which is always a string.
    Map,
}

/// All messages of a file.
pub(super) fn messages(text: &str) -> Result<Vec<Message>, String> {
    let mut messages: Vec<Message> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix("message ") {
            let name = name.trim_end_matches('{').trim().to_owned();
            let fields = Vec::new();
            messages.push(Message { name, fields });
            inside = true;
        } else if line == "}" {
            inside = false;
        } else if inside && !line.is_empty() {
            let message = messages.last_mut().ok_or("a field before any message")?;
            let unknown = || format!("{}: cannot read `{line}`", message.name);
            let field = field(line).ok_or_else(unknown)?;
            message.fields.push(field);
        }
    }
    Ok(messages)
}

fn field(line: &str) -> Option<Field> {
    let (declared, number) = line.strip_suffix(';')?.rsplit_once('=')?;
    let (of, name) = declared.trim().rsplit_once(' ')?;
    let (arity, of) = if let Some(of) = of.strip_prefix("optional ") {
        (Arity::One, of)
    } else if let Some(of) = of.strip_prefix("repeated ") {
        (Arity::Many, of)
    } else {
        (
            Arity::Map,
            of.strip_prefix("map<string, ")?.strip_suffix('>')?,
        )
    };
    Some(Field {
        number: number.trim().parse().ok()?,
        name: name.to_owned(),
        of: of.trim().to_owned(),
        arity,
    })
}
