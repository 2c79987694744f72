//! The features that labs need or can use, with purpose and remedy.

use super::report::{Check, Finding, State};

/// A feature of a machine with its purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requirement {
    pub(super) name: &'static str,
    needed: bool,
    purpose: &'static str,
    fix: Fix,
}

/// The remedy for a missing feature.
#[derive(Clone, Copy, Debug)]
enum Fix {
    Do(&'static str),
    /// The name of a Debian package.
    Install(&'static str),
}

use Fix::{Do, Install};

impl Requirement {
    /// A feature without which no lab works.
    const fn needed(name: &'static str, purpose: &'static str, fix: Fix) -> Self {
        Self { name, needed: true, purpose, fix }
    }

    /// A feature without which only its purpose is lost.
    const fn optional(name: &'static str, purpose: &'static str, fix: Fix) -> Self {
        Self { name, needed: false, purpose, fix }
    }

    /// Combines the feature with the result of its probe.
    pub(super) fn check(&self, finding: Finding) -> Check {
        let Finding { state, detail, fix } = finding;
        let fix = (state != State::Ok).then(|| fix.unwrap_or_else(|| self.fix.text()));
        Check { name: self.name, state, needed: self.needed, purpose: self.purpose, detail, fix }
    }
}

impl Fix {
    fn text(self) -> String {
        match self {
            Do(text) => text.to_owned(),
            Install(package) => format!("apt install {package}"),
        }
    }
}

pub(super) const ROOT: Requirement = Requirement::needed(
    "root",
    "namespaces, links and switches",
    Do("run this as root, for example with sudo"),
);

pub(super) const KERNEL: Requirement = Requirement::needed("kernel", "everything", Do("mount /proc"));

pub(super) const NAMESPACES: Requirement = Requirement::needed(
    "network-namespaces",
    "hosts",
    Do("use a kernel with CONFIG_NET_NS; in a container, grant CAP_SYS_ADMIN and CAP_NET_ADMIN"),
);

pub(super) const VETH: Requirement =
    Requirement::needed("veth", "links", Do("use a kernel with CONFIG_VETH"));

pub(super) const TBF: Requirement =
    Requirement::needed("qdisc-tbf", "the rate of links", Do("use a kernel with CONFIG_NET_SCH_TBF"));

pub(super) const HTB: Requirement =
    Requirement::optional("qdisc-htb", "queues of switch ports", Do("use a kernel with CONFIG_NET_SCH_HTB"));

pub(super) const NETEM: Requirement = Requirement::optional(
    "qdisc-netem",
    "the delay and loss of links, which Braid makes in user space without it",
    Do("use a kernel with CONFIG_NET_SCH_NETEM"),
);

pub(super) const VXLAN: Requirement = Requirement::optional(
    "vxlan",
    "links that are tunnels",
    Do("load it with `modprobe vxlan`, or use a kernel with CONFIG_VXLAN"),
);

pub(super) const PACKET_RING: Requirement = Requirement::optional(
    "user-space-links",
    "the delay, jitter and loss of links without netem",
    Do("use a kernel of 5.11 or later with CONFIG_PACKET, and run this as root"),
);

pub(super) const MPTCP: Requirement = Requirement::needed(
    "mptcp",
    "transfers over several paths",
    Do("use a kernel of 5.6 or later with CONFIG_MPTCP"),
);

pub(super) const USER_SPACE_PATH_MANAGER: Requirement = Requirement::optional(
    "mptcp-user-space",
    "subflows that an agent on the host opens",
    Do("use a kernel of 5.19 or later"),
);

pub(super) const IP_MPTCP: Requirement =
    Requirement::needed("ip-mptcp", "the MPTCP endpoints of hosts", Do("use iproute2 5.8 or later"));

pub(super) const LOCAL_PORTS: Requirement = Requirement::optional(
    "local-ports",
    "subflows that an agent opens as advised, so that none waits for the controller",
    Do("sysctl -w net.ipv4.ip_local_port_range='32768 60999'"),
);

pub(super) const CONGESTION_CONTROL: Requirement =
    Requirement::optional("congestion-control", "how hosts share links", Do("mount /proc"));

pub(super) const BTF: Requirement =
    Requirement::optional("btf", "congestion control in BPF", Do("use a kernel with CONFIG_DEBUG_INFO_BTF"));

pub(super) const OVS_KERNEL: Requirement = Requirement::optional(
    "openvswitch-kernel",
    "faster switches outside of labs; those in labs run in user space",
    Do("load the module openvswitch"),
);

pub(super) const OVS_SCHEMA: Requirement =
    Requirement::needed("openvswitch-schema", "the switches' database", Install("openvswitch-switch"));

/// Programs with the arguments that print their versions.
pub(super) const PROGRAMS: &[(Requirement, &[&str])] = &[
    (Requirement::needed("ovs-vswitchd", "switches", Install("openvswitch-switch")), LONG),
    (Requirement::needed("ovsdb-server", "the switches' database", Install("openvswitch-switch")), LONG),
    (Requirement::needed("ovsdb-tool", "the switches' database", Install("openvswitch-switch")), LONG),
    (Requirement::needed("ovs-vsctl", "setting up switches", Install("openvswitch-switch")), LONG),
    (Requirement::needed("ovs-ofctl", "looking into switches", Install("openvswitch-switch")), LONG),
    (Requirement::needed("ip", "namespaces, links and addresses", Install("iproute2")), SHORT),
    (Requirement::needed("tc", "the rate of links", Install("iproute2")), SHORT),
    (
        Requirement::needed("ss", "waiting for servers, and the subflows of transfers", Install("iproute2")),
        SHORT,
    ),
    (Requirement::needed("ethtool", "checksums over links", Install("ethtool")), LONG),
    (Requirement::needed("ping", "seeing that hosts reach each other", Install("iputils-ping")), SHORT),
    (Requirement::needed("iperf3", "traffic", Install("iperf3")), LONG),
    (Requirement::needed("mptcpize", "MPTCP for programs that do not know it", Install("mptcpize")), LONG),
    (
        Requirement::optional(
            "ovs-pki",
            "certificates for OpenFlow over TLS outside of labs",
            Install("openvswitch-common"),
        ),
        LONG,
    ),
    (Requirement::optional("etcd", "labs with several controllers", Install("etcd-server")), LONG),
    (Requirement::optional("tcpdump", "capturing packets", Install("tcpdump")), LONG),
    (Requirement::optional("tshark", "reading captures", Install("tshark")), LONG),
];

const LONG: &[&str] = &["--version"];
const SHORT: &[&str] = &["-V"];
