//! What `--help` and `--version` print.

use super::flags::Flag;
use super::value::Kind;

/// The Kubernetes release whose controller manager this program stands in for.
pub const KUBERNETES_VERSION: &str = "v1.36.4";

pub(super) const ABOUT: &str = "\
The Flyball controller manager watches a Kubernetes cluster through its API server and\n\
moves what is there towards what was asked for. It takes the flags of\n\
kube-controller-manager; a flag that has no effect here is accepted, and a warning at the\n\
start says why.";

/// The default as help texts show it: nothing if it is the type's zero, quoted if it is text.
pub(super) fn default_note(flag: &Flag) -> String {
    match (flag.kind, flag.default) {
        (_, "" | "0" | "0s" | "false") => String::new(),
        (Kind::Text, default) => format!(" (default {default:?})"),
        (Kind::TextList, default) => format!(" (default [{default}])"),
        (_, default) => format!(" (default {default})"),
    }
}

/// What `--version` prints, if it was given and asks for anything.
///
/// The first word and the version that follows are those of upstream, so that scripts which cut
/// them out work.
pub(super) fn version_text(given: Option<&String>) -> Result<Option<String>, String> {
    let short = format!(
        "Kubernetes {KUBERNETES_VERSION} (flyball {})",
        env!("CARGO_PKG_VERSION")
    );
    match given.map(String::as_str) {
        None | Some("false") => Ok(None),
        Some("true") => Ok(Some(short + "\n")),
        Some("raw") => Ok(Some(format!(
            "{short}, {} {}\n",
            std::env::consts::OS,
            std::env::consts::ARCH
        ))),
        Some(other) => Err(format!(
            "invalid argument {other:?} for \"--version\" flag: neither true, false nor raw"
        )),
    }
}
