//! The check, before deployment, that this machine can build a scenario.

use std::path::Path;

use nix::unistd::Uid;

use crate::controller::Control;
use crate::doctor;
use crate::error::LabError;
use crate::plan::is_coupled;
use crate::scenario::{Host, Mode, Scenario};
use crate::system::{Tool, kernel};

/// The congestion controls of the HTTP/3 server.
const QUIC_CONTROLS: [&str; 2] = ["cubic", "bbr"];

/// Checks that this machine can build `scenario` with this control, before anything is made.
pub(crate) fn check(scenario: &Scenario, control: &Control) -> Result<(), LabError> {
    if !Uid::effective().is_root() {
        let what = "labs are made of network namespaces, and only root can make those";
        return Err(LabError::missing(what, "run this as root, for example with sudo"));
    }
    if needs_mptcp(scenario) && !Path::new("/proc/sys/net/mptcp").exists() {
        let what = format!("scenario {:?} needs Multipath TCP, and this kernel has none", scenario.name);
        return Err(LabError::missing(what, "use a kernel of 5.6 or later built with CONFIG_MPTCP"));
    }
    if scenario.topology.links.iter().any(|link| link.tunnel) && !doctor::has_vxlan() {
        let what = format!("scenario {:?} has VXLAN tunnels, and this kernel makes none", scenario.name);
        return Err(LabError::missing(
            what,
            "load the module with `modprobe vxlan`, or use a kernel with CONFIG_VXLAN",
        ));
    }
    if scenario.controllers > 1 && matches!(control, Control::Braid(_)) {
        // Members share an etcd. An error names its package.
        Tool::unmarked("etcd").arg("--version").run()?;
    }
    scenario.topology.hosts.iter().try_for_each(check_congestion_control)
}

/// Checks that this machine has the tools for the traffic of `scenario`.
pub(crate) fn check_traffic(scenario: &Scenario) -> Result<(), LabError> {
    if !scenario.traffic.as_ref().is_some_and(|traffic| traffic.has_mode(Mode::Quic)) {
        return Ok(());
    }
    let mut controls = scenario.topology.hosts.iter().filter_map(|host| host.congestion_control.as_deref());
    if let Some(other) = controls.find(|control| !QUIC_CONTROLS.contains(control)) {
        let what = format!("the HTTP/3 server has no congestion control {other}");
        return Err(LabError::missing(what, format!("name one of {}", QUIC_CONTROLS.join(" and "))));
    }
    // An error says how to get them.
    let programs = ["tquic_client", "tquic_server"].into_iter();
    programs.map(Tool::unmarked).try_for_each(|tool| tool.arg("--version").run().map(drop))
}

fn needs_mptcp(scenario: &Scenario) -> bool {
    let modes = scenario.traffic.as_ref().is_some_and(|traffic| traffic.has_mode(Mode::Mptcp));
    modes || scenario.topology.hosts.iter().any(|host| host.mptcp.used)
}

fn check_congestion_control(host: &Host) -> Result<(), LabError> {
    // An agent loads coupled ones.
    let Some(wanted) = host.congestion_control.as_ref().filter(|name| !is_coupled(name)) else {
        return Ok(());
    };
    let controls = kernel::controls();
    if controls.split_whitespace().any(|name| name == wanted) {
        return Ok(());
    }
    let what =
        format!("host {} wants congestion control {wanted}, and this kernel has only: {controls}", host.name);
    let remedy = format!("name one of these, or load it with `modprobe tcp_{wanted}`");
    Err(LabError::missing(what, remedy))
}
