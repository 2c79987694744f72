//! `braid edge run`: an edge switch over interfaces of this machine.

use std::io::{self, Write};
use std::net::SocketAddr;

use braid_edge::{Edge, EdgeError, Options, PortOption, TunnelOption, UplinkOption};
use braid_types::DatapathId;

use crate::exit::{Code, ExitWith};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// A port: its interface, number (by default its position, from 1) and rate; may be repeated
    #[arg(long = "port", value_name = "INTERFACE[=NUMBER][@RATE]", required = true)]
    ports: Vec<PortOption>,
    /// An uplink to a router: its interface, the edge's address there, and the router's address; may be repeated. The edge
    /// answers ARP/ND and ping for the address. The interface is a port only if --port names it as well
    #[arg(long = "uplink", value_name = "INTERFACE,ADDRESS/PREFIX[,GATEWAY]")]
    uplinks: Vec<UplinkOption>,
    /// A tunnel port to another edge (Ethernet in GRE): the address of an uplink here, the other edge's address, the port number
    /// (by default the next one) and the rate; may be repeated
    #[arg(long = "tunnel", value_name = "OWN,OTHER[=NUMBER][@RATE]")]
    tunnels: Vec<TunnelOption>,
    /// The datapath id in 16 hexadecimal digits
    #[arg(long, value_name = "DPID", default_value = "0000000000000001", env = "BRAID_EDGE_DPID")]
    dpid: DatapathId,
    /// Listen for controllers, ovs-ofctl and `braid edge group` on this address, such as 127.0.0.1:6634; may be repeated
    ///
    /// Every client that reaches it has full control: on a loopback address, every user of this machine. Without it the edge
    /// listens nowhere.
    #[arg(long, value_name = "ADDRESS", env = "BRAID_EDGE_LISTEN")]
    listen: Vec<SocketAddr>,
    /// A controller to connect to; may be repeated
    #[arg(long, value_name = "ADDRESS", env = "BRAID_EDGE_CONTROLLER")]
    controller: Vec<SocketAddr>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let options = Options {
        dpid: args.dpid,
        ports: args.ports.clone(),
        uplinks: args.uplinks.clone(),
        tunnels: args.tunnels.clone(),
        listen: args.listen.clone(),
        controllers: args.controller.clone(),
    };
    let edge = Edge::new(&options);
    let mut edge = edge.or_else(|error| {
        let code = if matches!(error, EdgeError::Device { .. }) { Code::Machine } else { Code::Failure };
        Err(error).exit_with(code)
    })?;
    say_ready(&edge)?;
    Ok(edge.run_until_signalled()?)
}

fn say_ready(edge: &Edge) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "schema": "braid/v1", "openflow": edge.addresses() }))?;
    out.flush()
}
