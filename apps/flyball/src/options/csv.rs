//! Comma-separated lists with double quotes around what contains a comma.

/// Splits one line into its fields. An empty line has no fields.
pub(super) fn read_record(line: &str) -> Result<Vec<String>, String> {
    if line.is_empty() {
        return Ok(Vec::new());
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, tail) = match rest.strip_prefix('"') {
            Some(quoted) => read_quoted(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                if rest[..end].contains('"') {
                    return Err("a quote inside an unquoted list entry".to_owned());
                }
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        match tail.strip_prefix(',') {
            Some(next) => rest = next,
            None if tail.is_empty() => return Ok(fields),
            None => return Err("text after a closing quote in a list".to_owned()),
        }
    }
}

/// Reads up to the closing quote; a doubled quote stands for one.
fn read_quoted(text: &str) -> Result<(String, &str), String> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let Some(end) = rest.find('"') else {
            return Err("a list entry whose quote is never closed".to_owned());
        };
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Ok((field, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_commas_outside_quotes() {
        assert_eq!(read_record("").unwrap(), Vec::<String>::new());
        assert_eq!(read_record("*,-foo").unwrap(), ["*", "-foo"]);
        assert_eq!(read_record("a,\"b,c\",d").unwrap(), ["a", "b,c", "d"]);
        assert_eq!(read_record("\"say \"\"hi\"\"\"").unwrap(), ["say \"hi\""]);
        assert_eq!(read_record("a,,b").unwrap(), ["a", "", "b"]);
    }

    #[test]
    fn names_what_is_wrong_with_the_quotes() {
        assert_eq!(
            read_record("\"a").unwrap_err(),
            "a list entry whose quote is never closed"
        );
        assert_eq!(
            read_record("\"a\"b").unwrap_err(),
            "text after a closing quote in a list"
        );
        assert_eq!(
            read_record("a\"b").unwrap_err(),
            "a quote inside an unquoted list entry"
        );
    }
}
