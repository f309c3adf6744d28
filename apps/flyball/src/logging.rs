//! Logs, as users of upstream's components know them.
//!
//! Two shapes, chosen by `--logging-format`: klog's text (`I1116 03:14:30.123456    1234
//! file.rs:12] "message" key="value"`) and one JSON object per line with upstream's keys. Both go
//! to stderr, one write per message.
//!
//! How much is logged follows `-v` and `--vmodule`. tracing's levels stand for upstream's
//! verbosities:
//!
//! | level | our code | libraries we use |
//! |---|---|---|
//! | error, warn | always | always |
//! | info | `-v=0`: what an operator should know | `-v=2` |
//! | debug | `-v=2`: each step of the work | `-v=8` |
//! | trace | `-v=4`: the reasons behind each step | `-v=10` |
//!
//! Conventions for fields: `err` (or `error`) is the cause, `logger` names the part of the program,
//! and the fields of the spans around a message are printed with it. Warnings and errors that
//! repeat word for word are printed three times in ten seconds; the others are counted, and the
//! count is printed when the ten seconds are over. Times are UTC.

mod fields;
mod json;
mod repeats;
mod text;
mod verbosity;

use std::io::{Stderr, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as SpanRecord};
use tracing::subscriber::{Interest, SetGlobalDefaultError};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::options::{LogFormat, Logging};
use fields::{FieldValue, Fields};
use repeats::{Repeats, Verdict};
pub use verbosity::Verbosity;

/// Sends everything logged from now on to stderr. The returned handle changes the verbosity while
/// the program runs.
///
/// # Errors
/// If logging was started before in this process.
pub fn start(options: &Logging) -> Result<Verbosity, SetGlobalDefaultError> {
    let verbosity = Verbosity::new(options.verbosity, &options.module_levels);
    let sink = Sink::new(
        options.format,
        verbosity.clone(),
        std::io::stderr(),
        SystemTime::now,
    );
    tracing::subscriber::set_global_default(Registry::default().with(sink))?;
    Ok(verbosity)
}

/// How serious a message is; the letter that begins a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Info,
    Warning,
    Error,
}

/// One message with everything that is printed of it.
#[derive(Debug)]
struct Message {
    /// Microseconds since 1970.
    time_us: i64,
    severity: Severity,
    /// The verbosity from which it is printed.
    v: u32,
    /// Its source file, as the compiler names it.
    file: &'static str,
    line: u32,
    text: String,
    err: Option<String>,
    logger: Option<String>,
    fields: Vec<(&'static str, FieldValue)>,
}

/// The tracing layer that formats and writes.
struct Sink<W = Stderr> {
    format: LogFormat,
    verbosity: Verbosity,
    pid: u32,
    now: fn() -> SystemTime,
    out: Mutex<Out<W>>,
}

struct Out<W> {
    writer: W,
    repeats: Repeats,
}

impl<W: Write> Sink<W> {
    fn new(format: LogFormat, verbosity: Verbosity, writer: W, now: fn() -> SystemTime) -> Self {
        let out = Mutex::new(Out {
            writer,
            repeats: Repeats::default(),
        });
        Self {
            format,
            verbosity,
            pid: std::process::id(),
            now,
            out,
        }
    }

    fn render(&self, message: &Message) -> String {
        match self.format {
            LogFormat::Text => text::render(message, self.pid),
            LogFormat::Json => json::render(message),
        }
    }

    fn write(&self, message: &Message) {
        let now_ms = message.time_us / 1000;
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for repeated in out.repeats.take_over(now_ms) {
            let summary = summary(message.time_us, repeated);
            let line = self.render(&summary);
            out.write_line(&line);
        }
        if message.severity != Severity::Info {
            let verdict = out
                .repeats
                .judge(message.severity, &text::body(message), now_ms);
            if verdict == Verdict::Count {
                return;
            }
        }
        let line = self.render(message);
        out.write_line(&line);
    }
}

impl<W: Write> Out<W> {
    fn write_line(&mut self, line: &str) {
        // There is nowhere to tell that stderr is gone.
        let _ = self.writer.write_all(line.as_bytes());
    }
}

/// The message that says how often another one was not printed.
fn summary(time_us: i64, repeated: repeats::Repeated) -> Message {
    Message {
        time_us,
        severity: repeated.severity,
        v: 0,
        file: file!(),
        line: line!(),
        text: "Message repeated".to_owned(),
        err: None,
        logger: None,
        fields: vec![
            ("times", FieldValue::Unsigned(repeated.count)),
            ("message", FieldValue::Text(repeated.body)),
        ],
    }
}

impl<S, W> Layer<S> for Sink<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + 'static,
{
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.verbosity.prints(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.verbosity.prints(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.verbosity.level_max())
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &SpanRecord<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context
            .event_scope(event)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .iter()
            .rev()
        {
            if let Some(outer) = span.extensions().get::<Fields>() {
                fields.absorb(outer);
            }
        }
        event.record(&mut fields);
        let metadata = event.metadata();
        let severity = match *metadata.level() {
            Level::ERROR => Severity::Error,
            Level::WARN => Severity::Warning,
            _ => Severity::Info,
        };
        let since_epoch = (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.write(&Message {
            time_us: i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX),
            severity,
            v: verbosity::threshold(metadata),
            file: metadata.file().unwrap_or("unknown"),
            line: metadata.line().unwrap_or_default(),
            text: fields.message.unwrap_or_default(),
            err: fields.err,
            logger: fields.logger,
            fields: fields.others,
        });
    }
}

/// The last part of a source path; with its folder where the name alone says nothing.
fn short_file(path: &str) -> &str {
    let mut parts = path.rmatch_indices('/').map(|(at, _)| at);
    let Some(last) = parts.next() else {
        return path;
    };
    match &path[last + 1..] {
        "mod.rs" | "lib.rs" | "main.rs" => parts.next().map_or(path, |at| &path[at + 1..]),
        name => name,
    }
}

#[cfg(test)]
mod tests;
