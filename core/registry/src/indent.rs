//! JSON laid out for people, as Go's encoder does it: two spaces a level, a field a line.

/// The same JSON text with line breaks and indentation. The text must be JSON without either.
pub fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                out.push(byte);
                let mut is_escaped = false;
                for byte in bytes.by_ref() {
                    out.push(byte);
                    match byte {
                        _ if is_escaped => is_escaped = false,
                        b'\\' => is_escaped = true,
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => {
                out.push(byte);
                match bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    // What is empty stays on its line.
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        break_line(&mut out, depth);
                    }
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                break_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'\n' | b' ' => {}
            other => out.push(other),
        }
    }
    out
}

fn break_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_line_of_its_own() {
        let text = br#"{"a":1,"b":{},"c":[],"d":[true,{"e":"x: [y], \"{z}\\"}]}"#;
        let want = r#"{
  "a": 1,
  "b": {},
  "c": [],
  "d": [
    true,
    {
      "e": "x: [y], \"{z}\\"
    }
  ]
}"#;
        assert_eq!(String::from_utf8(indented(text)).unwrap(), want);
    }

    #[test]
    fn it_is_the_same_json_as_before() {
        for text in [r#""a""#, "12", "null", r#"[[],[[1]],{"a":{"b":{}}}]"#] {
            let before: serde_json::Value = serde_json::from_str(text).unwrap();
            let after: serde_json::Value =
                serde_json::from_slice(&indented(text.as_bytes())).unwrap();
            assert_eq!(before, after);
        }
    }
}
