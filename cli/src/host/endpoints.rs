//! `braid host endpoints`: MPTCP endpoints of this host listed, added and removed.

use std::net::IpAddr;

use braid_host::pm::{Endpoint, EndpointFlag, EndpointFlags};
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use nix::net::if_::{if_indextoname, if_nametoindex};
use serde::Serialize;

use super::path_manager;
use crate::exit::{Code, ExitWith, error};
use crate::output;
use crate::table::table;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the endpoints
    List(super::Json),
    /// Add an endpoint: an address of this host
    Add(Add),
    /// Remove an endpoint and its subflows
    Remove {
        /// The endpoint's id, as `list` shows it
        #[arg(value_parser = clap::value_parser!(u8).range(1..))]
        id: u8,
    },
}

#[derive(clap::Args)]
pub(crate) struct Add {
    /// The address
    address: IpAddr,
    /// The interface by which its subflows leave
    #[arg(long, value_name = "INTERFACE")]
    dev: Option<String>,
    /// The port announced to the peer, if it differs from the connection's
    #[arg(long, requires = "flags", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The endpoint's id; by default the kernel chooses one
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    id: u8,
    /// Its use: subflow (open subflows from it), signal (announce it to the peer), backup (carry data only without other
    /// subflows), fullmesh (open subflows to all addresses of the peer)
    #[arg(long, value_delimiter = ',', default_value = "subflow", value_parser = flags())]
    flags: Vec<EndpointFlag>,
}

fn flags() -> impl TypedValueParser<Value = EndpointFlag> {
    PossibleValuesParser::new(["subflow", "signal", "backup", "fullmesh"])
        .try_map(|name| name.parse::<EndpointFlag>())
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(super::Json { json }) => list(json),
        Command::Add(add) => Ok(path_manager()?.add_endpoint(&endpoint(add)?)?),
        Command::Remove { id } => path_manager()?.remove_endpoint(id).exit_with(Code::NotFound),
    }
}

/// The index of the interface `name`.
pub(super) fn interface(name: &str) -> anyhow::Result<u32> {
    if_nametoindex(name)
        .map_err(|_| error(Code::NotFound, format!("there is no interface {name}: see `ip link`")))
}

fn endpoint(add: Add) -> anyhow::Result<Endpoint> {
    let Add { address, dev, port, id, flags } = add;
    let interface = dev.as_deref().map(interface).transpose()?.unwrap_or(0);
    Ok(Endpoint { id, address, port, flags: flags.into_iter().collect::<EndpointFlags>(), interface })
}

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    endpoint: Endpoint,
    dev: Option<String>,
}

fn list(json: bool) -> anyhow::Result<()> {
    let listed = |endpoint: Endpoint| Listed { dev: interface_name(endpoint.interface), endpoint };
    let endpoints: Vec<_> = path_manager()?.endpoints()?.into_iter().map(listed).collect();
    if json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "endpoints": endpoints }));
    }
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let rows = endpoints.into_iter().map(|Listed { endpoint, dev }| {
        let port = endpoint.port.map(|port| port.to_string());
        [
            endpoint.id.to_string(),
            endpoint.address.to_string(),
            or_dash(port),
            or_dash(dev),
            endpoint.flags.to_string(),
        ]
    });
    output::text(&table(["ID", "ADDRESS", "PORT", "DEV", "FLAGS"], rows))
}

/// The name of an interface; `None` if it no longer exists.
fn interface_name(number: u32) -> Option<String> {
    if_indextoname(number).ok()?.into_string().ok()
}
