//! The commands of `braid`, one file for each noun. A new command is a file, and an entry here.

mod alarms;
mod assignments;
mod cluster;
mod completion;
mod controller;
mod demo;
mod doctor;
mod edges;
mod events;
mod hosts;
mod lab;
mod links;
mod man;
mod openflow;
mod page;
mod paths;
mod policy;
mod recording;
mod results;
mod schema;
mod sim;
mod switches;
mod topology;
mod transfers;

use crate::client::{ListArgs, WatchArgs};
use crate::{calibrate, edge, host, run, site};

/// Defines [`Command`]: each entry has its help, its arguments, and what executes it.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($arguments:ident: $type:ty) => $execute:expr;)*) => {
        /// A command with its arguments.
        #[derive(clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[$attribute])* $name($type),)*
        }

        impl Command {
            /// Executes the command.
            pub(crate) fn execute(self) -> anyhow::Result<()> {
                match self {
                    $(Self::$name($arguments) => $execute,)*
                }
            }
        }
    };
}

commands! {
    /// Show one transfer over every path of a small network (root)
    ///
    /// Builds the Amsterdam-Geneva testbed from namespaces and Open vSwitch, runs iperf3 over one path and
    /// over both, in both directions, prints a table and removes everything. Takes about a minute.
    Demo(args: demo::Args) => demo::execute(&args);
    /// Run the OpenFlow controller
    #[command(subcommand)]
    Controller(command: controller::Command) => controller::execute(command);
    /// Run an edge switch, which sprays flows over several paths and resequences them
    #[command(subcommand)]
    Edge(command: edge::Command) => edge::execute(command);
    /// Join sites by encrypted tunnels over all of their uplinks, without a controller
    #[command(subcommand)]
    Site(command: site::Command) => site::execute(&command);
    /// Manage the MPTCP subflows of this host
    #[command(subcommand)]
    Host(command: host::Command) => host::execute(command);
    /// Build testbeds from network namespaces and Open vSwitch
    #[command(subcommand)]
    Lab(command: lab::Command) => lab::execute(command);
    /// Simulate large networks with the controller's own steering
    #[command(subcommand)]
    Sim(command: sim::Command) => sim::execute(command);
    /// Measure the papers' figures, store them, and show them beside the papers'
    #[command(subcommand)]
    Results(command: results::Command) => results::execute(command);
    /// Prepare and show a cluster of controllers, and hand leadership over
    #[command(subcommand)]
    Cluster(command: cluster::Command) => cluster::execute(&command);
    /// List the switches connected to a controller
    Switches(args: switches::Args) => switches::execute(&args);
    /// List the directed links between switches with their measurements
    ///
    /// DELAY is the delay without queues, NOW the delay with them. A value older than 3 seconds is followed by its age.
    Links(args: links::Args) => links::execute(&args);
    /// List the interfaces of hosts and the ports that they are attached to
    Hosts(args: WatchArgs) => hosts::execute(&args);
    /// List edges with their spray groups (paths and shares) and resequencers
    ///
    /// CAPACITY is the estimated capacity of a path: its rate when it last queued. QUEUE is its queueing delay. HOLD is the hold
    /// time of resequenced packets in the last second.
    Edges(args: WatchArgs) => edges::execute(&args);
    /// List alarms: forged LLDP, stolen addresses and floods, by port
    Alarms(args: ListArgs) => alarms::execute(&args);
    /// List events of the network, each with its reason
    Events(args: events::Args) => events::execute(&args);
    /// Play back a recorded run on the page, without a controller and without root
    ///
    /// Prints the address to open in a browser, and serves until Ctrl-C.
    Page(args: page::Args) => page::execute(args);
    /// Find sets of paths between two switches or hosts
    ///
    /// Searches the network of a running controller, or with --topology one from a file or generator. Exits with 3 if there
    /// is no path.
    Paths(args: paths::Args) => paths::execute(&args);
    /// Check, show and change the policy: which traffic is steered, and how
    #[command(subcommand)]
    Policy(command: policy::Command) => policy::execute(&command);
    /// Copy recordings of a controller without their secrets
    #[command(subcommand)]
    Recording(command: recording::Command) => recording::execute(&command);
    /// List the transfers in progress with their streams and paths
    ///
    /// With --watch the busiest come first. OF MAX is the busier direction's share of the maximum flow between the two hosts,
    /// by the capacities of links; LAST 15 S is the rate of each stream, all by one scale.
    Transfers(args: WatchArgs) => transfers::execute(&args);
    /// List the paths that applications have set aside, with their streams
    ///
    /// STREAMS is the number of streams on a path, and the number that it can use.
    Assignments(args: WatchArgs) => assignments::execute(&args);
    /// Run a command and give each of its TCP connections a path of its own
    ///
    /// The controller assigns paths for each host that the command connects to, and places each connection before its first
    /// packet leaves. The command needs no change, and its exit code is passed on. Example: braid run --paths 4 -- iperf3 -c
    /// 10.0.0.2 -P 8
    Run(args: run::Args) => run::execute(args);
    Calibrate(args: calibrate::Args) => calibrate::execute(&args);
    /// Describe, convert and generate networks
    #[command(subcommand)]
    Topology(command: topology::Command) => topology::execute(&command);
    /// Check whether this machine has the features that labs need
    ///
    /// Tries each feature in a temporary network namespace; nothing else on the machine changes. Exits with 4 if a required
    /// feature is missing.
    Doctor(args: doctor::Args) => doctor::execute(&args);
    /// Decode OpenFlow messages
    #[command(subcommand)]
    Openflow(command: openflow::Command) => openflow::execute(&command);
    /// Print the JSON schema of a format of files, with which editors check and complete
    ///
    /// Example: braid schema scenario >scenario.json, and on the first line of a scenario
    /// # yaml-language-server: $schema=scenario.json
    Schema(args: schema::Args) => schema::execute(&args);
    /// Print a completion script for a shell
    Completion(args: completion::Args) => completion::execute(&args);
    /// Print the manual pages
    Man(args: man::Args) => man::execute(&args);
}
