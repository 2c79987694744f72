//! `braid cluster`: the members of a cluster of controllers, and who leads.

mod init;

use std::time::Duration;

use braid_api::{Cluster, ClusterMember, Following, NewLeader};
use clap::Subcommand;

use crate::client::{self, answer, format};
use crate::exit::{self, Code};
use crate::output;
use crate::table::table;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the members of the cluster, which one leads, and whether etcd answers
    ///
    /// As the controller sees it that is asked. HEARD is how long ago it has heard of a member: a leader of its standbys, a
    /// standby of its leader. SWITCHES is how many switches answer a member, and RELAYED how many
    /// of them the leader serves through it. LAG is how far a standby is behind what the leader
    /// knows; the leader knows it of all. Exits with 3 if the controller is no member of a cluster.
    Status(client::Args),
    /// Let a standby lead in the place of the leader, which is to be asked
    ///
    /// Returns as soon as the standby was asked; `braid cluster status` shows when it leads. Nothing happens while etcd does
    /// not answer or no standby follows.
    HandOver(HandOverArgs),
    /// Make certificates and configuration files for the members of a new cluster, each with an etcd
    ///
    /// Makes a folder for each member, with its certificate, controller.toml and etcd.yaml, and one for the switches. The
    /// authorities' keys stay beside them. Prints the commands that start all of it. Certificates do not end: for a network
    /// that is to stay, issue your own.
    Init(init::Args),
}

#[derive(clap::Args)]
pub(crate) struct HandOverArgs {
    #[command(flatten)]
    client: client::Args,
    /// The standby; by default any one that follows
    #[arg(long, value_name = "MEMBER")]
    to: Option<String>,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Status(args) => status(args),
        Command::HandOver(args) => hand_over(args),
        Command::Init(args) => init::execute(args),
    }
}

fn status(args: &client::Args) -> anyhow::Result<()> {
    let cluster = answer(args.client()?.cluster())?;
    let Some((name, own)) = cluster.name.as_ref().zip(cluster.member.as_ref()) else {
        return Err(exit::error(Code::NotFound, "this controller is no member of a cluster"));
    };
    if args.json() {
        return output::json(&cluster);
    }
    let rows = cluster.members.iter().map(|member| row(&cluster, own, member));
    let members = table(["MEMBER", "ROLE", "ADDRESS", "HEARD", "SWITCHES", "RELAYED", "LAG"], rows);
    let problems: String = cluster.members.iter().filter_map(problem).collect();
    output::text(&format!("cluster {name}: {}\n\n{members}{problems}", summary(&cluster, own)))
}

fn summary(cluster: &Cluster, own: &str) -> String {
    let store = if cluster.store_answers { "etcd answers" } else { "etcd does not answer" };
    let leader = match (&cluster.leader, cluster.term) {
        (Some(leader), Some(term)) => format!("{leader} leads in term {term}"),
        _ => format!("{own} knows of no leader"),
    };
    format!("{leader}; {store} {own}")
}

fn row(cluster: &Cluster, own: &str, member: &ClusterMember) -> [String; 7] {
    let role = if cluster.leader.as_ref() == Some(&member.name) { "leader" } else { "standby" };
    let heard = match member.last_heard {
        _ if member.name == own => "itself".to_owned(),
        Some(at) => format!("{} ago", format::duration(cluster.now.since(at))),
        None => "-".to_owned(),
    };
    let count = |known: Option<u32>| known.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let (switches, relayed) = (count(member.switches_reached), count(member.switches_relayed));
    let lag = lag(member.following.as_ref());
    [member.name.clone(), role.to_owned(), member.address.clone(), heard, switches, relayed, lag]
}

fn lag(following: Option<&Following>) -> String {
    match following {
        Some(Following { problem: Some(_), .. }) => "no facts".to_owned(),
        Some(Following { lag_us: Some(lag), .. }) => format::duration(Duration::from_micros(*lag)),
        Some(Following { lag_us: None, .. }) => "begins".to_owned(),
        None => "-".to_owned(),
    }
}

/// Why a standby follows without facts, as a line of its own.
fn problem(member: &ClusterMember) -> Option<String> {
    let why = member.following.as_ref()?.problem.as_ref()?;
    Some(format!("\n{}: {why}\n", member.name))
}

fn hand_over(args: &HandOverArgs) -> anyhow::Result<()> {
    let asked = answer(args.client.client()?.hand_over(&NewLeader { to: args.to.clone() }))?;
    if args.client.json() {
        return output::json(&asked);
    }
    output::text(&format!("{} was asked to lead\n", asked.to))
}
