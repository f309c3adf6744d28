//! `/version`: which version of Kubernetes this server behaves as.

use serde_json::{Value, json};

/// The document. Clients read the numbers from `gitVersion`; the suffix says who is behind it.
pub fn version() -> Value {
    let platform = match (cfg!(target_os = "macos"), cfg!(target_arch = "aarch64")) {
        (false, false) => "linux/amd64",
        (false, true) => "linux/arm64",
        (true, false) => "darwin/amd64",
        (true, true) => "darwin/arm64",
    };
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.4+flyball",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": platform,
    })
}
