//! The figures of all rounds as one table, and the limits they are held against.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::contest::Contender;
use crate::measure::{AUDITED, Figures};
use crate::table::Table;

/// Figures that have a limit relative to the first manager's.
pub(crate) type Limits = &'static [(&'static str, f64)];

/// All figures of all managers.
pub(crate) struct Report {
    title: String,
    limits: Limits,
    columns: Vec<Column>,
}

struct Column {
    label: String,
    rounds: Vec<Figures>,
}

/// Whether one limit was kept.
pub(crate) struct Verdict {
    pub(crate) kept: bool,
    name: &'static str,
    ratio: Option<f64>,
    limit: f64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.kept { "kept " } else { "BROKEN" };
        let (name, limit) = (self.name, self.limit);
        match self.ratio {
            Some(ratio) => write!(
                f,
                "{word} {name}: {ratio:.2} of the first's, limit {limit:.2}"
            ),
            None => write!(f, "{word} {name}: not measured"),
        }
    }
}

impl Report {
    pub(crate) fn new(title: String, limits: Limits, contenders: &[Contender]) -> Self {
        let column = |contender: &Contender| Column {
            label: contender.label.clone(),
            rounds: Vec::new(),
        };
        Self {
            title,
            limits,
            columns: contenders.iter().map(column).collect(),
        }
    }

    /// Adds a round of the manager in column `at`.
    pub(crate) fn add(&mut self, at: usize, figures: Figures) {
        self.columns[at].rounds.push(figures);
    }

    pub(crate) fn render(&self) -> String {
        let rounds = self
            .columns
            .iter()
            .map(|column| column.rounds.len())
            .max()
            .unwrap_or(0);
        let medians: Vec<Figures> = self.columns.iter().map(Column::medians).collect();
        format!(
            "{}, {rounds} round(s), medians\n\n{}",
            self.title,
            self.table(&medians, |name| name.to_owned())
        )
    }

    pub(crate) fn render_audit(&self, audited: &[Figures]) -> String {
        self.table(audited, |name| name.replace(AUDITED, ": "))
    }

    fn table(&self, columns: &[Figures], title: impl Fn(&str) -> String) -> String {
        let mut heads = vec![""];
        heads.extend(self.columns.iter().map(|column| column.label.as_str()));
        let compared = columns.len() > 1;
        if compared {
            heads.push("last/first");
        }
        let mut table = Table::new(&heads);
        for name in names(columns) {
            let values: Vec<Option<f64>> =
                columns.iter().map(|figures| figures.get(name)).collect();
            let mut row = vec![title(name)];
            row.extend(
                values
                    .iter()
                    .map(|value| value.map_or("–".into(), |v| print(name, v))),
            );
            if compared {
                let ratio = ratio(values[values.len() - 1], values[0]);
                row.push(match ratio {
                    Some(ratio) if ratio.is_finite() => format!("{ratio:.2}"),
                    Some(_) => "∞".to_owned(),
                    None => String::new(),
                });
            }
            table.row(row);
        }
        table.render()
    }

    /// Holds the last manager against the first.
    pub(crate) fn check(&self) -> Vec<Verdict> {
        let first = self
            .columns
            .first()
            .map(Column::medians)
            .unwrap_or_default();
        let last = self.columns.last().map(Column::medians).unwrap_or_default();
        let verdict = |(name, limit): &(&'static str, f64)| {
            let ratio = ratio(last.get(name), first.get(name));
            let kept = ratio.is_some_and(|ratio| ratio <= *limit);
            Verdict {
                kept,
                name,
                ratio,
                limit: *limit,
            }
        };
        self.limits.iter().map(verdict).collect()
    }

    pub(crate) fn to_json(&self, audited: &[Figures]) -> Value {
        let object = |figures: &Figures| -> Value {
            let pairs = figures
                .iter()
                .map(|(name, value)| (name.to_owned(), json!(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        let managers = self.columns.iter().enumerate().map(|(at, column)| {
            json!({
                "manager": column.label,
                "medians": object(&column.medians()),
                "rounds": column.rounds.iter().map(object).collect::<Vec<_>>(),
                "audited": audited.get(at).map(object),
            })
        });
        json!({
            "title": self.title,
            "managers": managers.collect::<Vec<_>>(),
        })
    }
}

impl Column {
    fn medians(&self) -> Figures {
        let mut medians = Figures::default();
        for name in names(&self.rounds) {
            let mut values: Vec<f64> = self
                .rounds
                .iter()
                .filter_map(|round| round.get(name))
                .collect();
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            let median = match values.len() % 2 {
                0 => (values[middle - 1] + values[middle]) / 2.0,
                _ => values[middle],
            };
            medians.put(name, median);
        }
        medians
    }
}

/// All names, in the order of the first that has them.
fn names(columns: &[Figures]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in columns.iter().flat_map(Figures::iter) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    match (value?, base?) {
        // Nothing beside nothing is no more than it.
        (0.0, 0.0) => Some(1.0),
        (value, base) => Some(value / base),
    }
}

/// The unit is the end of the name.
fn print(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with(" s") => format!("{value:.2}"),
        _ if name.ends_with(" MB") => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rounds: &[&[(f64, f64)]]) -> Report {
        let column = |(at, rounds): (usize, &&[(f64, f64)])| Column {
            label: at.to_string(),
            rounds: rounds
                .iter()
                .map(|(wall, cpu)| {
                    let mut figures = Figures::default();
                    figures.put("create: wall s", *wall);
                    figures.put("create: CPU s", *cpu);
                    figures
                })
                .collect(),
        };
        let columns = rounds.iter().enumerate().map(column).collect();
        Report {
            title: "work".to_owned(),
            limits: &[
                ("create: wall s", 1.10),
                ("create: CPU s", 0.30),
                ("create: RSS MB", 0.15),
            ],
            columns,
        }
    }

    #[test]
    fn the_table_shows_medians_and_the_last_beside_the_first() {
        let report = report(&[
            &[(9.0, 1.0), (1.0, 1.0), (2.0, 4.0)],
            &[(1.0, 0.2), (2.0, 0.4)],
        ]);
        let text = report.render();
        assert!(
            text.contains("| create: wall s | 2.00 | 1.50 |       0.75 |"),
            "{text}"
        );
        assert!(
            text.contains("| create: CPU s  | 1.00 | 0.30 |       0.30 |"),
            "{text}"
        );
    }

    #[test]
    fn a_limit_broken_or_not_measured_is_not_kept() {
        let verdicts = report(&[&[(1.0, 1.0)], &[(1.0, 0.5)]]).check();
        let kept: Vec<bool> = verdicts.iter().map(|verdict| verdict.kept).collect();
        assert_eq!(kept, [true, false, false]);
    }
}
