//! Probes of the kernel: version, MPTCP, congestion controls, BTF and Open vSwitch.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use braid_types::ADVISED_PORTS;

use super::report::Finding;

const OVS_SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Whether the caller is root.
pub(super) fn root() -> Finding {
    match is_root() {
        Ok(true) => Finding::ok("yes"),
        Ok(false) => Finding::missing("no"),
        Err(error) => Finding::unusable(format!("/proc/self: {error}")),
    }
}

pub(super) fn is_root() -> io::Result<bool> {
    Ok(fs::metadata("/proc/self")?.uid() == 0)
}

/// The kernel's release.
pub(super) fn version() -> Finding {
    match read("/proc/sys/kernel/osrelease") {
        Ok(release) => Finding::ok(release),
        Err(error) => Finding::unusable(error),
    }
}

/// Whether it supports MPTCP. A disabled MPTCP is no obstacle: each namespace has a setting of its own.
pub(super) fn mptcp() -> Finding {
    match read("/proc/sys/net/mptcp/enabled").as_deref() {
        Ok("0") => Finding::ok("version 1; off outside of labs"),
        Ok(_) => Finding::ok("version 1"),
        Err(_) => Finding::missing("the kernel has none"),
    }
}

/// Whether it has a user-space path manager.
pub(super) fn user_space_path_manager() -> Finding {
    let listed = read("/proc/sys/net/mptcp/available_path_managers");
    // Kernels before 6.16 do not list path managers; those with `pm_type` have both.
    let older = Path::new("/proc/sys/net/mptcp/pm_type").exists();
    match listed.as_deref() {
        Ok(list) if list.split_whitespace().any(|name| name == "userspace") => {
            Finding::ok("path managers: ".to_owned() + list)
        }
        Ok(list) => Finding::missing("path managers: ".to_owned() + list),
        Err(_) if older => Finding::ok("path managers: kernel userspace"),
        Err(_) => Finding::missing("the kernel has none"),
    }
}

/// Whether the ports that connections get leave those of advised subflows free.
pub(super) fn local_ports() -> Finding {
    match read("/proc/sys/net/ipv4/ip_local_port_range") {
        Ok(range) => judge_ports(&range),
        Err(error) => Finding::unusable(error),
    }
}

fn judge_ports(range: &str) -> Finding {
    let last = range.split_whitespace().nth(1).and_then(|port| port.parse::<u16>().ok());
    match last {
        Some(last) if last < *ADVISED_PORTS.start() => Finding::ok(range.replace('\t', " to ")),
        Some(last) => Finding::unusable(format!("they reach {last}")),
        None => Finding::unusable(format!("cannot be read: {range}")),
    }
}

/// The congestion controls that hosts can have.
pub(super) fn congestion_control() -> Finding {
    let control = |what: &str| read(&format!("/proc/sys/net/ipv4/tcp_{what}congestion_control"));
    match (control("available_"), control("allowed_"), control("")) {
        (Ok(available), Ok(allowed), Ok(default)) => {
            Finding::ok(format!("{available}; in namespaces: {allowed}; default: {default}"))
        }
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => Finding::unusable(error),
    }
}

/// The kernel's type information (BTF), for BPF programs.
pub(super) fn btf() -> Finding {
    let path = "/sys/kernel/btf/vmlinux";
    if Path::new(path).exists() { Finding::ok(path) } else { Finding::missing(format!("no {path}")) }
}

/// Open vSwitch's kernel datapath.
pub(super) fn open_vswitch_module() -> Finding {
    let loaded = Path::new("/sys/module/openvswitch").exists();
    if loaded { Finding::ok("loaded") } else { Finding::missing("the kernel has it not, or not loaded") }
}

/// The schema of Open vSwitch's database.
pub(super) fn open_vswitch_schema() -> Finding {
    if Path::new(OVS_SCHEMA).exists() {
        Finding::ok(OVS_SCHEMA)
    } else {
        Finding::missing(format!("no {OVS_SCHEMA}"))
    }
}

fn read(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::report::State;
    use super::*;

    #[test]
    fn the_ports_of_advised_subflows_are_free_unless_the_range_reaches_them() {
        assert_eq!(judge_ports("32768\t60999"), Finding::ok("32768 to 60999"));
        for range in ["1024\t61440", "1024\t65535", "1024", ""] {
            assert_eq!(judge_ports(range).state, State::Unusable, "{range}");
        }
    }
}
