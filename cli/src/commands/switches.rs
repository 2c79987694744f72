//! `braid switches`: connected switches and their ports.

mod rules;

use braid_api::{Port, PortRole, Switch, SwitchRole};
use braid_client::List;
use clap::Subcommand;

use crate::client::{self, WatchArgs, answer, format, show_or_watch};
use crate::output;
use crate::table::table;

#[derive(clap::Args)]
#[group(skip)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: WatchArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Become the master of every connected switch, also of those that another controller has
    ///
    /// The controller claims the role in a new term, above all that its switches have reported. The other controller stands
    /// down.
    TakeOver(client::Args),
    /// Show the rules in a switch, and what they are for
    ///
    /// The switch is asked now, and has 3 seconds; in a cluster, the leader asks. Rules are sorted by table, priority and match.
    /// MATCH and ACTIONS are in the words of `ovs-ofctl`. At most 5,000 rules are shown: of more, choose a table. Useful
    /// filters: 'packets>0', kind=stream, transfer=5, kind=foreign.
    Rules(rules::Args),
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Some(Command::TakeOver(client)) => take_over(client),
        Some(Command::Rules(args)) => rules::execute(args),
        None => list(&args.list),
    }
}

fn list(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Switch>| {
        table(["SWITCH", "DPID", "ROLE", "ADDRESS", "PORTS", "UP", "LINKS"], answer.items.iter().map(row))
    })
}

fn take_over(args: &client::Args) -> anyhow::Result<()> {
    let claimed = answer(args.client()?.take_over())?;
    if args.json() {
        return output::json(&claimed);
    }
    output::text(&format!(
        "claimed in term {}; {} switches had another master\n",
        claimed.term, claimed.claimed
    ))
}

fn row(switch: &Switch) -> [String; 7] {
    let count =
        |wanted: fn(&Port) -> bool| switch.ports.iter().filter(|port| wanted(port)).count().to_string();
    [
        format::named_switch(switch.name.as_deref(), switch.dpid),
        format::switch(switch.dpid),
        role(switch.role).to_owned(),
        address(switch),
        count(|_| true),
        count(|port| port.up),
        count(|port| port.role == Some(PortRole::Link)),
    ]
}

/// Where it is connected from, and through which member.
fn address(switch: &Switch) -> String {
    let via = switch.via.as_ref().map(|member| format!(" via {member}")).unwrap_or_default();
    format!("{}{via}", format::list(switch.address, ""))
}

const fn role(role: SwitchRole) -> &'static str {
    match role {
        SwitchRole::Master => "master",
        SwitchRole::Slave => "slave",
    }
}
