//! `braid host limits`: limits of the kernel's MPTCP path manager.

use braid_host::pm::Limits;
use clap::Subcommand;

use super::path_manager;
use crate::output;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the limits
    Get(super::Json),
    /// Set one or both limits
    Set(Set),
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Set {
    /// Additional subflows of a connection, up to 8
    #[arg(long)]
    subflows: Option<u32>,
    /// Announced addresses of the peer that are used, up to 8
    #[arg(long, value_name = "ADDRESSES")]
    accept: Option<u32>,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Get(super::Json { json }) => get(*json),
        Command::Set(wanted) => set(wanted),
    }
}

fn get(json: bool) -> anyhow::Result<()> {
    let limits = path_manager()?.limits()?;
    if json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "limits": limits }));
    }
    output::text(&format!("subflows {}\naccepted addresses {}\n", limits.subflows, limits.accepted_addresses))
}

fn set(wanted: &Set) -> anyhow::Result<()> {
    let mut manager = path_manager()?;
    let now = manager.limits()?;
    Ok(manager.set_limits(Limits {
        subflows: wanted.subflows.unwrap_or(now.subflows),
        accepted_addresses: wanted.accept.unwrap_or(now.accepted_addresses),
    })?)
}
