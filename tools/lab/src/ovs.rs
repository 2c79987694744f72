//! A private Open vSwitch for each lab: database, daemon, bridges and rules.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;

use braid_types::PortNo;
use serde::Deserialize;
use serde_json::Value;

use crate::certificates::{Certificates, Credentials};
use crate::error::LabError;
use crate::folder::Folder;
use crate::plan::{Commands, LinkPlan, Plan};
use crate::system::{Buffers, Marker, Namespace, Tool, enlarge_packet_sockets};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Socket buffers: each port receives a quarter of a second at 100 Mbit/s. All ports send by one socket, which has to hold
/// the queues of all links.
const SOCKET_BUFFERS: Buffers = Buffers { receive: 4 << 20, send: 512 << 20 };

/// A frame to a group address that no bridge forwards, with the EtherType of local experiments.
const FIRST_FRAME: &str = "0180c200000e02000000000188b5";

/// The Open vSwitch of one lab, with daemons, database and sockets of its own.
pub(crate) struct OpenVSwitch<'a> {
    folder: &'a Folder,
    marker: &'a Marker,
}

impl<'a> OpenVSwitch<'a> {
    pub(crate) fn new(folder: &'a Folder, marker: &'a Marker) -> Self {
        Self { folder, marker }
    }

    /// Starts the database and the switch daemon inside the fabric; both have detached when this returns.
    pub(crate) fn start(&self, fabric: &Namespace) -> Result<(), LabError> {
        if !Path::new(SCHEMA).exists() {
            let remedy = "install Open vSwitch, on Debian with `apt install openvswitch-switch`";
            return Err(LabError::missing(format!("{SCHEMA} is not there"), remedy));
        }
        let database = self.folder.ovs().join("conf.db");
        self.tool("ovsdb-tool").arg("create").arg(&database).arg(SCHEMA).run()?;
        let remote = format!("--remote=punix:{}", self.folder.database_socket().display());
        self.daemon("ovsdb-server").arg(&database).arg(remote).within(fabric).run()?;
        self.vsctl(["--no-wait", "init"])?;
        self.daemon("ovs-vswitchd").arg(self.database()).within(fabric).run()?;
        Ok(())
    }

    /// Makes every bridge in one transaction, and checks the port numbers.
    pub(crate) fn make_bridges(&self, plan: &Plan) -> Result<(), LabError> {
        self.vsctl(Commands(plan).bridges())?;
        self.check_ports(
            plan.bridges().flat_map(|switch| &switch.ports).map(|it| (it.device.as_str(), it.number)),
        )
    }

    /// Makes both ends of a link ports, in one transaction, and checks their numbers.
    pub(crate) fn add_ports(&self, link: &LinkPlan) -> Result<(), LabError> {
        self.vsctl(Commands::ports(link))?;
        self.check_ports(link.ends.iter().filter_map(|end| Some((end.device.as_str(), end.port?.1))))
    }

    /// Takes both ends of a link out of their bridges.
    pub(crate) fn remove_ports(&self, link: &LinkPlan) -> Result<(), LabError> {
        let words =
            link.ends.iter().flat_map(|end| ["--", "--if-exists", "del-port", &end.name, &end.device]);
        self.vsctl(words).map(drop)
    }

    fn check_ports<'p>(&self, wanted: impl Iterator<Item = (&'p str, PortNo)>) -> Result<(), LabError> {
        let listing = self.vsctl(["--format=json", "--columns=name,ofport,error", "list", "interface"])?;
        let found = ports(&listing).ok_or_else(|| {
            LabError::io("reading the ports of the switches", std::io::Error::other(listing.clone()))
        })?;
        for (device, number) in wanted {
            let state = found.get(device).map_or("it is not there", String::as_str);
            if state != number.to_string() {
                let what = format!("port {number} of the switches, device {device}");
                return Err(LabError::io(what, std::io::Error::other(state.to_owned())));
            }
        }
        Ok(())
    }

    /// Enlarges the sockets' buffers for frames that arrive while the switch daemon is busy, and for frames in the queues of
    /// links.
    ///
    /// Without it, frames are lost before the switches see them or before they are queued.
    pub(crate) fn deepen_buffers(&self, plan: &Plan) -> Result<(), LabError> {
        self.send_a_first_frame(plan)?;
        let path = self.folder.ovs().join("ovs-vswitchd.pid");
        let process = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
        let enlarged = process.map(|process| enlarge_packet_sockets(process, SOCKET_BUFFERS));
        if let Some(Err(error)) = enlarged {
            tracing::warn!(%error, "the switches' buffers stay small");
        }
        Ok(())
    }

    /// Makes the switch daemon send a first frame, since it opens its send socket only then.
    fn send_a_first_frame(&self, plan: &Plan) -> Result<(), LabError> {
        let ported = plan.bridges().find_map(|bridge| Some((bridge, bridge.ports.first()?)));
        let Some((bridge, port)) = ported else { return Ok(()) };
        let socket = format!("unix:{}", self.folder.management_socket(&bridge.name).display());
        let what = format!("in_port=controller packet={FIRST_FRAME} actions=output:{}", port.number);
        self.tool("ovs-ofctl").args(["-O", "OpenFlow13", "packet-out"]).arg(socket).arg(what).run().map(drop)
    }

    /// Points every bridge at controllers, which speak TLS if there are certificates.
    pub(crate) fn set_controllers(
        &self,
        plan: &Plan,
        controllers: &[SocketAddr],
        certificates: Option<&Certificates>,
    ) -> Result<(), LabError> {
        let scheme = if certificates.is_some() { "ssl" } else { "tcp" };
        if let Some(Credentials { certificate, key, authority }) = certificates.map(|it| &it.bridges) {
            self.vsctl([OsStr::new("set-ssl"), key.as_ref(), certificate.as_ref(), authority.as_ref()])?;
        }
        let targets: Vec<_> = controllers.iter().map(|address| format!("{scheme}:{address}")).collect();
        self.vsctl(Commands(plan).controllers(&targets)).map(drop)
    }

    /// Adds rules to one switch, in the syntax of `ovs-ofctl(8)`.
    pub(crate) fn add_rules(&self, switch: &str, rules: &[String]) -> Result<(), LabError> {
        let socket = format!("unix:{}", self.folder.management_socket(switch).display());
        let tool = self.tool("ovs-ofctl").args(["-O", "OpenFlow13", "add-flows"]).arg(socket).arg("-");
        tool.input(rules.join("\n") + "\n").run().map(drop)
    }

    fn vsctl(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String, LabError> {
        let database = format!("--db={}", self.database());
        self.tool("ovs-vsctl").arg("--timeout=30").arg(database).args(args).run()
    }

    fn database(&self) -> String {
        format!("unix:{}", self.folder.database_socket().display())
    }

    fn daemon(&self, name: &str) -> Tool {
        let log = self.folder.log().join(format!("{name}.log"));
        let process = self.folder.ovs().join(format!("{name}.pid"));
        self.tool(name)
            .args(["--detach", "--no-chdir", "-vconsole:off", "-vsyslog:off"])
            .arg(format!("--pidfile={}", process.display()))
            .arg(format!("--log-file={}", log.display()))
    }

    fn tool(&self, name: &str) -> Tool {
        let (run, log) = (self.folder.ovs(), self.folder.log());
        Tool::new(name, self.marker)
            .env("OVS_RUNDIR", &run)
            .env("OVS_DBDIR", &run)
            .env("OVS_SYSCONFDIR", &run)
            .env("OVS_LOGDIR", log)
    }
}

/// `ovs-vsctl --format=json`. RFC 7047 §5.1: an empty column is `["set",[]]`.
#[derive(Deserialize)]
struct Listing {
    data: Vec<(String, Value, Value)>,
}

/// The port number of each interface, or its error.
fn ports(listing: &str) -> Option<BTreeMap<String, String>> {
    let listing: Listing = serde_json::from_str(listing).ok()?;
    let state = |number: &Value, error: &Value| match error {
        Value::String(error) => error.clone(),
        _ => number.to_string(),
    };
    Some(listing.data.into_iter().map(|(name, number, error)| (name, state(&number, &error))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_a_number_or_an_error() {
        let listing = r#"{"data":[["a",1,["set",[]]],["b",-1,"could not open"],["c",["set",[]],["set",[]]]],
            "headings":["name","ofport","error"]}"#;
        let ports = ports(listing).unwrap();
        assert_eq!(ports["a"], "1");
        assert_eq!(ports["b"], "could not open");
        assert_eq!(ports["c"], "[\"set\",[]]");
    }
}
