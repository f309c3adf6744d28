//! Where in an object a decoder is, as Go's messages tell it.

use super::fault::go_type;
use crate::Schema;
use crate::go_types::decoded;

/// The way to a value.
#[derive(Default)]
pub(super) struct Place<'a> {
    /// The fields on the way, each with the type that has it.
    fields: Vec<(Schema<'a>, &'a str)>,
    /// How many lists and maps the value lies below the last field.
    below: usize,
}

impl<'a> Place<'a> {
    /// Goes to a field of a type; the way back is [`Place::leave`] with what is returned.
    pub(super) fn enter(&mut self, owner: Schema<'a>, field: &'a str) -> usize {
        self.fields.push((owner, field));
        std::mem::take(&mut self.below)
    }

    /// Goes back from a field to where the decoder was.
    pub(super) fn leave(&mut self, below: usize) {
        self.fields.pop();
        self.below = below;
    }

    /// Where the decoder is, to come back to it from wherever it gave up.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.fields.len(), self.below)
    }

    /// Goes back to where it was.
    pub(super) fn back_to(&mut self, (fields, below): (usize, usize)) {
        self.fields.truncate(fields);
        self.below = below;
    }

    /// Goes to an item of a list or a value of a map.
    pub(super) fn descend(&mut self) {
        self.below += 1;
    }

    /// Goes back from an item or a value.
    pub(super) fn ascend(&mut self) {
        self.below -= 1;
    }

    /// Go's words for the place: the struct that has the last field, and the names of all fields. Structs that are
    /// embedded are named on the way.
    pub(super) fn told(&self) -> String {
        let Some((owner, _)) = self.fields.last() else {
            return "value".to_owned();
        };
        let name = owner.get().name.as_str();
        let mut told = format!("struct field {}", name.rsplit('.').next().unwrap_or(name));
        for (owner, field) in &self.fields {
            let declared = decoded(owner.get().name.as_str(), field);
            // A kind within another has its head in a struct of its own.
            let is_kind = owner.get().name.ends_with(".PersistentVolumeClaim");
            if is_kind && matches!(*field, "apiVersion" | "kind") {
                told.push_str(".TypeMeta");
            }
            for part in declared.within() {
                told.push('.');
                told.push_str(part);
            }
            told.push('.');
            told.push_str(field);
        }
        told
    }

    /// Go's name for the type of the value.
    pub(super) fn expected(&self, schema: Schema<'_>) -> String {
        let last = self.fields.last();
        let named = last
            .and_then(|(owner, field)| decoded(owner.get().name.as_str(), field).below(self.below));
        named.map_or_else(|| go_type(schema), str::to_owned)
    }
}
