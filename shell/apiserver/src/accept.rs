//! How a client wants its answers to look.

use flyball_registry::Representation;

/// Reads an `Accept` header. The first alternative that is spoken here wins; `None` if none is.
pub(crate) fn representation(accept: &str) -> Option<Representation> {
    if accept.trim().is_empty() {
        return Some(Representation::Whole);
    }
    accept.split(',').find_map(alternative)
}

fn alternative(text: &str) -> Option<Representation> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next()?;
    if !matches!(media, "application/json" | "application/*" | "*/*") {
        return None;
    }
    let mut shown = Representation::Whole;
    let mut version = "v1";
    for part in parts {
        match part.split_once('=') {
            Some(("as", "Table")) => shown = Representation::Table,
            Some(("as", "PartialObjectMetadata" | "PartialObjectMetadataList")) => {
                shown = Representation::Metadata;
            }
            Some(("as", "APIGroupDiscoveryList")) => shown = Representation::Discovery,
            Some(("as", _)) => return None,
            Some(("v", asked)) => version = asked,
            _ => {}
        }
    }
    let known = match shown {
        Representation::Whole => true,
        Representation::Discovery => version == "v2",
        Representation::Metadata | Representation::Table => version == "v1",
    };
    known.then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_alternative_that_is_spoken_wins() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for (accept, shown) in [
            ("", Some(Representation::Whole)),
            ("*/*", Some(Representation::Whole)),
            ("application/json", Some(Representation::Whole)),
            (table, Some(Representation::Table)),
            (
                "application/vnd.kubernetes.protobuf, application/json",
                Some(Representation::Whole),
            ),
            (
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
                Some(Representation::Metadata),
            ),
            (
                "application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json",
                Some(Representation::Whole),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                Some(Representation::Discovery),
            ),
            ("application/vnd.kubernetes.protobuf", None),
            ("text/html", None),
        ] {
            assert_eq!(representation(accept), shown, "{accept}");
        }
    }
}
