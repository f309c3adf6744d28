//! Sample objects: what a kube-apiserver wrote, with holes for what differs from object to object.

/// Pods per ReplicaSet, and so objects that share labels and an owner.
const PODS_PER_SET: usize = 50;

/// Sets per namespace.
const SETS_PER_NAMESPACE: usize = 20;

/// The text of one kind with holes such as `${name}`, cut at the holes.
pub(crate) struct Sample {
    kind: SampleKind,
    pieces: Vec<Piece>,
}

/// The kinds whose names are not all made the same way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleKind {
    /// Many per set.
    Pod,
    /// One per Deployment, named with a hash.
    ReplicaSet,
    /// Many per set, with names of their own.
    Event,
    /// One per node.
    Node,
    /// Everything else: one per workload.
    Workload,
}

enum Piece {
    Text(String),
    Hole(String),
}

impl Sample {
    /// Cuts a template. Blanks between JSON tokens are dropped, as a server writes none.
    pub(crate) fn new(kind: SampleKind, template: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = minify(template);
        while let Some((before, after)) = rest.split_once("${") {
            let (hole, after) = after.split_once('}').unwrap_or((after, ""));
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Hole(hole.to_owned()));
            rest = after.to_owned();
        }
        pieces.push(Piece::Text(rest));
        Self { kind, pieces }
    }

    /// The JSON of object number `number`, in its state number `revision`.
    pub(crate) fn write(&self, number: usize, revision: usize, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(hole) => out.push_str(&self.fill(hole, number, revision)),
            }
        }
    }

    fn fill(&self, hole: &str, number: usize, revision: usize) -> String {
        let set = match self.kind {
            SampleKind::Pod | SampleKind::Event => number / PODS_PER_SET,
            _ => number,
        };
        let deployment = format!("checkout-{set}");
        let hash = letters(scramble(set), 10);
        match hole {
            "name" => match self.kind {
                SampleKind::Pod => format!("{deployment}-{hash}-{}", letters(number, 5)),
                SampleKind::ReplicaSet => format!("{deployment}-{hash}"),
                SampleKind::Event => {
                    format!("{deployment}-{hash}.{:016x}", scramble(number))
                }
                SampleKind::Node => format!("ip-10-255-{}-{}", number / 250, number % 250),
                SampleKind::Workload => deployment,
            },
            "namespace" => format!("team-{}", set / SETS_PER_NAMESPACE),
            "deployment" => deployment,
            "hash" => hash,
            "uid" => uid(number, 1),
            "set_uid" => uid(set, 2),
            "deployment_uid" => uid(set, 3),
            "version" => (1_000_000 + number * 10 + revision).to_string(),
            "time" => format!("2026-11-16T04:{:02}:{:02}Z", number / 60 % 60, number % 60),
            "node" => format!("ip-10-255-0-{}", number % 250),
            "address" => format!(
                "10.{}.{}.{}",
                number / 62_500,
                number / 250 % 250,
                number % 250
            ),
            _ => String::new(),
        }
    }
}

/// Letters and digits as the server puts them into generated names.
fn letters(mut number: usize, length: usize) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        text.push(char::from(ALPHABET[number % ALPHABET.len()]));
        number /= ALPHABET.len();
    }
    text
}

/// Numbers without order, the same in every run.
fn scramble(number: usize) -> usize {
    number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 4
}

fn uid(number: usize, family: usize) -> String {
    let bits = scramble(number * 8 + family);
    let (a, b, c) = (bits & 0xFFFF_FFFF, bits >> 12 & 0xFFFF, bits >> 20 & 0xFFF);
    format!("{a:08x}-{b:04x}-4{c:03x}-9a{family:02x}-{number:012x}")
}

/// The JSON text without blanks outside of strings.
fn minify(json: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    json.chars()
        .filter(|&c| {
            let keep = in_string || !c.is_ascii_whitespace();
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = in_string,
                '"' => in_string = !in_string,
                _ => {}
            }
            keep
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_but_not_those_in_strings() {
        let json = "{ \"a b\" : \"\\\" c\" ,\n \"d\": [ 1 ] }";
        assert_eq!(minify(json), r#"{"a b":"\" c","d":[1]}"#);
    }

    #[test]
    fn pods_of_one_set_share_its_labels_and_have_names_of_their_own() {
        let template = r#"{ "name": "${name}", "set": "${set_uid}" }"#;
        let sample = Sample::new(SampleKind::Pod, template);
        let write = |number| {
            let mut json = String::new();
            sample.write(number, 0, &mut json);
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            (value["name"].to_string(), value["set"].to_string())
        };
        let (first, second, other) = (write(0), write(49), write(50));
        assert_ne!(first.0, second.0);
        assert_eq!(first.1, second.1);
        assert_ne!(first.1, other.1);
    }
}
