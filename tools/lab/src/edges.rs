//! Edges, the switches of a lab that are Braid's own: `braid edge run` inside the fabric, one process each.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PortPlan, SwitchPlan, UplinkPlan};

/// The first edge listens here, in the fabric's namespace, the others behind it.
const FIRST_LISTENER: u16 = 6_700;
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Where controllers listen, and the certificates if they speak TLS.
type ControllersAt<'a> = (&'a [SocketAddr], Option<&'a Certificates>);

/// An edge that was started.
struct Starting<'a> {
    edge: &'a SwitchPlan,
    child: Child,
    said: PathBuf,
    log: PathBuf,
}

/// Starts all of them; they pass frames when this returns, as soon as somebody says where to.
pub(crate) fn start(
    lab: &Deployed,
    controller: Option<ControllersAt<'_>>,
    interrupt: &Interrupt,
) -> Result<(), LabError> {
    let edges = lab.plan.edges().map(|(place, edge)| spawn(lab, place, edge, controller));
    let edges = edges.collect::<Result<Vec<_>, _>>()?;
    edges.into_iter().try_for_each(|edge| wait(edge, interrupt))
}

/// Where an edge listens for `ovs-ofctl`, in the fabric's namespace; nothing if the switch is no edge.
pub(crate) fn address(plan: &Plan, switch: &str) -> Option<SocketAddr> {
    let mut edges = plan.edges();
    edges.find(|(_, edge)| edge.name == switch).map(|(place, _)| listener(place))
}

/// Adds rules to an edge, in the words of `ovs-ofctl(8)`.
pub(crate) fn add_rules(lab: &Deployed, address: SocketAddr, rules: &[String]) -> Result<(), LabError> {
    let tool = lab.tool("ovs-ofctl").args(["-O", "OpenFlow13", "add-flows"]);
    let tool = tool.arg(format!("tcp:{address}")).arg("-").input(rules.join("\n") + "\n");
    tool.within(&lab.fabric()).run().map(drop)
}

fn listener(place: usize) -> SocketAddr {
    let port = FIRST_LISTENER.saturating_add(u16::try_from(place).unwrap_or(u16::MAX));
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn spawn<'a>(
    lab: &Deployed,
    place: usize,
    edge: &'a SwitchPlan,
    controller: Option<ControllersAt<'_>>,
) -> Result<Starting<'a>, LabError> {
    let this = std::env::current_exe().map_err(|error| LabError::io("the path of this program", error))?;
    let file = |what: &str| lab.folder.log().join(format!("edge-{}.{what}", edge.name));
    let (said, log) = (file("out"), file("log"));
    let create = |path: &PathBuf| File::create(path).map_err(|error| LabError::file(path, error));
    let tool = lab.tool(&this.to_string_lossy()).args(["edge", "run", "--dpid", &edge.dpid.to_string()]);
    let tool = tool.args(["--listen", &listener(place).to_string()]);
    let tool = tool
        .args(edge.ports.iter().flat_map(port_options))
        .args((lab.plan.rewrite && has_tunnel(edge)).then_some("--rewrite"))
        .args(controller.into_iter().flat_map(|controller| controller_options(edge, controller)));
    let child =
        tool.within(&lab.fabric()).spawn(Stdio::null(), create(&said)?.into(), create(&log)?.into())?;
    Ok(Starting { edge, child, said, log })
}

/// Its controllers, with the edge's certificate if they speak TLS.
fn controller_options(edge: &SwitchPlan, (all, certificates): ControllersAt<'_>) -> Vec<String> {
    let Some(certificates) = certificates else {
        return all.iter().map(|at| format!("--controller={at}")).collect();
    };
    let mut options = certificates.edge(&edge.dpid.to_string()).options("--tls");
    options.extend(all.iter().map(|at| format!("--controller=ssl:{at}")));
    options
}

fn has_tunnel(edge: &SwitchPlan) -> bool {
    edge.ports.iter().any(|port| port.uplink.as_ref().is_some_and(|uplink| uplink.tunnel.is_some()))
}

/// A port as it is, or the tunnel over an uplink.
fn port_options(port: &PortPlan) -> Vec<String> {
    let PortPlan { number, device, uplink, .. } = port;
    let Some(UplinkPlan { addresses, tunnel }) = uplink else {
        return vec![format!("--port={device}={number}")];
    };
    let addresses = addresses.iter().map(|it| format!("--uplink={device},{},{}", it.own, it.gateway));
    let tunnel = tunnel.map(|[own, other]| format!("--tunnel={own},{other}={number}"));
    addresses.chain(tunnel).collect()
}

fn wait(mut edge: Starting<'_>, interrupt: &Interrupt) -> Result<(), LabError> {
    let ready = interrupt.poll(START_TIMEOUT, || {
        let said = fs::read_to_string(&edge.said).unwrap_or_default();
        if said.contains('\n') {
            return Ok(Some(()));
        }
        let ended = edge.child.try_wait().map_err(|error| LabError::io("waiting for an edge", error))?;
        ended.map_or(Ok(None), |status| Err(edge.failure(&format!("ended ({status})"))))
    })?;
    ready.ok_or_else(|| edge.failure(&format!("said nothing in {} s", START_TIMEOUT.as_secs())))
}

impl Starting<'_> {
    fn failure(&self, what: &str) -> LabError {
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
        let what = format!("{what} and said: {last}");
        LabError::Edge { switch: self.edge.name.clone(), what, log: self.log.clone() }
    }
}
