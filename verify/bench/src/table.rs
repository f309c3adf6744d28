//! Plain-text tables: the first column to the left, numbers to the right.

/// A table under construction.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new(heads: &[&str]) -> Self {
        Self {
            rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()],
        }
    }

    /// Adds a row; missing cells stay empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as Markdown, which terminals and documents both show well.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
        let width = |column: usize| {
            let widths = self
                .rows
                .iter()
                .map(|row| cell(row, column).chars().count());
            widths.max().unwrap_or(0).max(3)
        };
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for column in 0..columns {
                let (value, width) = (cell(row, column), width(column));
                match column {
                    0 => text.push_str(&format!("| {value:<width$} |")),
                    _ => text.push_str(&format!(" {value:>width$} |")),
                }
            }
            text.push('\n');
            if number == 0 {
                for column in 0..columns {
                    let line = "-".repeat(width(column));
                    match column {
                        0 => text.push_str(&format!("|-{line}-|")),
                        _ => text.push_str(&format!("-{line}:|")),
                    }
                }
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["kind", "bytes"]);
        table.row(vec!["Deployment".into(), "1".into()]);
        table.row(vec!["Pod".into()]);
        let expected = "\
| kind       | bytes |
|------------|------:|
| Deployment |     1 |
| Pod        |       |
";
        assert_eq!(table.render(), expected);
    }
}
