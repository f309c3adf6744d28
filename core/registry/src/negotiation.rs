//! How a client wants its answers to look: what its `Accept` header and this server have in common.
//!
//! Upstream looks twice: its router compares the names of media types with those that a path can
//! produce, then the handler goes through the alternatives by preference and with their parameters.
//! The two refusals differ in their words.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/negotiation/negotiate.go`, go-restful's `route.go`.

use crate::failure::Failure;
use crate::request::Representation;

/// What an answer is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Media {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
}

impl Media {
    /// Its name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Yaml => YAML,
        }
    }
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What an endpoint can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Only what there is: refusals, and documents of one group.
    Plain,
    /// An object or a collection, also as a table or by its metadata.
    Objects,
    /// A part of an object that is no row of a table.
    Parts,
    /// Changes of a collection.
    Changes,
    /// A discovery document that has an aggregated form.
    Discovery,
}

/// What was agreed upon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) media: Media,
    pub(crate) representation: Representation,
    /// Laid out for people, as the media type's `pretty=1` asks.
    pub(crate) indented: bool,
}

/// What the router thinks of an `Accept` header: whether a media type is named that a path produces.
pub(crate) fn check_route(accept: &str, produces: &[&str]) -> Result<(), Failure> {
    let named = |one: &str| {
        let name = one.split(';').next().unwrap_or_default().trim();
        // Protobuf is not produced; upstream's router lets it pass, and the handler says so.
        name == "*/*" || name == PROTOBUF || produces.contains(&name)
    };
    if accept.is_empty() || accept.split(',').any(named) {
        return Ok(());
    }
    Err(unacceptable(produces))
}

/// That a path produces nothing but this.
pub(crate) fn unacceptable(produces: &[&str]) -> Failure {
    let available = produces.join(", ");
    let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
    let mut failure = Failure::new(406, "NotAcceptable", message);
    failure.0.details = Some(flyball_api::StatusDetails::default());
    failure
}

/// Which of these media types whoever asks likes best, if any; the first, if all are the same to them.
pub(crate) fn preferred(accept: &str, produces: &[&'static str]) -> Option<&'static str> {
    if accept.is_empty() {
        return produces.first().copied();
    }
    let clauses = Clause::sorted(accept);
    let likes = |clause: &Clause<'_>| produces.iter().find(|name| clause.names(name)).copied();
    clauses.iter().find_map(likes)
}

/// What the router knows of objects and documents.
pub(crate) const ROUTED: &[&str] = &[JSON, YAML];

/// What the router knows of collections.
pub(crate) const ROUTED_COLLECTION: &[&str] = &[JSON, YAML, "application/json;stream=watch"];

/// The best alternative that an endpoint can show; a refusal if there is none.
pub(crate) fn choose(accept: &str, offer: Offer) -> Result<Choice, Failure> {
    if accept.is_empty() {
        return Ok(Choice::default());
    }
    let clauses = Clause::sorted(accept);
    let found = clauses.iter().find_map(|clause| clause.choice(offer));
    found.ok_or_else(|| {
        let accepted = match offer {
            Offer::Changes => "application/json;stream=watch",
            _ => "application/json, application/yaml",
        };
        let message = format!("only the following media types are accepted: {accepted}");
        Failure::new(406, "NotAcceptable", message)
    })
}

/// One alternative of an `Accept` header.
struct Clause<'a> {
    kind: &'a str,
    subkind: &'a str,
    quality: f64,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    /// The alternatives, best first: by quality, then the more exact ones. What makes no sense is
    /// passed over.
    fn sorted(accept: &'a str) -> Vec<Self> {
        let mut clauses: Vec<Self> = accept.split(',').filter_map(Self::parse).collect();
        let wild = |part: &str| u8::from(part == "*");
        clauses.sort_by(|one, other| {
            let by_quality = other.quality.total_cmp(&one.quality);
            by_quality
                .then(wild(one.kind).cmp(&wild(other.kind)))
                .then(wild(one.subkind).cmp(&wild(other.subkind)))
        });
        clauses
    }

    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';');
        let name = parts.next()?.trim();
        let (kind, subkind) = match name.split_once('/') {
            Some((kind, subkind)) => (kind.trim(), subkind.trim()),
            None if name == "*" => ("*", "*"),
            None => return None,
        };
        let mut quality = 1.0;
        let mut parameters = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                continue;
            };
            match (key.trim(), value.trim()) {
                ("q", value) => quality = value.parse().unwrap_or(1.0),
                pair => parameters.push(pair),
            }
        }
        Some(Self {
            kind,
            subkind,
            quality,
            parameters,
        })
    }

    /// Whether it names this media type, or any of its kind.
    fn names(&self, media: &str) -> bool {
        let (kind, subkind) = media.split_once('/').unwrap_or((media, ""));
        [(self.kind, kind), (self.subkind, subkind)]
            .iter()
            .all(|(one, other)| *one == "*" || one == other)
    }

    /// What this alternative means for an endpoint, if it can be done.
    fn choice(&self, offer: Offer) -> Option<Choice> {
        let media = match (self.kind, self.subkind) {
            ("application", "json" | "*") | ("*", "*") => Media::Json,
            ("application", "yaml") if offer != Offer::Changes => Media::Yaml,
            _ => return None,
        };
        let (mut group, mut version, mut shown, mut indented) = ("", "", "", false);
        let mut is_converted = false;
        for (key, value) in &self.parameters {
            match *key {
                "as" => (shown, is_converted) = (value, true),
                "g" => (group, is_converted) = (value, true),
                "v" => (version, is_converted) = (value, true),
                "stream" if !matches!(*value, "" | "watch") => return None,
                "stream" if media == Media::Yaml && !value.is_empty() => return None,
                "sv" if *value == "v1" && offer != Offer::Plain => {}
                "sv" if !value.is_empty() => return None,
                "pretty" => indented = *value == "1",
                _ => {}
            }
        }
        let representation = match is_converted {
            false => Representation::Whole,
            true => converted(offer, group, version, shown)?,
        };
        Some(Choice {
            media,
            representation,
            indented,
        })
    }
}

fn converted(offer: Offer, group: &str, version: &str, shown: &str) -> Option<Representation> {
    match (offer, group, version, shown) {
        (Offer::Objects | Offer::Changes, "meta.k8s.io", "v1", "Table") => {
            Some(Representation::Table)
        }
        (
            Offer::Objects | Offer::Parts | Offer::Changes,
            "meta.k8s.io",
            "v1",
            "PartialObjectMetadata",
        ) => Some(Representation::Metadata),
        (
            Offer::Objects | Offer::Parts | Offer::Changes,
            "meta.k8s.io",
            "v1",
            "PartialObjectMetadataList",
        ) => Some(Representation::MetadataList),
        (Offer::Discovery, "apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") => {
            Some(Representation::Discovery)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str, offer: Offer) -> Option<(Media, Representation)> {
        let choice = choose(accept, offer).ok()?;
        Some((choice.media, choice.representation))
    }

    #[test]
    fn the_best_alternative_that_is_spoken_wins() {
        let whole = Some((Media::Json, Representation::Whole));
        let table = Some((Media::Json, Representation::Table));
        for (accept, want) in [
            ("", whole),
            ("*/*", whole),
            ("*", whole),
            ("application/*", whole),
            ("application/json;charset=utf-8", whole),
            ("application/json;stream=watch", whole),
            (
                "application/vnd.kubernetes.protobuf, application/json",
                whole,
            ),
            ("application/json;as=Table;v=v1;g=meta.k8s.io", table),
            (
                "application/json;as=Table;v=v9;g=meta.k8s.io, application/json",
                whole,
            ),
            (
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
                Some((Media::Json, Representation::Metadata)),
            ),
            (
                "application/json;q=0.1, application/yaml",
                Some((Media::Yaml, Representation::Whole)),
            ),
            (
                "*/*, application/yaml",
                Some((Media::Yaml, Representation::Whole)),
            ),
            ("text/html, */*;q=0.1", whole),
            ("application/vnd.kubernetes.protobuf", None),
            ("application/json;as=Table;v=v1", None),
            ("application/json;as=Nothing;v=v1;g=meta.k8s.io", None),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                None,
            ),
            ("text/html", None),
            ("garbage", None),
        ] {
            assert_eq!(chosen(accept, Offer::Objects), want, "{accept}");
        }
    }

    #[test]
    fn refusals_are_shown_plainly_and_discovery_at_once() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(chosen(table, Offer::Plain), None);
        let all = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let want = Some((Media::Json, Representation::Discovery));
        assert_eq!(chosen(all, Offer::Discovery), want);
    }

    #[test]
    fn parts_are_no_rows() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(chosen(table, Offer::Parts), None);
        let partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        let want = Some((Media::Json, Representation::Metadata));
        assert_eq!(chosen(partial, Offer::Parts), want);
    }

    #[test]
    fn changes_are_not_written_in_yaml() {
        assert_eq!(chosen("application/yaml", Offer::Changes), None);
        let want = Some((Media::Json, Representation::Whole));
        assert_eq!(chosen("application/yaml, */*", Offer::Changes), want);
    }

    #[test]
    fn the_router_compares_names_only() {
        for (accept, passes) in [
            ("", true),
            ("*/*;q=0.1", true),
            ("text/html, application/yaml;as=Nothing", true),
            ("application/vnd.kubernetes.protobuf", true),
            ("application/*", false),
            ("application/cbor", false),
            ("text/html", false),
        ] {
            assert_eq!(check_route(accept, ROUTED).is_ok(), passes, "{accept}");
        }
        let refused = check_route("text/html", ROUTED).unwrap_err();
        assert_eq!(
            &*refused.0.message,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml"
        );
    }
}
