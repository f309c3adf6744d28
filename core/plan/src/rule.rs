//! Rules: what decided a sync, as a code for programs and a phrase for people.

use std::fmt;

/// The rule that decided a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The stable code, such as `TooFewPods`; unique within a controller. `docs/rules.md` lists all.
    pub code: &'static str,
    /// The rule in a few words. Words may change, codes do not.
    pub text: &'static str,
}

impl Rule {
    /// A rule with this code and these words.
    pub const fn new(code: &'static str, text: &'static str) -> Self {
        Self { code, text }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Declares the rules of a controller: a constant for each, and `RULES`, all of them.
#[macro_export]
macro_rules! rules {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(pub(super) const $name: $crate::Rule = $crate::Rule::new($code, $text);)*

        /// All rules of the controller.
        pub(super) const RULES: &[$crate::Rule] = &[$($name),*];
    };
}

/// The engine's rules, which decide about keys of every controller.
pub const COMMON: &[Rule] = &[TOO_MANY_STAGES, OWN_WRITE_UNSEEN, WRITE_FAILED, OBJECT_GONE];

/// The sync would never rest.
pub const TOO_MANY_STAGES: Rule = Rule::new("TooManyStages", "too many stages");

/// The caches do not show the key's own writes.
pub const OWN_WRITE_UNSEEN: Rule =
    Rule::new("OwnWriteUnseen", "the caches do not show its own writes");

/// A write that had to succeed did not.
pub const WRITE_FAILED: Rule = Rule::new("WriteFailed", "a write failed");

/// The key's own object was deleted or recreated before a write to it.
pub const OBJECT_GONE: Rule = Rule::new("ObjectGone", "the object is gone");
