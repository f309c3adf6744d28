//! Logs, metrics and profiles.

use super::{Effect, Group, flag};
use crate::options::value::Kind::{
    Bool, Duration, Level, ModuleLevels, Quantity, Text, TextList, TextMap,
};

const PROFILES: Effect = Effect::Nothing("profiling over HTTP is not built yet");
const METRICS_FIXED: Effect =
    Effect::Nothing("the set of metrics and labels cannot be changed yet");
const STREAMS: Effect =
    Effect::Nothing("every message goes to stderr at once, so there is nothing to buffer or split");

pub(super) const DEBUGGING: &Group = &Group {
    title: "Debugging flags",
    effect: PROFILES,
    flags: &[
        flag(
            Bool,
            "contention-profiling",
            "false",
            "Generic.Debugging.enableContentionProfiling",
            "Profile lock contention too, if profiling is on.",
        ),
        flag(
            Bool,
            "profiling",
            "true",
            "Generic.Debugging.enableProfiling",
            "Serve profiles under /debug/pprof/.",
        ),
    ],
};

pub(super) const METRICS: &Group = &Group {
    title: "Metrics flags",
    effect: METRICS_FIXED,
    flags: &[
        flag(
            TextMap,
            "allow-metric-labels",
            "",
            "Metrics.AllowMetricLabels",
            "Values a metric's label may take, the rest becoming 'unexpected': \
             metric,label=value1,value2.",
        ),
        flag(
            Text,
            "allow-metric-labels-manifest",
            "",
            "Metrics.AllowMetricLabelsManifest",
            "File with the same, under allowListMapping.",
        ),
        flag(
            TextList,
            "disabled-metrics",
            "",
            "Metrics.DisabledMetrics",
            "Full names of metrics to leave out.",
        ),
        flag(
            Text,
            "show-hidden-metrics-for-version",
            "",
            "Metrics.ShowHiddenMetricsForVersion",
            "Show the metrics hidden since this version; only the previous minor version (1.35) \
             makes sense.",
        ),
    ],
};

pub(super) const LOGS: &Group = &Group {
    title: "Logs flags",
    effect: Effect::Used,
    flags: &[
        flag(
            Duration,
            "log-flush-frequency",
            "5s",
            "Logging.flushFrequency",
            "How often buffered messages are written out.",
        )
        .effect(STREAMS),
        flag(
            Quantity,
            "log-json-info-buffer-size",
            "0",
            "Logging.options.json.infoBufferSize",
            "Bytes of JSON messages to hold back.",
        )
        .effect(STREAMS),
        flag(
            Bool,
            "log-json-split-stream",
            "false",
            "Logging.options.json.splitStream",
            "With JSON, errors to stderr and the rest to stdout.",
        )
        .effect(STREAMS),
        flag(
            Quantity,
            "log-text-info-buffer-size",
            "0",
            "Logging.options.text.infoBufferSize",
            "Bytes of text messages to hold back.",
        )
        .effect(STREAMS),
        flag(
            Bool,
            "log-text-split-stream",
            "false",
            "Logging.options.text.splitStream",
            "With text, errors to stderr and the rest to stdout.",
        )
        .effect(STREAMS),
        flag(
            Text,
            "logging-format",
            "text",
            "Logging.format",
            "Shape of log messages: text or json.",
        ),
        flag(
            Level,
            "v",
            "0",
            "Logging.verbosity",
            "How much to log: 0 what matters, 2 what happens, 4 why it happens, 8 every request.",
        ),
        flag(
            ModuleLevels,
            "vmodule",
            "",
            "Logging.vmodule",
            "Other levels for some source files: pattern=N,..., matched on the file's name without \
             .rs.",
        ),
    ],
};
