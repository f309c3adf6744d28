//! Which images there are: all, but for those whose name says that there is no such image.
//!
//! Upstream's tests and many people's examples block a roll-out with an image that does not exist. Nothing is pulled
//! here, so a name has to say it: a registry under `invalid` (RFC 2606, also as `invalid.registry.k8s.io`, which
//! upstream's tests use), or one of the tags of [`TAGS`].

/// Tags that nobody gives to an image that exists.
const TAGS: &[&str] = &["404", "does-not-exist", "nonexistent", "non-existent"];

/// Whether an image of this name can be pulled.
pub(super) fn exists(image: &str) -> bool {
    let named = image.split('@').next().unwrap_or_default();
    let (path, name) = named.rsplit_once('/').unwrap_or(("", named));
    let registry = path.split('/').next().unwrap_or_default();
    let host = registry.split(':').next().unwrap_or_default();
    let tag = name.split_once(':').map_or("", |(_, tag)| tag);
    let is_invalid = host.ends_with(".invalid") || host.starts_with("invalid.");
    !is_invalid && !TAGS.contains(&tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_exists_unless_its_registry_or_tag_says_that_it_does_not() {
        for (image, expected) in [
            ("", true),
            ("web", true),
            ("web:v1", true),
            ("registry.k8s.io/e2e-test-images/agnhost:2.56", true),
            ("localhost:5000/web", true),
            ("registry.example.com/404/web:1.404", true),
            ("registry.example.com/invalid:v1", true),
            ("web@sha256:404", true),
            ("webserver:404", false),
            ("gcr.io/google_samples/gb-redisslave:nonexistent", false),
            ("web:404@sha256:00", false),
            ("invalid.registry.k8s.io/invalid/alpine:3.1", false),
            ("registry.invalid:5000/web", false),
        ] {
            assert_eq!(exists(image), expected, "{image}");
        }
    }
}
