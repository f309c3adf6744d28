//! Names that hold chance: template hashes and random suffixes, replaced by what they stand for.
//!
//! A ReplicaSet of Deployment `web` whose first container runs `app:v2` is called `web@app:v2`, whatever its hash;
//! one of its pods is `web@app:v2-*`. A name of two managers is then the same exactly if it means the same.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::Everything;

/// The letters that upstream encodes hashes and random suffixes with: no vowels, no digit that looks like one.
const ALPHABET: &str = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
const HASH_LABEL: &str = "pod-template-hash";

/// What is known about the names of a namespace.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Workloads that the scenario named itself, and whether they are Deployments.
    bases: BTreeMap<String, bool>,
    /// Base and hash → the template it stands for.
    templates: BTreeMap<(String, String), Template>,
    /// UID → kind and name as the server has it.
    uids: BTreeMap<String, (String, String)>,
}

/// A template's first image, and its whole text to tell templates of one image apart in a stable order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Template {
    image: String,
    text: String,
}

impl Names {
    /// Notes an object that the scenario is about to create.
    pub(crate) fn expect(&mut self, object: &Value) {
        let kind = object["kind"].as_str().unwrap_or_default();
        if matches!(kind, "Deployment" | "ReplicaSet" | "ReplicationController")
            && let Some(name) = object["metadata"]["name"].as_str()
        {
            let is_deployment = kind == "Deployment";
            let known = self.bases.entry(name.to_owned()).or_insert(is_deployment);
            *known |= is_deployment;
        }
    }

    /// Notes the objects that there are. What is gone later is not forgotten.
    pub(crate) fn learn(&mut self, all: &Everything) {
        for (kind, objects) in all {
            for object in objects {
                let metadata = &object["metadata"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let name = text(&metadata["name"]);
                if *kind == "ReplicaSet" {
                    self.learn_template(&name, object);
                }
                self.uids
                    .insert(text(&metadata["uid"]), ((*kind).to_owned(), name));
            }
        }
    }

    fn learn_template(&mut self, name: &str, replica_set: &Value) {
        let Some(hash) = replica_set["metadata"]["labels"][HASH_LABEL].as_str() else {
            return;
        };
        let Some(base) = name
            .strip_suffix(hash)
            .and_then(|base| base.strip_suffix('-'))
        else {
            return;
        };
        let mut template = replica_set["spec"]["template"].clone();
        if let Some(labels) = template
            .pointer_mut("/metadata/labels")
            .and_then(Value::as_object_mut)
        {
            labels.remove(HASH_LABEL);
        }
        let image = template
            .pointer("/spec/containers/0/image")
            .and_then(Value::as_str);
        let image = image.unwrap_or("nothing").to_owned();
        let text = template.to_string();
        self.templates
            .insert((base.to_owned(), hash.to_owned()), Template { image, text });
    }

    /// The kind and normalised name of the object with this UID.
    pub(crate) fn of_uid(&self, uid: &str) -> String {
        match self.uids.get(uid) {
            Some((kind, name)) => format!("{kind} {}", self.normalise(name)),
            None => "an unknown object".to_owned(),
        }
    }

    /// Replaces every name in a text.
    pub(crate) fn normalise(&self, text: &str) -> String {
        self.words(text, |word| word.to_owned())
    }

    /// [`Names::normalise`], with every number masked too.
    pub(crate) fn normalise_loosely(&self, text: &str) -> String {
        self.words(text, |word| {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if is_number {
                "N".to_owned()
            } else {
                word.to_owned()
            }
        })
    }

    fn words(&self, text: &str, other: impl Fn(&str) -> String) -> String {
        let mut normal = String::with_capacity(text.len());
        let mut rest = text;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        while let Some(start) = rest.find(is_letter) {
            normal.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            let word = &rest[..end];
            normal.push_str(&self.name(word).unwrap_or_else(|| other(word)));
            rest = &rest[end..];
        }
        normal.push_str(rest);
        normal
    }

    /// What a word stands for, if it is a name with chance in it.
    fn name(&self, word: &str) -> Option<String> {
        if let Some((base, _)) = self.templates.keys().find(|(_, hash)| hash == word) {
            return Some(format!("<hash of {}>", self.replica_set(base, word)));
        }
        // The longest base wins: `web-two-…` belongs to `web-two`, not to `web`.
        self.bases
            .iter()
            .filter_map(|(base, is_deployment)| {
                let rest = word.strip_prefix(base.as_str())?.strip_prefix('-')?;
                Some((base.len(), self.generated(base, *is_deployment, rest)?))
            })
            .max()
            .map(|(_, name)| name)
    }

    fn generated(&self, base: &str, is_deployment: bool, rest: &str) -> Option<String> {
        let is_suffix = |part: &str| part.len() == SUFFIX_LENGTH && is_encoded(part);
        if !is_deployment {
            return is_suffix(rest).then(|| format!("{base}-*"));
        }
        match rest.split_once('-') {
            None => is_encoded(rest).then(|| self.replica_set(base, rest)),
            Some((hash, "")) => {
                is_encoded(hash).then(|| format!("{}-", self.replica_set(base, hash)))
            }
            Some((hash, suffix)) => (is_encoded(hash) && is_suffix(suffix))
                .then(|| format!("{}-*", self.replica_set(base, hash))),
        }
    }

    fn replica_set(&self, base: &str, hash: &str) -> String {
        let key = (base.to_owned(), hash.to_owned());
        let Some(template) = self.templates.get(&key) else {
            return format!("{base}@?");
        };
        let same_image = self
            .templates
            .iter()
            .filter(|((other, _), known)| other == base && known.image == template.image);
        let rank = same_image
            .filter(|(_, known)| known.text < template.text)
            .count();
        match rank {
            0 => format!("{base}@{}", template.image),
            _ => format!("{base}@{}#{}", template.image, rank + 1),
        }
    }
}

fn is_encoded(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|letter| ALPHABET.contains(letter))
}
