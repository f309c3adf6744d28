//! Answers of kube-apiserver v1.36.4 to patches and updates, and ours to the same.
//!
//! Clients sent some ten thousand random patches, directives and updates to it, and what it answered
//! was written down; each `.jsonl` is a sample, one exchange a line. `json.jsonl` is JSON and merge
//! patches of a field without schema, `strategic.jsonl` is Deployments, `owners.jsonl` is server-side
//! apply and updates of the custom resource in `definition.json`. What the server adds on its own
//! (versions, uids, defaults of pods) was taken out; nothing else was changed.

#[cfg(test)]
mod answers;
