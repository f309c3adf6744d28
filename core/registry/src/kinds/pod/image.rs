//! References to images: how much of one decides how often the image is pulled.
//!
//! Upstream: `pkg/util/parsers/parsers.go`, which reads them by the rules of github.com/distribution/reference.

/// The longest path of a repository.
const PATH_MAX: usize = 255;
/// The longest tag.
const TAG_MAX: usize = 128;

/// Whether the tag is `latest`, or there is neither a tag nor a digest. What is no reference to an image has no tag at
/// all.
pub(super) fn is_latest(image: &str) -> bool {
    match parse(image) {
        Some((Some(tag), _)) => tag == "latest",
        Some((None, has_digest)) => !has_digest,
        None => false,
    }
}

/// The tag of a reference and whether it has a digest; none if it is no reference.
fn parse(image: &str) -> Option<(Option<&str>, bool)> {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if image.len() == 64 && image.bytes().all(is_hex) {
        return None;
    }
    let (domain, rest) = split_domain(image);
    if domain.is_some_and(|domain| !is_domain(domain)) {
        return None;
    }
    let (named, digest) = match rest.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (rest, None),
    };
    let (path, tag) = match named.split_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (named, None),
    };
    // What has no registry and no folder is in the library of the usual registry.
    let is_usual = matches!(domain, None | Some("docker.io" | "index.docker.io"));
    let library = match is_usual && !rest.contains('/') {
        true => "library/".len(),
        false => 0,
    };
    let is_reference = path.split('/').all(is_component)
        && path.len() + library <= PATH_MAX
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    is_reference.then_some((tag, digest.is_some()))
}

/// The registry of a reference, if it names one, and the rest.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    let has_capital = |text: &str| text.chars().any(|letter| letter.is_uppercase());
    match image.split_once('/') {
        Some((first, rest))
            if first == "localhost" || first.contains(['.', ':']) || has_capital(first) =>
        {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn is_domain(domain: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = domain.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else {
            return false;
        };
        let is_part = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
        return !address.is_empty()
            && address.bytes().all(is_part)
            && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
    }
    let (host, port) = match domain.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (domain, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.split('.').all(is_label) && port.is_none_or(is_port)
}

/// Words of small letters and digits, between them a dot, one or two underscores or any number of dashes.
fn is_component(component: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    let between =
        component.split(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    ends.into_iter()
        .all(|end| end.is_some_and(|byte| is_word(*byte)))
        && between
            .filter(|separator| !separator.is_empty())
            .all(|separator| {
                matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
            })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= TAG_MAX
        && tag.bytes().next().is_some_and(is_word)
        && tag
            .bytes()
            .all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return false;
    };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length
        && hex
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_a_tag_are_the_latest() {
        let long = "a".repeat(248);
        let digest = "0".repeat(64);
        for (image, want) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.2", false),
            ("localhost:5000/nginx", true),
            ("localhost:5000/nginx:1", false),
            ("Example/nginx", true),
            ("example.com/Nginx", false),
            ("[::1]:5000/a/b", true),
            ("a__b/c.d---e", true),
            ("a_.b", false),
            ("a..b", false),
            (long.as_str(), false),
            (&long[..247], true),
            (&format!("nginx@sha256:{digest}"), false),
            (&format!("nginx:latest@sha256:{digest}"), true),
            ("nginx@sha256:0", false),
            (&digest, false),
            ("", false),
            ("not an image", false),
            ("nginx:", false),
            ("ünx", false),
        ] {
            assert_eq!(is_latest(image), want, "{image}");
        }
    }
}
