//! What has a say in writes: webhooks and policies; and what extends the API.

use serde_json::Value;

use super::columns::{AGE, Column, NAME, Printer, cells, integer, text as column};
use super::row::{Row, text};

/// Configurations of webhooks, validating or mutating.
pub(super) const WEBHOOKS: Printer = Printer {
    columns: &[NAME, integer("Webhooks", "How many webhooks it has."), AGE],
    cells: |row| cells![row.name(), row.count("webhooks"), row.age()],
};

pub(super) const VALIDATING_POLICIES: Printer = Printer {
    columns: &[
        NAME,
        integer("Validations", "How many rules it has."),
        PARAMETER_KIND,
        AGE,
    ],
    cells: |row| policy(row, "spec.validations"),
};

pub(super) const MUTATING_POLICIES: Printer = Printer {
    columns: &[
        NAME,
        integer("Mutations", "How many changes it makes."),
        PARAMETER_KIND,
        AGE,
    ],
    cells: |row| policy(row, "spec.mutations"),
};

const PARAMETER_KIND: Column = column("ParamKind", "The kind of objects that parameterize it.");

fn policy(row: &Row<'_>, rules: &str) -> Vec<Value> {
    let kind = match row.at("spec.paramKind") {
        Value::Null => "<unset>".into(),
        of => format!("{}/{}", text(&of["apiVersion"]), text(&of["kind"])),
    };
    cells![row.name(), row.count(rules), kind, row.age()]
}

/// Bindings of policies, validating or mutating.
pub(super) const POLICY_BINDINGS: Printer = Printer {
    columns: &[
        NAME,
        column("PolicyName", "The policy that is bound."),
        column("ParamRef", "The objects that parameterize it here."),
        AGE,
    ],
    cells: |row| {
        cells![
            row.name(),
            row.text("spec.policyName"),
            parameters(row),
            row.age()
        ]
    },
};

fn parameters(row: &Row<'_>) -> String {
    let of = row.at("spec.paramRef");
    match (text(&of["namespace"]), text(&of["name"])) {
        (_, "") if of["selector"].is_object() => printed_selector(&of["selector"]),
        (_, "") => "<unset>".into(),
        // Whether the parameter has a namespace cannot be seen from here.
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// A selector as Go prints the struct, which is what upstream shows here.
fn printed_selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: String = labels
        .map(|(key, value)| format!("{key}: {},", text(value)))
        .collect();
    let expressions = super::row::list(&selector["matchExpressions"])
        .iter()
        .map(|one| {
            let values: Vec<&str> = super::row::list(&one["values"]).iter().map(text).collect();
            format!(
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                text(&one["key"]),
                text(&one["operator"]),
                values.join(" "),
            )
        });
    let expressions: String = expressions.collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

pub(super) const API_SERVICES: Printer = Printer {
    columns: &[
        NAME,
        column("Service", "The service that serves this version."),
        column("Available", "Whether it can be reached."),
        AGE,
    ],
    cells: |row| {
        let service = match row.at("spec.service") {
            Value::Null => "Local".into(),
            of => format!("{}/{}", text(&of["namespace"]), text(&of["name"])),
        };
        let available = match row.condition("Available") {
            None => "Unknown".into(),
            Some(one) => match (text(&one["status"]), text(&one["reason"])) {
                (status @ "True", _) | (status, "") => status.to_owned(),
                (status, reason) => format!("{status} ({reason})"),
            },
        };
        cells![row.name(), service, available, row.age()]
    },
};
