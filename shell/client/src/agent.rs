//! How this program introduces itself.

/// The user agent of one named client, in upstream's form:
/// `<program>/<version> (<os>/<arch>) kubernetes/<commit>/<client>`.
pub fn user_agent(program: &str, version: &str, client: &str) -> String {
    // Upstream prints Go's names for operating system and architecture.
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{program}/{version} ({os}/{arch}) kubernetes/unknown/{client}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_program_version_platform_and_client() {
        let agent = super::user_agent("flyball", "v0.1.0", "replicaset-controller");
        assert!(agent.starts_with("flyball/v0.1.0 ("), "{agent}");
        assert!(
            agent.ends_with(" kubernetes/unknown/replicaset-controller"),
            "{agent}"
        );
    }
}
