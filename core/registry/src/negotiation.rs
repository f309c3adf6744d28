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
    /// Kubernetes' protobuf.
    Protobuf,
}

impl Media {
    /// Its name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Yaml => YAML,
            Self::Protobuf => PROTOBUF,
        }
    }

    /// What a stream of changes in it is called; there is none in YAML.
    pub(crate) fn stream_name(self) -> &'static str {
        match self {
            Self::Json | Self::Yaml => JSON,
            Self::Protobuf => PROTOBUF_STREAM,
        }
    }
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";
const JSON_STREAM: &str = "application/json;stream=watch";

/// What an endpoint can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Only what there is: refusals, and documents of one group.
    Plain,
    /// An object or a collection, also as a table or by its metadata.
    Objects,
    /// A custom object or a collection of them: as those that are built in, but only their metadata have a form in
    /// protobuf.
    Customs,
    /// A part of an object that is no row of a table.
    Parts,
    /// The aggregated form of a discovery document, and nothing else.
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
        name == "*/*" || produces.contains(&name)
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
pub(crate) const ROUTED: &[&str] = &[JSON, YAML, PROTOBUF];

/// What the router knows of collections.
pub(crate) const ROUTED_COLLECTION: &[&str] = &[JSON, YAML, PROTOBUF, JSON_STREAM, PROTOBUF_STREAM];

/// The best alternative that an endpoint can show; a refusal if there is none.
pub(crate) fn choose(accept: &str, offer: Offer) -> Result<Choice, Failure> {
    if accept.is_empty() {
        return Ok(Choice::default());
    }
    let clauses = Clause::sorted(accept);
    let found = clauses.iter().find_map(|clause| clause.choice(offer));
    found.ok_or_else(|| only(&[JSON, YAML, PROTOBUF]))
}

/// The best alternative for a discovery document: its aggregated form comes before all others, wherever it is asked for.
pub(crate) fn choose_discovery(accept: &str) -> Result<Choice, Failure> {
    let clauses = Clause::sorted(accept);
    let at_once = clauses
        .iter()
        .find_map(|clause| clause.choice(Offer::Discovery));
    match at_once {
        Some(choice) => Ok(choice),
        None => choose(accept, Offer::Plain),
    }
}

/// Refuses a stream of changes in what knows no streams.
pub(crate) fn check_stream(choice: Choice) -> Result<(), Failure> {
    match choice.media {
        Media::Json | Media::Protobuf => Ok(()),
        Media::Yaml => Err(only(&[JSON_STREAM, PROTOBUF_STREAM])),
    }
}

fn only(accepted: &[&str]) -> Failure {
    let accepted = accepted.join(", ");
    let message = format!("only the following media types are accepted: {accepted}");
    Failure::new(406, "NotAcceptable", message)
}

/// As many values Go sorts by insertion.
const SORTED_BY_INSERTION_MAX: usize = 12;

/// One alternative of an `Accept` header.
struct Clause<'a> {
    kind: &'a str,
    subkind: &'a str,
    quality: f64,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    /// The alternatives, best first: by quality and the more exact ones, where upstream does not ask which of the two
    /// matters more. What makes no sense is passed over.
    fn sorted(accept: &'a str) -> Vec<Self> {
        let mut clauses: Vec<Self> = accept.split(',').filter_map(Self::parse).collect();
        if clauses.len() > SORTED_BY_INSERTION_MAX {
            clauses.sort_by(|one, other| other.quality.total_cmp(&one.quality));
            return clauses;
        }
        // One may come before another that comes before it, so that the outcome depends on how Go sorts.
        for end in 1..clauses.len() {
            let mut at = end;
            while at > 0 && clauses[at].comes_before(&clauses[at - 1]) {
                clauses.swap(at, at - 1);
                at -= 1;
            }
        }
        clauses
    }

    fn comes_before(&self, other: &Self) -> bool {
        self.quality > other.quality
            || (self.kind != "*" && other.kind == "*")
            || (self.subkind != "*" && other.subkind == "*")
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
            match (key.trim(), value) {
                (_, value) if value.is_empty() || value.contains('=') => {}
                ("q", value) => quality = value.parse().unwrap_or(0.0),
                (key, value) => parameters.push((key, value.trim())),
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
            ("application", "yaml") => Media::Yaml,
            ("application", "vnd.kubernetes.protobuf") => Media::Protobuf,
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
                "sv" if *value == "v1" && !matches!(offer, Offer::Plain | Offer::Discovery) => {}
                "sv" if !value.is_empty() => return None,
                "pretty" => indented = *value == "1",
                _ => {}
            }
        }
        let representation = match is_converted {
            false if offer == Offer::Customs && media == Media::Protobuf => return None,
            false if offer == Offer::Discovery => return None,
            false => Representation::Whole,
            true => converted(offer, group, version, shown)?,
        };
        // Cells of a table are of any type, which messages cannot say.
        if representation == Representation::Table && media == Media::Protobuf {
            return None;
        }
        Some(Choice {
            media,
            representation,
            indented,
        })
    }
}

fn converted(offer: Offer, group: &str, version: &str, shown: &str) -> Option<Representation> {
    match (offer, group, version, shown) {
        (Offer::Objects | Offer::Customs, "meta.k8s.io", "v1", "Table") => {
            Some(Representation::Table)
        }
        (
            Offer::Objects | Offer::Customs | Offer::Parts,
            "meta.k8s.io",
            "v1",
            "PartialObjectMetadata",
        ) => Some(Representation::Metadata),
        (
            Offer::Objects | Offer::Customs | Offer::Parts,
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
        let protobuf = Some((Media::Protobuf, Representation::Whole));
        for (accept, want) in [
            ("", whole),
            ("*/*", whole),
            ("*", whole),
            ("application/*", whole),
            ("application/json;charset=utf-8", whole),
            ("application/json;stream=watch", whole),
            ("application/vnd.kubernetes.protobuf, */*", protobuf),
            ("*/*, application/vnd.kubernetes.protobuf", protobuf),
            ("*/*, application/vnd.kubernetes.protobuf;q=0.9", protobuf),
            (
                "application/vnd.kubernetes.protobuf, application/json",
                protobuf,
            ),
            (
                "application/json, application/vnd.kubernetes.protobuf",
                whole,
            ),
            (
                "application/vnd.kubernetes.protobuf;q=x, application/json;q=0.1",
                whole,
            ),
            ("application/vnd.kubernetes.protobuf;q=0;v=", protobuf),
            (
                "application/vnd.kubernetes.protobuf;stream=watch;charset=utf-8",
                protobuf,
            ),
            ("application/vnd.kubernetes.protobuf;stream=other", None),
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                Some((Media::Protobuf, Representation::Metadata)),
            ),
            (
                "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json",
                whole,
            ),
            (
                "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1",
                None,
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
            ("application/vnd.kubernetes.protobuf", protobuf),
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
        let (protobuf, json) = (Media::Protobuf, Media::Json);
        for (accept, want) in [
            (all.to_owned(), (json, Representation::Discovery)),
            (
                format!("application/vnd.kubernetes.protobuf, {all};q=0.1"),
                (json, Representation::Discovery),
            ),
            (
                "application/vnd.kubernetes.protobuf, */*".to_owned(),
                (protobuf, Representation::Whole),
            ),
            (String::new(), (json, Representation::Whole)),
        ] {
            let choice = choose_discovery(&accept).unwrap();
            assert_eq!((choice.media, choice.representation), want, "{accept}");
        }
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
        for (accept, message) in [
            (
                "application/vnd.kubernetes.protobuf, application/yaml",
                None,
            ),
            ("application/json;stream=watch", None),
            (
                "application/yaml, */*",
                Some(
                    "only the following media types are accepted: application/json;stream=watch, \
                     application/vnd.kubernetes.protobuf;stream=watch",
                ),
            ),
        ] {
            let checked = check_stream(choose(accept, Offer::Objects).unwrap());
            let refused = checked.err().map(|failure| failure.0.message.to_string());
            assert_eq!(refused.as_deref(), message, "{accept}");
        }
    }

    #[test]
    fn of_custom_objects_only_metadata_are_written_in_protobuf() {
        let protobuf = "application/vnd.kubernetes.protobuf";
        let json = Some((Media::Json, Representation::Whole));
        let partial = Some((Media::Protobuf, Representation::Metadata));
        for (accept, want) in [
            (protobuf.to_owned(), None),
            (format!("{protobuf}, application/json"), json),
            (format!("{protobuf}, */*"), json),
            (
                format!("{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1, */*"),
                partial,
            ),
        ] {
            assert_eq!(chosen(&accept, Offer::Customs), want, "{accept}");
        }
        // Refusals are told in it.
        let want = Some((Media::Protobuf, Representation::Whole));
        assert_eq!(chosen(protobuf, Offer::Plain), want);
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
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
             application/vnd.kubernetes.protobuf"
        );
    }
}
