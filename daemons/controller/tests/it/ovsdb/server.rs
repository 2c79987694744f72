//! The ovsdb-server of Open vSwitch, with a database of its own and no switch behind it.

use std::fs;
use std::io::ErrorKind;
use std::process::{Child, Command};

use braid_tls::CredentialPaths;
use tempfile::TempDir;

use crate::support::wait_for;

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// A server; it ends with this.
pub(super) struct Server {
    folder: TempDir,
    process: Child,
}

impl Server {
    /// With this certificate; `None`, and says so, where Open vSwitch is not installed.
    pub(super) fn start(credentials: &CredentialPaths) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name).display().to_string();
        match Command::new("ovsdb-tool").args(["create", &file("conf.db"), SCHEMA]).status() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                println!("skipped: ovsdb-server is not installed");
                return None;
            }
            status => assert!(status.expect("ovsdb-tool").success()),
        }
        let process = Command::new("ovsdb-server")
            .args([file("conf.db"), "--remote=pssl:0:127.0.0.1".to_owned()])
            .arg(format!("--remote=punix:{}", file("socket")))
            .arg(format!("--unixctl={}", file("control")))
            .arg(format!("--log-file={}", file("log")))
            .arg(format!("--private-key={}", credentials.key.display()))
            .arg(format!("--certificate={}", credentials.certificate.display()))
            .arg(format!("--ca-cert={}", credentials.authority.display()))
            .args(["-vconsole:off", "-vfile:info"])
            .spawn();
        let server = Self { folder, process: process.expect("ovsdb-server") };
        let port = || server.log().contains("listening on port");
        wait_for(port, || server.log());
        server.vsctl(&["init"]);
        Some(server)
    }

    pub(super) fn unix(&self) -> String {
        format!("unix:{}", self.folder.path().join("socket").display())
    }

    pub(super) fn ssl(&self) -> String {
        let log = self.log();
        let (_, port) = log.rsplit_once("listening on port ").expect("a port");
        let digits = port.find(|it: char| !it.is_ascii_digit()).unwrap_or(port.len());
        format!("ssl:127.0.0.1:{}", &port[..digits])
    }

    /// Two bridges that are linked at their first ports, the second one without `fail_mode`.
    pub(super) fn add_bridges(&self, openflow_port: u16) {
        for number in ["1", "2"] {
            let (bridge, port) = (format!("br{number}"), format!("p{number}"));
            let target = format!("tcp:127.0.0.1:{openflow_port}");
            let id = format!("datapath_id=\"{number:0>16}\"");
            let set = ["--", "set", "bridge", &bridge, &id, "--", "set", "interface", &port, "ofport=1"];
            let add = ["add-br", &bridge, "--", "add-port", &bridge, &port];
            let controller = ["--", "set-controller", &bridge, &target];
            // In the same transaction: whoever watches sees no bridge that is half made.
            let secure = ["--", "set-fail-mode", &bridge, "secure"];
            let mode = if number == "1" { &secure[..] } else { &[] };
            self.vsctl(&[&add[..], &controller, &set, mode].concat());
        }
    }

    pub(super) fn remove_bridges(&self) {
        self.vsctl(&["del-br", "br1", "--", "del-br", "br2"]);
    }

    /// Shapes what leaves this port.
    pub(super) fn shape(&self, port: &str, rate: u64) {
        let rate = format!("other_config:max-rate={rate}");
        let create = ["--", "--id=@shaper", "create", "qos", "type=linux-htb", &rate];
        self.vsctl(&[&["set", "port", port, "qos=@shaper"], &create[..]].concat());
    }

    /// Whether BFD of this interface is on and Braid's.
    pub(super) fn has_bfd(&self, interface: &str) -> bool {
        let said = self.vsctl(&["get", "interface", interface, "bfd:enable", "external_ids:braid-bfd"]);
        said.lines().eq(["\"true\"", "\"true\""])
    }

    /// The longest pauses of the controllers of both bridges.
    pub(super) fn backoffs(&self) -> [String; 2] {
        ["br1", "br2"].map(|bridge| {
            let controller = self.vsctl(&["get", "bridge", bridge, "controller"]);
            let uuid = controller.trim().trim_matches(['[', ']']);
            self.vsctl(&["get", "controller", uuid, "max_backoff"]).trim().to_owned()
        })
    }

    fn vsctl(&self, words: &[&str]) -> String {
        let database = format!("--db={}", self.unix());
        let done = Command::new("ovs-vsctl").args([&database, "--no-wait"]).args(words).output();
        String::from_utf8_lossy(&done.expect("ovs-vsctl").stdout).into_owned()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
