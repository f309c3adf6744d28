//! What is the same on both servers although it is written differently: identities, versions, generated names,
//! addresses that were given out, places in a list.
//!
//! A pair is learnt where both servers answer with one, and holds from then on in both directions: a server that
//! mixes two objects up is found out.

use std::collections::HashMap;

/// Pairs of what one server says and what the other says instead.
#[derive(Debug, Default, Clone)]
pub(crate) struct Links {
    /// Whole words: identities, generated names, addresses.
    words: Pairs,
    /// Versions of objects.
    versions: Pairs,
    /// Versions of collections, which other writes move on at different times on both servers.
    states: HashMap<String, String>,
    /// Addresses and ports that were given out, which may be given out again later.
    given_out: Pairs,
    /// Places in a list.
    tokens: HashMap<String, String>,
    /// Moments that only the server sets and that must stay as they are, with their fields.
    moments: HashMap<(&'static str, String), String>,
}

/// Words that belong together.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pairs {
    forth: HashMap<String, String>,
    back: HashMap<String, String>,
}

impl Pairs {
    fn link(&mut self, theirs: &str, ours: &str) -> bool {
        self.link_of("", theirs, ours)
    }

    /// Links words of which ours may mean something else elsewhere.
    fn link_of(&mut self, of: &str, theirs: &str, ours: &str) -> bool {
        let back = format!("{of} {ours}");
        match (self.forth.get(theirs), self.back.get(&back)) {
            (None, None) => {
                self.forth.insert(theirs.to_owned(), ours.to_owned());
                self.back.insert(back, theirs.to_owned());
                true
            }
            (Some(known), _) => known == ours,
            (None, Some(_)) => false,
        }
    }
}

impl Links {
    /// Learns that two words mean the same; false if it is known better.
    pub(crate) fn link_word(&mut self, theirs: &str, ours: &str) -> bool {
        self.words.link(theirs, ours)
    }

    /// Learns that two versions of an object are the same write; false if it is known better.
    ///
    /// `uid` is the object's on our server, which may write two objects at once: a quota with what it counts.
    pub(crate) fn link_version(&mut self, uid: &str, theirs: &str, ours: &str) -> bool {
        self.versions.link_of(uid, theirs, ours)
    }

    /// Learns that two addresses or ports were given out alike; false if it is known better.
    pub(crate) fn link_given_out(&mut self, theirs: &str, ours: &str) -> bool {
        self.given_out.link(theirs, ours)
    }

    /// Forgets what was given out: at the next time it may be something else.
    pub(crate) fn forget_given_out(&mut self) {
        self.given_out = Pairs::default();
    }

    /// What has been given out since that was forgotten.
    pub(crate) fn given_out(&self) -> Pairs {
        self.given_out.clone()
    }

    /// Takes something else for what was given out, and gives what it was before.
    pub(crate) fn swap_given_out(&mut self, other: Pairs) -> Pairs {
        std::mem::replace(&mut self.given_out, other)
    }

    /// Learns that two moments in a field are the same.
    pub(crate) fn link_moment(&mut self, field: &str, theirs: &str, ours: &str) {
        if let Some(field) = MOMENT_FIELDS.iter().find(|one| **one == field) {
            self.moments
                .insert((field, theirs.to_owned()), ours.to_owned());
        }
    }

    /// A text with its moments in the other server's words.
    fn with_moments(&self, theirs: &str) -> String {
        let mut text = theirs.to_owned();
        for ((field, theirs), ours) in &self.moments {
            for (before, after) in [("\":\"", "\""), (": \"", "\"")] {
                let said = |moment: &str| format!("{field}{before}{moment}{after}");
                text = text.replace(&said(theirs), &said(ours));
            }
        }
        text
    }

    /// Learns at which version the other server read the same collection.
    ///
    /// What the other server said first counts: a cache may answer for the same moment once more when there has been
    /// another write.
    pub(crate) fn link_state(&mut self, theirs: &str, ours: &str) {
        let known = self.states.entry(theirs.to_owned());
        known.or_insert_with(|| ours.to_owned());
    }

    /// Learns how the other server writes the same place in a list.
    pub(crate) fn link_token(&mut self, theirs: &str, ours: &str) {
        self.tokens.insert(theirs.to_owned(), ours.to_owned());
    }

    /// Whether it is known what a word is on the other server.
    pub(crate) fn knows(&self, theirs: &str) -> bool {
        self.words.forth.contains_key(theirs)
    }

    /// A version in the other server's words.
    pub(crate) fn version(&self, theirs: &str) -> String {
        let known = self.versions.forth.get(theirs);
        let known = known.or_else(|| self.states.get(theirs));
        known.map_or_else(|| theirs.to_owned(), Clone::clone)
    }

    /// A place in a list in the other server's words.
    pub(crate) fn token(&self, theirs: &str) -> String {
        let known = self.tokens.get(theirs);
        known.map_or_else(|| theirs.to_owned(), Clone::clone)
    }

    /// A text in the other server's words.
    pub(crate) fn text(&self, theirs: &str) -> String {
        let mut out = String::with_capacity(theirs.len());
        let theirs = self.with_moments(theirs);
        let mut rest = theirs.as_str();
        while let Some(start) = rest.find(is_word) {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            out.push_str(self.word(word, &out, after));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn word<'a>(&'a self, word: &'a str, before: &str, after: &str) -> &'a str {
        if let Some(known) = self.words.forth.get(word) {
            return known;
        }
        let in_cell = before.ends_with(':') && after.starts_with('/');
        if word.contains('.')
            || in_cell
            || before.ends_with("odePort\":")
            || before.ends_with("odePort: ")
        {
            let known = self.given_out.forth.get(word);
            return known.map_or(word, String::as_str);
        }
        let is_version = VERSION_FIELDS.iter().any(|field| before.ends_with(field));
        if is_version && after.starts_with('"') {
            let known = self.versions.forth.get(word);
            return known.map_or(word, String::as_str);
        }
        word
    }
}

/// Fields of moments that a client cannot change.
const MOMENT_FIELDS: &[&str] = &["deletionTimestamp", "lastPhaseTransitionTime"];

/// What stands before a version in what is sent.
const VERSION_FIELDS: &[&str] = &[
    "\"resourceVersion\":\"",
    "\"/metadata/resourceVersion\",\"value\":\"",
    "resourceVersion: \"",
];

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_holds_in_both_directions() {
        let mut links = Links::default();
        assert!(links.link_word("a-1", "b-1"));
        assert!(links.link_word("a-1", "b-1"));
        assert!(!links.link_word("a-1", "b-2"));
        assert!(!links.link_word("a-2", "b-1"));
    }

    #[test]
    fn two_objects_may_be_written_at_once_and_one_not_twice() {
        let mut links = Links::default();
        assert!(links.link_version("service", "11", "5"));
        assert!(links.link_version("quota", "10", "5"));
        assert!(!links.link_version("quota", "12", "5"));
        assert_eq!(links.version("10"), "5");
    }

    #[test]
    fn words_are_replaced_whole_and_versions_only_where_they_stand() {
        let mut links = Links::default();
        links.link_word("gen-1-xyz", "gen-1-abc");
        links.link_version("", "205", "7");
        links.link_given_out("30001", "31000");
        let theirs = r#"{"name":"gen-1-xyz","x":"gen-1-xyzz","resourceVersion":"205","replicas":205,"pods":"205","nodePort":30001}"#;
        let ours = r#"{"name":"gen-1-abc","x":"gen-1-xyzz","resourceVersion":"7","replicas":205,"pods":"205","nodePort":31000}"#;
        assert_eq!(links.text(theirs), ours);
    }
}
