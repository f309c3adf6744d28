//! Differences that are known and meant: data with reasons, from which `docs/parity.md` is made.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::compare::Difference;
use super::request::Request;

const TEXT: &str = include_str!("../../parity/explained.yaml");

/// The page that is made of the explanations.
pub const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/parity.md");

/// Why some answers differ. Patterns are texts in which `*` stands for anything.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explanation {
    /// In a few words.
    pub(crate) title: String,
    /// Why it is so, for readers of the page.
    pub(crate) reason: String,
    /// Method and target of the request.
    #[serde(default)]
    request: Option<String>,
    /// Its body.
    #[serde(default)]
    body: Option<String>,
    /// Its content type.
    #[serde(default)]
    content_type: Option<String>,
    /// What it accepts.
    #[serde(default)]
    accept: Option<String>,
    /// Where the answers differ.
    #[serde(default)]
    place: Option<String>,
    #[serde(default)]
    theirs: Option<String>,
    #[serde(default)]
    ours: Option<String>,
    /// Whether it is not meant to stay.
    #[serde(default)]
    gap: bool,
    /// Whether everything else in the same answer is explained along with it.
    #[serde(default)]
    whole: bool,
}

/// All explanations.
#[derive(Debug, Clone)]
pub(crate) struct Explanations(Vec<Explanation>);

impl Explanations {
    pub(crate) fn read() -> Result<Self> {
        let all: Option<Vec<Explanation>> =
            serde_saphyr::from_str(TEXT).context("parity/explained.yaml")?;
        Ok(Self(all.unwrap_or_default()))
    }

    /// Takes out what is explained; gives the explanations that were needed, each with what it explains.
    pub(crate) fn sift(
        &self,
        request: &Request,
        differences: &mut Vec<Difference>,
    ) -> Vec<(String, Vec<Difference>)> {
        let mut used = Vec::new();
        for explanation in &self.0 {
            let explains = |one: &Difference| explanation.explains(request, one);
            let taken: Vec<Difference> = if explanation.whole {
                let is_explained = differences.iter().any(explains);
                differences.extract_if(.., |_| is_explained).collect()
            } else {
                differences.extract_if(.., |one| explains(one)).collect()
            };
            if !taken.is_empty() {
                used.push((explanation.shown_title(), taken));
            }
        }
        used
    }

    /// The titles of all explanations, as [`Self::sift`] gives them.
    pub(crate) fn titles(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Explanation::shown_title)
    }

    /// The page for readers.
    pub(crate) fn page(&self) -> String {
        let mut page = String::from(
            "# Parity with kube-apiserver\n\n\
             <!-- Made by `conformance parity --write-page` from verify/conformance/parity/explained.yaml. -->\n\n\
             `conformance parity` sends the same random requests to the embedded API server and to kube-apiserver \
             v1.36.4 and compares\nstatus codes, bodies, warnings and watch streams.\n\
             Identities, versions, times, generated names and given-out addresses are compared by what they refer \
             to, not by how they are written.\n\
             Causes of a refusal are compared once each: upstream repeats those that it finds twice.\n\
             Bookmarks that a server sends from time to time are left out.\n\
             What differs is asked for again: an answer that upstream then gives as we do is its chance (the order of a \
             Go map, a cache that\nlags behind) and no difference.\n\
             Not sent are patches that say another kind of the status of a custom object: upstream keeps of them what \
             the schema does not\nhave, does not show it, and drops it with the next write.\n\
             Bodies are sent as JSON, YAML and protobuf and are spoilt in one or two places; what each field of each kind may hold beside that is compared by \
             the cases of the registry.\n\
             Everything else is the same, but for this:\n\n",
        );
        let told = |gap: bool| {
            let lines = self.0.iter().filter(|one| one.gap == gap);
            let lines = lines.map(|one| format!("- **{}.** {}\n", one.title, one.reason.trim()));
            lines.collect::<String>()
        };
        page.push_str(&told(false));
        page.push_str("\n## Not yet the same\n\nThese were found by the same comparison and are not meant to stay:\n\n");
        page.push_str(&told(true));
        page
    }
}

impl Explanation {
    fn shown_title(&self) -> String {
        let kind = if self.gap { "gap: " } else { "" };
        format!("{kind}{}", self.title)
    }

    fn explains(&self, request: &Request, difference: &Difference) -> bool {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_deref().is_none_or(|pattern| fits(pattern, text))
        };
        fits(&self.request, &request.line())
            && fits(&self.body, &request.body)
            && fits(&self.content_type, &request.content_type)
            && fits(&self.accept, &request.accept)
            && fits(&self.place, &difference.place)
            && fits(&self.theirs, &difference.theirs)
            && fits(&self.ours, &difference.ours)
    }
}

/// Whether a text is what a pattern says; `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, want) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("*", "", true),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(fits(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn the_page_is_current() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let want = Explanations::read().unwrap().page();
        assert_eq!(page, want, "run `conformance parity --write-page`");
    }

    #[test]
    fn what_explains_a_whole_answer_clears_it() {
        let explanation = Explanation {
            title: "t".to_owned(),
            reason: "r".to_owned(),
            request: Some("GET /x*".to_owned()),
            body: None,
            content_type: None,
            accept: None,
            place: Some("code".to_owned()),
            theirs: None,
            ours: None,
            gap: false,
            whole: true,
        };
        let differ = |place: &str| Difference {
            place: place.to_owned(),
            theirs: "1".to_owned(),
            ours: "2".to_owned(),
        };
        let all = Explanations(vec![explanation]);
        let mut differences = vec![differ("code"), differ("body.message")];
        let used = all.sift(&Request::new("GET", "/x/y"), &mut differences);
        let explained = vec![differ("code"), differ("body.message")];
        assert_eq!(used, [("t".to_owned(), explained)]);
        assert!(differences.is_empty());
        let mut differences = vec![differ("body.message")];
        let used = all.sift(&Request::new("GET", "/x/y"), &mut differences);
        assert!(used.is_empty());
        assert_eq!(differences.len(), 1);
    }
}
