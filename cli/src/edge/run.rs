//! `braid edge run`: an edge switch over interfaces of this machine.

use std::io::{self, Write};
use std::net::SocketAddr;

use braid_edge::{Edge, EdgeError, Options, PortOption, TunnelOption, UplinkOption};
use braid_types::DatapathId;

use crate::exit::{Code, ExitWith};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// An interface, its port number (by default its place, from 1), and what it carries; once for each
    #[arg(long = "port", value_name = "INTERFACE[=NUMBER][@RATE]", required = true)]
    ports: Vec<PortOption>,
    /// The edge's address on an interface that leads to a router, and the router's; once for each. The edge answers for the
    /// address. The interface is no port unless --port names it, too
    #[arg(long = "uplink", value_name = "INTERFACE,ADDRESS/PREFIX[,GATEWAY]")]
    uplinks: Vec<UplinkOption>,
    /// A port that is a tunnel to another edge (Ethernet in GRE): the address of an uplink here, the other edge's, the port number
    /// (by default the next one), and what it carries; once for each
    #[arg(long = "tunnel", value_name = "OWN,OTHER[=NUMBER][@RATE]")]
    tunnels: Vec<TunnelOption>,
    /// The datapath id: 16 hexadecimal digits
    #[arg(long, value_name = "DPID", default_value = "0000000000000001", env = "BRAID_EDGE_DPID")]
    dpid: DatapathId,
    /// Where to wait for controllers, and for ovs-ofctl; anybody who reaches it may do anything
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6634", env = "BRAID_EDGE_LISTEN")]
    listen: Vec<SocketAddr>,
    /// A controller to connect to; may be given again
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
