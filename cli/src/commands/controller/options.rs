//! The options of `braid controller run`.

use std::net::SocketAddr;
use std::path::PathBuf;

use braid_assign::{Growth, StreamModel};
use braid_controller::{AllowedSwitch, OvsdbAddress, RebalanceSettings, SWITCHES_PER_ADDRESS, Settings};
use braid_lab::LabName;
use braid_link_model::Probability;
use braid_paths::Weight;
use braid_planner::ECMP_BUCKETS;
use braid_steering::Policy;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::cluster::ClusterArgs;
use super::openflow_tls;
use crate::listen;

/// The options of `braid controller run`.
#[derive(clap::Args)]
pub(crate) struct Run {
    /// A TOML file with these options: each is a key, with _ for -; read again at SIGHUP
    ///
    /// The command line and the environment come before it. `braid controller check` finds its mistakes.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Listen for switches on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6653", value_parser = listen::address, env = "BRAID_OPENFLOW")]
    pub(super) openflow: SocketAddr,
    /// Trust every machine that can reach --openflow: accept switches from other machines over plain TCP
    #[arg(long, env = "BRAID_OPENFLOW_TRUSTED")]
    pub(super) openflow_trusted: bool,
    /// Let only this switch join, from anywhere or from one network; may be repeated. Without it, any switch may join
    ///
    /// Listed switches keep their places when others fill the controller.
    #[arg(long = "switch", value_name = "DPID[@PREFIX]", value_delimiter = ',', env = "BRAID_SWITCHES")]
    pub(super) switches: Vec<AllowedSwitch>,
    /// The most switches that may join from one address of another machine
    #[arg(long, value_name = "SWITCHES", default_value_t = SWITCHES_PER_ADDRESS, env = "BRAID_SWITCHES_PER_ADDRESS")]
    pub(super) switches_per_address: usize,
    /// Accept switches on this file descriptor instead, an inherited listening TCP socket
    #[arg(long, value_name = "FD", conflicts_with = "openflow", value_parser = clap::value_parser!(i32).range(3..))]
    pub(super) openflow_fd: Option<i32>,
    #[command(flatten)]
    pub(super) openflow_tls: openflow_tls::Args,
    /// Turn on BFD (RFC 5880) at the ports of links in this database of Open vSwitch, ssl:ADDRESS:PORT, tcp:ADDRESS:PORT or
    /// unix:FILE, so that switches notice within 0.1 s that a link has gone dark; may be repeated
    ///
    /// Both ends of a link must be in databases that are given. Ports at which BFD was on already stay as they are. ssl: uses
    /// the certificates of --openflow-tls. Bridges in a mode that does not work raise alarms.
    #[arg(long, value_name = "DATABASE", value_delimiter = ',', env = "BRAID_OVSDB")]
    pub(super) ovsdb: Vec<OvsdbAddress>,
    /// The longest pause between attempts to connect of switches in these databases, in milliseconds; 0 leaves it alone
    ///
    /// Set for this controller where nobody has set `max_backoff`. Without it Open vSwitch waits for up to 8 s.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 1_000, value_parser = max_backoff, env = "BRAID_OVSDB_MAX_BACKOFF")]
    pub(super) ovsdb_max_backoff: u32,
    /// Serve the API, the page and metrics on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8653", value_parser = listen::address, env = "BRAID_HTTP")]
    pub(super) http: SocketAddr,
    /// Serve API clients on this file descriptor as well, an inherited listening TCP socket; may be repeated
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(3..))]
    pub(super) http_fd: Vec<i32>,
    /// A TOML file with tokens of API clients on other machines: `[[token]]` with name, token, and access: read, use
    /// (assignments) or change (the policy)
    ///
    /// Clients on this machine need no token.
    #[arg(long, value_name = "FILE", env = "BRAID_TOKENS")]
    pub(super) tokens: Option<PathBuf>,
    /// The certificate chain for HTTPS in PEM form, the controller's certificate first; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "BRAID_TLS_CERTIFICATE")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// The certificate's private key in PEM form; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "BRAID_TLS_KEY")]
    pub(super) tls_key: Option<PathBuf>,
    /// Trust every client that can reach --http: allow plain HTTP, and without --tokens let all clients read everything and
    /// create assignments
    #[arg(long, env = "BRAID_HTTP_TRUSTED")]
    pub(super) http_trusted: bool,
    /// A name by which browsers and clients reach --http, besides addresses, localhost, this machine's name and the names in the
    /// certificate; may be repeated
    #[arg(long = "http-host", value_name = "NAME", value_delimiter = ',', env = "BRAID_HTTP_HOSTS")]
    pub(super) http_hosts: Vec<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
    /// The lab that the network belongs to: lets the page and the API cut and change its links
    #[arg(long, value_name = "NAME")]
    pub(super) lab: Option<LabName>,
    /// Record every event to this file, for a replay or a bug report
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// A TOML file with tokens of host agents that may ask for advice: `[[agent]]` with name, token and addresses
    ///
    /// With it, only these agents and this machine may ask. Without it, each host may ask about its own address.
    #[arg(long, value_name = "FILE", env = "BRAID_AGENT_TOKENS")]
    pub(super) agent_tokens: Option<PathBuf>,
    /// The policy file: which traffic is steered and how, by prefixes and ports; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", env = "BRAID_POLICY")]
    pub(super) policy: Option<PathBuf>,
    /// How a stream's path is chosen from its path set
    #[arg(long, value_name = "POLICY", default_value_t = Policy::default(), value_parser = policies())]
    pub(super) placement: Policy,
    /// Distribute plain TCP connections from one host to one port of another over this many paths, in proportion to the
    /// streams that each path can use; 0: all take the default path
    ///
    /// This needs no API call: it is for applications that open several connections and cannot be changed.
    #[arg(long, value_name = "PATHS", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=16))]
    pub(super) parallel: u8,
    /// Streams that a path can use: the a of n = max(1, a*B*R), in streams per Mbit/s and ms
    #[arg(long, value_name = "A", default_value_t = StreamModel::default().a)]
    pub(super) streams_a: f64,
    /// How throughput grows with the number of streams up to n: line where windows limit it, parabola where losses do
    #[arg(long, value_name = "GROWTH", default_value_t = Growth::default(), conflicts_with = "stream_model")]
    pub(super) streams_growth: Growth,
    /// A file with these parameters for the network and for single paths, measured by `braid calibrate --save`
    #[arg(long, value_name = "FILE", conflicts_with = "streams_a")]
    pub(super) stream_model: Option<PathBuf>,
    /// Learn how many streams each path can use from the throughput of announced connections
    #[arg(long)]
    pub(super) learn_streams: bool,
    /// Link cost for shortest paths: hops, latency (microseconds), load, or a sum such as 10*hops+latency
    ///
    /// With hops, default paths change only when links come or go; with the others, when measurements change as well.
    #[arg(long, default_value_t = Weight::HOPS)]
    pub(super) weight: Weight,
    /// Spread flows that take default paths over at most this many equal-cost paths, by a hash of addresses and ports and in
    /// proportion to capacity: 1 to 32, or off for one path
    ///
    /// Switches without select groups, and Braid's edges, use one path.
    #[arg(long, value_name = "PATHS", default_value = "8", value_parser = ecmp_paths, env = "BRAID_ECMP")]
    pub(super) ecmp: usize,
    /// A file with link capacities, names of switches and hosts, and positions of switches: GraphML, node-link JSON, Braid's JSON or a scenario,
    /// with the switches' datapath ids and ports
    ///
    /// Other links have the speed of their ports.
    #[arg(long, value_name = "FILE")]
    pub(super) network: Option<PathBuf>,
    /// Move at most this many streams a minute from links that stay full to paths with room; 0: none
    #[arg(long, value_name = "PER-MINUTE", default_value_t = RebalanceSettings::default().moves_per_minute)]
    pub(super) rebalance_limit: usize,
    /// Avoid links that lose this share of their frames, or corrupt them, until they are clean again; off: use them
    ///
    /// Half of the share is found too, after some more seconds.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = loss_limit, env = "BRAID_LOSS_LIMIT")]
    pub(super) loss_limit: Probability,
    /// Packet-ins a second that a host port may cause, such as TCP SYNs and ARP; 0: no limit
    ///
    /// The burst size is one second's worth. Switches with meters enforce the limit themselves.
    #[arg(long, value_name = "PACKETS", default_value_t = Settings::default().punt_rate, env = "BRAID_PORT_PACKET_INS")]
    pub(super) port_packet_ins: u32,
    /// Connections a second from a port that may get a path of their own; further ones take the default path; 0: no limit
    ///
    /// The burst size is ten seconds' worth.
    #[arg(long, value_name = "STREAMS", default_value_t = Settings::default().new_streams, env = "BRAID_PORT_NEW_STREAMS")]
    pub(super) port_new_streams: u32,
    /// New addresses a second that a port may use, take over or resolve; 0: no limit
    ///
    /// The burst size is one second's worth.
    #[arg(long, value_name = "ADDRESSES", default_value_t = Settings::default().new_addresses, env = "BRAID_PORT_NEW_ADDRESSES")]
    pub(super) port_new_addresses: u32,
}

/// Open vSwitch takes nothing below a second.
fn max_backoff(text: &str) -> Result<u32, String> {
    let millis = text.parse().ok().filter(|millis| matches!(millis, 0 | 1_000..));
    millis.ok_or_else(|| "not 0 and not a number of milliseconds from 1000 on".to_owned())
}

/// The number of equal-cost paths; 1 for `off`.
fn ecmp_paths(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(paths @ 1..=ECMP_BUCKETS) => Ok(paths),
        _ if text == "off" => Ok(1),
        _ => Err(format!("it is off, or a number of paths from 1 to {ECMP_BUCKETS}")),
    }
}

/// The share of lost frames that makes a link degraded; none if links are used whatever they lose.
fn loss_limit(text: &str) -> Result<Probability, String> {
    match text.parse::<Probability>() {
        _ if text == "off" => Ok(Probability::ZERO),
        Ok(share) if (0.001..=0.5).contains(&share.share()) => Ok(share),
        _ => Err("it is off, or a share from 0.1% to 50%".to_owned()),
    }
}

fn policies() -> impl TypedValueParser<Value = Policy> {
    let policy = |policy: Policy| PossibleValue::new(policy.name()).help(policy.summary());
    PossibleValuesParser::new(Policy::ALL.map(policy)).try_map(|name| name.parse::<Policy>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecmp_is_off_or_a_number_of_paths_that_have_a_bucket_each() {
        assert_eq!(["off", "1", "8", "32"].map(ecmp_paths), [Ok(1), Ok(1), Ok(8), Ok(32)]);
        assert!(["", "0", "33", "-1", "on"].iter().all(|text| ecmp_paths(text).is_err()));
    }
}
