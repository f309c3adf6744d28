//! Cases as text: one per line, with long runs of one letter written short.

use serde_json::{Value, json};

use super::mutants::Mutant;

/// A spoilt object and what the server says to it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// `create`, `update`, `status`.
    pub(crate) verb: &'static str,
    /// Which body, or which status.
    pub(crate) body: usize,
    pub(crate) mutant: Mutant,
    /// The causes of the refusal; none if it is taken.
    pub(crate) says: Vec<String>,
}

impl Case {
    pub(crate) fn of(self, verb: &'static str, body: usize) -> Self {
        Self { verb, body, ..self }
    }

    /// The case with words instead of what the server gave the object.
    pub(crate) fn without_identities(mut self, object: &Value) -> Self {
        for (word, given) in [
            ("$UID", &object["metadata"]["uid"]),
            ("$ADDRESS", &object["spec"]["clusterIP"]),
        ] {
            let Some(given) = given.as_str().filter(|given| given.len() > "None".len()) else {
                continue;
            };
            for said in &mut self.says {
                *said = said.replace(given, word);
            }
            let set = self.mutant.set.as_ref().map(Value::to_string);
            let set = set.map(|set| set.replace(given, word));
            self.mutant.set = set.and_then(|set| serde_json::from_str(&set).ok());
        }
        self
    }
}

/// The cases of a kind as they are kept.
pub(crate) fn text(path: &str, bodies: &[Value], statuses: &[Value], cases: &[Case]) -> String {
    let lines = |values: Vec<Value>| {
        let lines = values.iter().map(|value| format!("\n  {}", short(value)));
        lines.collect::<Vec<_>>().join(",")
    };
    let cases = cases.iter().map(|case| {
        let mut line = json!({case.verb: case.body, "at": case.mutant.at, "says": case.says});
        if let Some(value) = &case.mutant.set {
            line["set"] = value.clone();
        }
        line
    });
    format!(
        "{{\"path\": {},\n\"bodies\": [{}],\n\"statuses\": [{}],\n\"cases\": [{}]}}\n",
        json!(path),
        lines(bodies.to_vec()),
        lines(statuses.to_vec()),
        lines(cases.collect())
    )
}

/// The text of a value in which a run of many letters `a` is its length in brackets.
fn short(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("aaaaaaaa") {
        let (before, run) = rest.split_at(at);
        let length = run.bytes().take_while(|byte| *byte == b'a').count();
        out.push_str(before);
        out.push_str(&format!("<a*{length}>"));
        rest = run.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_written_short() {
        let long = format!("x{}y", "a".repeat(20));
        assert_eq!(short(&json!([long, "aaa"])), r#"["x<a*20>y","aaa"]"#);
    }
}
