//! Who may do what: bindings, accounts, secrets, certificate signing requests.

use serde_json::Value;

use super::age;
use super::columns::{AGE, Column, NAME, Printer, cells, text as column};
use super::row::{Row, text};

/// Bindings of roles, in a namespace or in all.
pub(super) const ROLE_BINDINGS: Printer = Printer {
    columns: &[
        NAME,
        column("Role", "The role that is given."),
        AGE,
        USERS,
        column("Groups", "The groups that it is given to.").wide(),
        column(
            "ServiceAccounts",
            "The service accounts that it is given to.",
        )
        .wide(),
    ],
    cells: |row| {
        let role = format!("{}/{}", row.text("roleRef.kind"), row.text("roleRef.name"));
        cells![
            row.name(),
            role,
            row.age(),
            subjects(row, "User"),
            subjects(row, "Group"),
            subjects(row, "ServiceAccount"),
        ]
    },
};

const USERS: Column = column("Users", "The users that it is given to.").wide();

fn subjects(row: &Row<'_>, kind: &str) -> String {
    let subjects = row
        .list("subjects")
        .iter()
        .filter(|subject| subject["kind"] == kind);
    let shown = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
        _ => text(&subject["name"]).to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

pub(super) const SERVICE_ACCOUNTS: Printer = Printer {
    columns: &[NAME, AGE],
    cells: |row| cells![row.name(), row.age()],
};

pub(super) const SECRETS: Printer = Printer {
    columns: &[
        NAME,
        column("Type", "What it is for."),
        column("Data", "How many entries it has."),
        AGE,
    ],
    cells: |row| cells![row.name(), row.text("type"), row.count("data"), row.age()],
};

pub(super) const CERTIFICATE_SIGNING_REQUESTS: Printer = Printer {
    columns: &[
        NAME,
        AGE,
        column("SignerName", "Who is asked to sign."),
        column("Requestor", "Who asks."),
        column(
            "RequestedDuration",
            "How long the certificate should be valid.",
        ),
        column("Condition", "How far it has come."),
    ],
    cells: |row| {
        let duration = row.at("spec.expirationSeconds").as_i64();
        cells![
            row.name(),
            row.age(),
            row.filled_or("spec.signerName", "<none>"),
            row.text("spec.username"),
            duration.map_or_else(|| "<none>".into(), age::human),
            signing_status(row),
        ]
    },
};

fn signing_status(row: &Row<'_>) -> String {
    let has = |of: &str| row.condition(of).is_some();
    let decision = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = match row.at("status.certificate") {
        Value::String(certificate) if !certificate.is_empty() => ",Issued",
        _ => "",
    };
    format!("{decision}{failed}{issued}")
}
