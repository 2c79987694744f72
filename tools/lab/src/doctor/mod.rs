//! The check of this machine's features for labs.
//!
//! Probes read the kernel's files, ask programs for their versions, and try network features in a temporary namespace.
//! Nothing else on the machine changes. Without root the report is incomplete.

mod command;
mod kernel;
mod programs;
mod report;
mod requirement;
mod sandbox;

pub use report::{Backends, Check, Report, State};

use requirement as needs;
use sandbox::Sandbox;

/// netem options for the probe, which every version has.
const NETEM_PROBE: &[&str] = &["delay", "1ms", "loss", "1%"];

/// Whether the kernel has VXLAN.
pub(crate) fn has_vxlan() -> bool {
    Sandbox::open().vxlan().state == State::Ok
}

/// Whether the kernel has netem, probed as in [`examine`].
pub(crate) fn has_netem() -> bool {
    let sandbox = Sandbox::open();
    sandbox.veth();
    sandbox.qdisc("netem", NETEM_PROBE).state == State::Ok
}

/// Probes this machine, which takes about a second.
pub fn examine() -> Report {
    let sandbox = Sandbox::open();
    let mut checks = vec![
        needs::ROOT.check(kernel::root()),
        needs::KERNEL.check(kernel::version()),
        needs::NAMESPACES.check(sandbox::named_namespace()),
        needs::VETH.check(sandbox.veth()),
        needs::TBF.check(sandbox.qdisc("tbf", &["rate", "1mbit", "burst", "16kb", "latency", "50ms"])),
        needs::HTB.check(sandbox.qdisc("htb", &["default", "1"])),
        needs::NETEM.check(sandbox.qdisc("netem", NETEM_PROBE)),
        needs::VXLAN.check(sandbox.vxlan()),
        needs::PACKET_RING.check(sandbox.user_space_link()),
        needs::MPTCP.check(kernel::mptcp()),
        needs::USER_SPACE_PATH_MANAGER.check(kernel::user_space_path_manager()),
        needs::IP_MPTCP.check(sandbox.ip_mptcp()),
        needs::LOCAL_PORTS.check(kernel::local_ports()),
        needs::CONGESTION_CONTROL.check(kernel::congestion_control()),
        needs::BTF.check(kernel::btf()),
        needs::OVS_KERNEL.check(kernel::open_vswitch_module()),
        needs::OVS_SCHEMA.check(kernel::open_vswitch_schema()),
    ];
    let programs = needs::PROGRAMS.iter();
    checks
        .extend(programs.map(|(needed, arguments)| needed.check(programs::version(needed.name, arguments))));
    Report::new(checks)
}
