//! Progress on standard error: a bar on a terminal, plain lines anywhere else.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far a run has come.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A display that is empty so far.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let template = "{elapsed_precise} {bar:30} {pos:>6}/{len:6} {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar }
    }

    /// Begins a stretch of work with `length` steps.
    pub(crate) fn begin(&self, what: &str, length: usize) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(length as u64);
                bar.set_position(0);
                bar.set_message(what.to_owned());
            }
            // Nobody is harmed by a closed standard error.
            None => drop(writeln!(std::io::stderr(), "{what}")),
        }
    }

    /// Says how many steps of the present stretch are done.
    pub(crate) fn at(&self, position: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(position as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
