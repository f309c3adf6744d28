//! What messages tell about upstream's Go types and no schema has.
//!
//! Two tables, each a line per type: its name in documents, then its fields. `conformance go-types` makes both from
//! upstream's own modules. They are searched when something is wrong with an object and never else.
//!
//! `decoded.txt` is what errors of the decoder name ([`decoded`]), `shown.txt` how a value is written into a message
//! ([`text`]).

mod text;

pub use text::{go_json, go_text, is_go_empty};

const DECODED: &str = include_str!("decoded.txt");
const SHOWN: &str = include_str!("shown.txt");

/// What Go says of a field of an API type.
///
/// A field is its name in JSON, `:`, the embedded structs in which it is declared with `/` after each, and Go's name
/// for its type, if that is not what its schema says: `operations:RuleWithOperations/[]v1.OperationType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoField {
    /// The embedded structs in which it is declared, from the outside, with `/` after each.
    within: &'static str,
    /// Go's name for its type; empty if it is what the schema says.
    of: &'static str,
}

impl GoField {
    /// The embedded structs in which the field is declared, from the outside.
    pub(crate) fn within(self) -> impl Iterator<Item = &'static str> {
        self.within.split_terminator('/')
    }

    /// Go's name for what lies so many lists and maps below the field, if it has one.
    pub(crate) fn below(self, levels: usize) -> Option<&'static str> {
        let mut of = Some(self.of).filter(|of| !of.is_empty())?;
        for _ in 0..levels {
            of = match of.strip_prefix("[]") {
                Some(item) => item,
                None => of.strip_prefix("map[")?.split_once(']')?.1,
            };
        }
        // Go follows pointers before it complains.
        Some(of.trim_start_matches('*'))
    }
}

/// What Go says of a field of the type with this name.
pub(crate) fn decoded(type_name: &str, field: &str) -> GoField {
    let fields = line(DECODED, type_name).unwrap_or_default();
    let told = fields.split(' ').find_map(|told| {
        let (name, told) = told.split_once(':')?;
        (name == field).then_some(told)
    });
    let told = told.unwrap_or_default();
    let at = told.rfind('/').map_or(0, |at| at + 1);
    let (within, of) = told.split_at(at);
    GoField { within, of }
}

/// The fields of the type with this name, as its line has them.
fn line(table: &'static str, type_name: &str) -> Option<&'static str> {
    table.lines().find_map(|line| {
        let (name, fields) = line.split_once(' ')?;
        (name == type_name).then_some(fields)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn a_field_is_declared_in_structs_and_has_a_type() {
        let rule = decoded(
            "io.k8s.api.admissionregistration.v1.NamedRuleWithOperations",
            "scope",
        );
        let within: Vec<_> = rule.within().collect();
        assert_eq!(within, ["RuleWithOperations", "Rule"]);
        assert_eq!(rule.below(0), Some("v1.ScopeType"));
        let modes = decoded(
            "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
            "accessModes",
        );
        assert_eq!(modes.below(0), Some("[]v1.PersistentVolumeAccessMode"));
        assert_eq!(modes.below(1), Some("v1.PersistentVolumeAccessMode"));
        let limits = decoded("io.k8s.api.core.v1.VolumeResourceRequirements", "limits");
        assert_eq!(limits.below(0), Some("v1.ResourceList"));
        assert_eq!(limits.below(1), None);
        assert_eq!(
            decoded("io.k8s.api.core.v1.Pod", "spec"),
            GoField::default()
        );
        assert_eq!(decoded("odd", "spec"), GoField::default());
    }

    #[test]
    fn every_field_of_the_tables_is_a_field_of_its_schema() {
        for (table, mark) in [(DECODED, ':'), (SHOWN, '=')] {
            for line in table.lines() {
                let (name, fields) = line.split_once(' ').unwrap();
                let Some(schema) = builtin().named(name) else {
                    // Kinds that this server has no schema of, and what is sent in no body.
                    assert_eq!(mark, ':', "{name}");
                    continue;
                };
                if mark != ':' {
                    continue;
                }
                for told in fields.split(' ') {
                    let (field, _) = told.split_once(mark).unwrap();
                    assert!(schema.field(field).is_some(), "{name} has no {field}");
                }
            }
        }
    }
}
