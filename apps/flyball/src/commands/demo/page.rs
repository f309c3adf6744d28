//! The page that the tour is written on: columns, colours, and lines of a readable length.

use std::io::{self, Write};
use std::time::Duration;

use super::narration::Said;

/// How long a line may be where nobody says how wide the page is.
const WIDTH: usize = 100;

/// Lines longer than this are hard to read, and shorter than this they are too many.
const WIDTHS: std::ops::RangeInclusive<usize> = 70..=120;

/// Where the story begins, right of time, desired and actual.
const STORY: usize = 28;

/// How a stretch of text looks where colours are shown.
#[derive(Clone, Copy)]
pub(super) enum Style {
    Bold,
    Dim,
    Controller,
    Good,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Controller => "\x1b[36m",
            Self::Good => "\x1b[32m",
        }
    }
}

/// Whether to use colours: on a terminal, unless it cannot or somebody asked for none.
pub(super) fn wants_colours(is_terminal: bool, term: Option<&str>, no_color: Option<&str>) -> bool {
    let asked_for_none = no_color.is_some_and(|value| !value.is_empty());
    is_terminal && !asked_for_none && term != Some("dumb")
}

/// Writes the page.
pub(super) struct Page<W> {
    out: W,
    colours: bool,
    width: usize,
    /// What stands left of the story in the last row; it is not repeated.
    left: String,
}

impl<W: Write> Page<W> {
    /// A page of so many columns, if that is known.
    pub(super) fn new(out: W, colours: bool, width: Option<usize>) -> Self {
        let width = width.unwrap_or(WIDTH);
        Self {
            out,
            colours,
            width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            left: String::new(),
        }
    }

    /// A paragraph.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let lines = text.lines().flat_map(|line| wrap(line, self.width));
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }

    /// An empty line.
    pub(super) fn gap(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// The head of a step: its number and title, what is about to happen, and the columns.
    pub(super) fn head(&mut self, number: usize, title: &str, story: &str) -> io::Result<()> {
        let title = self.styled(Style::Bold, &format!("{number}. {title}"));
        writeln!(self.out, "\n{title}")?;
        self.text(story)?;
        let columns = format!("\n{:>8}  {:^7}  {:<7}", "time", "desired", "actual");
        let columns = self.styled(Style::Dim, columns.trim_end());
        self.left.clear();
        writeln!(self.out, "{columns}")
    }

    /// A row: when, what is wanted, what there is, and what somebody did about it.
    pub(super) fn row(
        &mut self,
        at: Duration,
        desired: usize,
        actual: &str,
        said: &Said,
    ) -> io::Result<()> {
        let who = match said.who.as_str() {
            "you" => Style::Bold,
            _ => Style::Controller,
        };
        let seconds = at.as_secs_f64();
        let left = format!("{seconds:>6.2} s  {desired:^7}  {actual:<9}");
        let shown = match left == self.left {
            true => " ".repeat(left.chars().count()),
            false => left.clone(),
        };
        self.left = left;
        let said_what = format!("{} {}", said.who, said.what);
        for (i, line) in wrap(&said_what, self.width - STORY).into_iter().enumerate() {
            match (i, line.strip_prefix(said.who.as_str())) {
                (0, Some(rest)) => {
                    let name = self.styled(who, &said.who);
                    writeln!(self.out, "{shown} {name}{rest}")?;
                }
                (0, None) => writeln!(self.out, "{shown} {line}")?,
                _ => writeln!(self.out, "{:STORY$}  {line}", "")?,
            }
        }
        if said.why.is_empty() {
            return self.out.flush();
        }
        let why = format!("because {}", said.why);
        for line in wrap(&why, self.width - STORY - 2) {
            let line = self.styled(Style::Dim, &line);
            writeln!(self.out, "{:STORY$}  {line}", "")?;
        }
        self.out.flush()
    }

    /// The end of a step.
    pub(super) fn reached(&mut self, what: &str) -> io::Result<()> {
        let done = self.styled(Style::Good, what);
        writeln!(self.out, "{:STORY$} {done}", "")?;
        self.out.flush()
    }

    fn styled(&self, style: Style, text: &str) -> String {
        match self.colours {
            true => format!("{}{text}\x1b[0m", style.code()),
            false => text.to_owned(),
        }
    }
}

/// Breaks text into lines of at most so many characters, between words; a longer word stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrap("incomprehensible, no?", 7),
            ["incomprehensible,", "no?"]
        );
        assert_eq!(wrap("", 7), [""]);
    }

    #[test]
    fn colours_are_for_terminals_that_were_not_asked_to_do_without() {
        assert!(wants_colours(true, Some("xterm"), None));
        assert!(wants_colours(true, None, Some("")));
        assert!(!wants_colours(true, Some("xterm"), Some("1")));
        assert!(!wants_colours(true, Some("dumb"), None));
        assert!(!wants_colours(false, Some("xterm"), None));
    }

    #[test]
    fn a_row_keeps_to_its_columns_and_to_the_width() {
        let said = Said {
            who: "replicaset-controller".to_owned(),
            what: "creates pods rf9kq, jxj7t, 765gm".to_owned(),
            why: "too few pods: desired 3, active 0; waits for 3 created pods to become ready"
                .to_owned(),
        };
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, false, Some(80));
        page.row(Duration::from_millis(42), 3, "○ ○ ○", &said)
            .unwrap();
        let again = Said {
            why: String::new(),
            what: "rests".to_owned(),
            ..said
        };
        page.row(Duration::from_millis(43), 3, "○ ○ ○", &again)
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        let want = [
            "  0.04 s     3     ○ ○ ○     replicaset-controller creates pods rf9kq, jxj7t,",
            "                              765gm",
            "                              because too few pods: desired 3, active 0; waits",
            "                              for 3 created pods to become ready",
            "                             replicaset-controller rests",
            "",
        ];
        assert_eq!(text.split('\n').collect::<Vec<_>>(), want);
    }
}
