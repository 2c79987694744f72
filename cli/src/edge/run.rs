//! `braid edge run`: an edge switch over interfaces of this machine.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use braid_edge::{ControllerOption, Edge, EdgeError, Options, PortOption, TunnelOption, UplinkOption};
use braid_tls::CredentialPaths;
use braid_types::DatapathId;

use crate::exit::{self, Code, ExitWith};
use crate::listen;
use crate::service::{self, Heartbeat};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// A TOML file with these options: each is a key, with _ for -. The command line and the environment come before it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
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
    /// Let TCP cross tunnels with the tunnels' addresses instead of in GRE, where the other edge has this option, too
    ///
    /// It saves 38 bytes a packet, 58 over IPv6. The two edges agree on it for each connection; whatever they do not agree on is in
    /// GRE. Providers must pass TCP whose SYN they have not seen.
    #[arg(long, requires = "tunnels", env = "BRAID_EDGE_REWRITE")]
    rewrite: bool,
    /// The datapath id in 16 hexadecimal digits
    #[arg(long, value_name = "DPID", default_value = "0000000000000001", env = "BRAID_EDGE_DPID")]
    dpid: DatapathId,
    /// Listen for controllers, ovs-ofctl and `braid edge group` on this address, such as 127.0.0.1:6634; may be repeated
    ///
    /// Every client that reaches it has full control: on a loopback address, every user of this machine. Without it the edge
    /// listens nowhere.
    #[arg(long, value_name = "ADDRESS", value_parser = listen::address, env = "BRAID_EDGE_LISTEN")]
    listen: Vec<SocketAddr>,
    /// A controller to connect to; ssl: for TLS; may be repeated
    #[arg(long, value_name = "[ssl:]ADDRESS", env = "BRAID_EDGE_CONTROLLER")]
    controller: Vec<ControllerOption>,
    /// The edge's certificate for controllers at ssl:, in PEM form; read anew for each connection, as the other two
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"], env = "BRAID_EDGE_TLS_CERTIFICATE")]
    tls_certificate: Option<PathBuf>,
    /// That certificate's private key in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "BRAID_EDGE_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// The certificate of the authority that signs those of controllers, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "BRAID_EDGE_TLS_CA")]
    tls_ca: Option<PathBuf>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    crate::panics::end_the_process();
    let options = Options {
        dpid: args.dpid,
        ports: args.ports.clone(),
        uplinks: args.uplinks.clone(),
        tunnels: args.tunnels.clone(),
        rewrite: args.rewrite,
        listen: args.listen.clone(),
        controllers: args.controller.clone(),
        credentials: credentials(args),
    };
    let edge = Edge::new(&options);
    let mut edge = edge.or_else(|error| {
        let code = match error {
            EdgeError::Device { ref source, .. } => exit::of_system(source).unwrap_or(Code::Machine),
            EdgeError::Listen { address, ref source } => {
                return Err(listen::in_use(&error, address, source, "--listen"));
            }
            EdgeError::Credentials(_) | EdgeError::NoCredentials => Code::Usage,
            _ => Code::Failure,
        };
        Err(error).exit_with(code)
    })?;
    say_ready(&edge)?;
    service::ready();
    let mut heartbeat = Heartbeat::from_environment();
    Ok(edge.run_until_signalled(&mut || heartbeat.beat())?)
}

fn credentials(args: &Args) -> Option<CredentialPaths> {
    let (certificate, key) = (args.tls_certificate.clone()?, args.tls_key.clone()?);
    Some(CredentialPaths { certificate, key, authority: args.tls_ca.clone()? })
}

fn say_ready(edge: &Edge) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "schema": "braid/v1", "openflow": edge.addresses() }))?;
    out.flush()
}
