//! Label selectors as objects carry them.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Operator, Requirement, Selector, SelectorInvalid};

/// The `selector` of a workload's spec: upstream's `metav1.LabelSelector`.
///
/// It is kept as it came, sense or not; [`LabelSelector::compile`] finds out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "or_default"
    )]
    pub match_labels: BTreeMap<Box<str>, Box<str>>,
    /// Further conditions.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// One condition of a [`LabelSelector`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelSelectorRequirement {
    /// The label it is about.
    #[serde(deserialize_with = "or_default")]
    pub key: Box<str>,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; anything else is an error when compiled.
    #[serde(deserialize_with = "or_default")]
    pub operator: Box<str>,
    /// What the label is compared with.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub values: Vec<Box<str>>,
}

/// Null is what is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl LabelSelector {
    /// Whether it asks for nothing, and so matches everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// The checked selector; an empty one matches everything.
    pub fn compile(&self) -> Result<Selector, SelectorInvalid> {
        let exact = self
            .match_labels
            .iter()
            .map(|(key, value)| Requirement::new(key, Operator::Equals, &[value]));
        let further = self
            .match_expressions
            .iter()
            .map(LabelSelectorRequirement::compile);
        exact
            .chain(further)
            .collect::<Result<Vec<_>, _>>()
            .map(Selector::all_of)
    }

    /// The checked selector of a field that may be absent; an absent one matches nothing.
    pub fn compile_optional(selector: Option<&LabelSelector>) -> Result<Selector, SelectorInvalid> {
        selector.map_or(Ok(Selector::nothing()), LabelSelector::compile)
    }
}

impl LabelSelectorRequirement {
    fn compile(&self) -> Result<Requirement, SelectorInvalid> {
        let operator = match &*self.operator {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            unknown => {
                let (key, operator) = (self.key.to_string(), unknown.to_owned());
                return Err(SelectorInvalid::UnknownOperator { key, operator });
            }
        };
        Requirement::new(&self.key, operator, &self.values)
    }
}
