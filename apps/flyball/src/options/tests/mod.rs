//! What users of upstream's program rely on, shown through the public entry
//! [`parse`](super::parse).

// Left as they are by rustfmt: expect-test cannot update what rustfmt has wrapped.
#[rustfmt::skip]
mod bad_values;
#[rustfmt::skip]
mod configuration_file;
mod manifests;
mod pflag_rules;
mod upstream_table;

use super::{Options, Request, parse};

/// The options of a command line that must be accepted.
fn accept(words: &[&str]) -> Options {
    match parse("kube-controller-manager", &owned(words)) {
        Ok(Request::Run(options)) => *options,
        Ok(Request::Print(text)) => panic!("printed instead of running: {text}"),
        Err(error) => panic!("{error}"),
    }
}

/// The error of a command line that must be refused.
fn refuse(words: &[&str]) -> String {
    match parse("kube-controller-manager", &owned(words)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{words:?} was accepted"),
    }
}

/// What a command line prints instead of running.
fn print(words: &[&str]) -> String {
    match parse("kube-controller-manager", &owned(words)) {
        Ok(Request::Print(text)) => text,
        other => panic!("{words:?} printed nothing but gave {other:?}"),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A file that lives as long as the test.
struct TempFile(std::path::PathBuf);

impl TempFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("flyball-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Nothing depends on the file being gone.
        let _ = std::fs::remove_file(&self.0);
    }
}
