//! The kernel's congestion controls: those that it has, and those that it allows in namespaces.

use std::fs;

/// Those that the kernel has, by name.
pub(crate) fn controls() -> String {
    read("available")
}

/// Whether a namespace may have it as its default. It may have any other as a property of its routes.
pub(crate) fn allows_control(name: &str) -> bool {
    read("allowed").split_whitespace().any(|it| it == name)
}

fn read(which: &str) -> String {
    let path = format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control");
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
