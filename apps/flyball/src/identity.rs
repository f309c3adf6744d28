//! Who this process is.

/// The version of the program.
pub const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The name of this machine, as the kernel has it.
pub fn hostname() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = read
        .map(|name| name.trim().to_owned())
        .or_else(|| std::env::var("HOSTNAME").ok());
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

/// An identity that no other candidate has or will have: `<hostname>_<uuid>`, as upstream's.
pub fn candidate() -> String {
    format!("{}_{}", hostname(), uuid::Uuid::new_v4())
}
