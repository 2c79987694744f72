//! The check, before deployment, that this machine can build a scenario.

use std::fs;
use std::path::Path;

use nix::unistd::Uid;

use crate::error::LabError;
use crate::plan::is_coupled;
use crate::scenario::{Host, Mode, Scenario};

/// Checks that this machine can build `scenario`, before anything is made.
pub(crate) fn check(scenario: &Scenario) -> Result<(), LabError> {
    if !Uid::effective().is_root() {
        let what = "labs are made of network namespaces, and only root can make those";
        return Err(LabError::missing(what, "run this as root, for example with sudo"));
    }
    if needs_mptcp(scenario) && !Path::new("/proc/sys/net/mptcp").exists() {
        let what = format!("scenario {:?} needs Multipath TCP, and this kernel has none", scenario.name);
        return Err(LabError::missing(what, "use a kernel of 5.6 or later built with CONFIG_MPTCP"));
    }
    scenario.topology.hosts.iter().try_for_each(check_congestion_control)
}

fn needs_mptcp(scenario: &Scenario) -> bool {
    let modes = scenario.traffic.as_ref().is_some_and(|traffic| traffic.modes.contains(&Mode::Mptcp));
    modes || scenario.topology.hosts.iter().any(|host| host.mptcp.used)
}

// A namespace may only use the congestion controls that the first one allows, which the lab must not change.
fn check_congestion_control(host: &Host) -> Result<(), LabError> {
    // Coupled congestion controls are always allowed.
    let Some(wanted) = host.congestion_control.as_ref().filter(|name| !is_coupled(name)) else {
        return Ok(());
    };
    let path = Path::new("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    let allowed = fs::read_to_string(path).map_err(|error| LabError::file(path, error))?;
    if allowed.split_whitespace().any(|name| name == wanted) {
        return Ok(());
    }
    let allowed = allowed.trim();
    let what = format!(
        "host {} wants congestion control {wanted}, and this machine allows only: {allowed}",
        host.name
    );
    let remedy = format!(
        "name one of these, or allow it with `sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{allowed} {wanted}\"`"
    );
    Err(LabError::missing(what, remedy))
}
