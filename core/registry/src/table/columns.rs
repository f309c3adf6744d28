//! Columns of built-in kinds.

use serde_json::{Value, json};

use super::row::Row;

/// How objects of a built-in kind are shown.
pub(super) struct Printer {
    /// The columns.
    pub(super) columns: &'static [Column],
    /// One cell for each of them.
    pub(super) cells: fn(&Row<'_>) -> Vec<Value>,
}

/// A column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    kind: &'static str,
    format: &'static str,
    description: &'static str,
    priority: u8,
}

impl Column {
    const fn of(name: &'static str, kind: &'static str, description: &'static str) -> Self {
        Self {
            name,
            kind,
            format: "",
            description,
            priority: 0,
        }
    }

    /// The same column, shown only with `-o wide`.
    pub(super) const fn wide(self) -> Self {
        Self {
            priority: 1,
            ..self
        }
    }

    /// The same column for names: with `-o name` and the like its cells are what is meant.
    pub(super) const fn naming(self) -> Self {
        Self {
            format: "name",
            ..self
        }
    }

    /// The column as it is written in tables.
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }
}

pub(super) const fn text(name: &'static str, description: &'static str) -> Column {
    Column::of(name, "string", description)
}

pub(super) const fn integer(name: &'static str, description: &'static str) -> Column {
    Column::of(name, "integer", description)
}

pub(super) const fn boolean(name: &'static str, description: &'static str) -> Column {
    Column::of(name, "boolean", description)
}

pub(super) const fn date(name: &'static str, description: &'static str) -> Column {
    Column::of(name, "date", description)
}

/// What the column of names says about itself.
pub(super) const NAME_DESCRIPTION: &str =
    "The name, unique among objects of this kind in its namespace.";
/// What the column of ages says about itself.
pub(super) const AGE_DESCRIPTION: &str = "How long ago the object was created.";

pub(super) const NAME: Column = text("Name", NAME_DESCRIPTION).naming();
pub(super) const AGE: Column = text("Age", AGE_DESCRIPTION);
pub(super) const CONTAINERS: Column =
    text("Containers", "The names of the template's containers.").wide();
pub(super) const IMAGES: Column = text("Images", "The images of the template's containers.").wide();
pub(super) const SELECTOR: Column =
    text("Selector", "Which pods belong to it, by their labels.").wide();

/// One cell for each column.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { vec![$(serde_json::Value::from($cell)),*] };
}
pub(super) use cells;
