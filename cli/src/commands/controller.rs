//! `braid controller`: command-line options turned into a controller's configuration.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use braid_api::Position;
use braid_assign::{Growth, StreamModel};
use braid_controller::{
    Access, Agents, AllowedSwitch, Config, Controller, ControllerError, HealthSettings, HostMetadata,
    HostNames, Listen, OvsdbAddress, OvsdbConfig, PolicyFile, RebalanceSettings, Reload,
    SWITCHES_PER_ADDRESS, Settings, SwitchAccess, SwitchMetadata, SwitchMetadataMap, Testbed, Tls, Tokens,
};
use braid_lab::LabName;
use braid_link_model::Probability;
use braid_paths::Weight;
use braid_planner::ECMP_BUCKETS;
use braid_steering::Policy;
use braid_topology::blueprint::{Blueprint, Switch};
use braid_types::{BitsPerSec, SwitchPort};
use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::cluster_options::ClusterArgs;
use super::controller_file::{self, ReloadedFile};
use super::{metrics, openflow_tls};
use crate::calibrate::ModelFile;
use crate::exit::{self, Code, ExitWith};
use crate::listen;
use crate::output;
use crate::panics;
use crate::service::{self, Heartbeat};
use crate::testbed::LabTestbed;
use crate::topology::source::{self, LinkArgs, Loaded, Source};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the controller until SIGTERM or Ctrl-C
    ///
    /// Prints one line of JSON with its addresses once it is ready; logs go to standard error.
    Run(Box<Run>),
    /// Check a configuration and the files that it names, without opening anything
    Check {
        /// The configuration, in TOML
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the metrics that a controller serves: names, types, units, labels and meanings
    Metrics {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// A TOML file with these options: each is a key, with _ for -; read again at SIGHUP
    ///
    /// The command line and the environment come before it. `braid controller check` finds its mistakes.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Listen for switches on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6653", value_parser = listen::address, env = "BRAID_OPENFLOW")]
    openflow: SocketAddr,
    /// Trust every machine that can reach --openflow: accept switches from other machines over plain TCP
    #[arg(long, env = "BRAID_OPENFLOW_TRUSTED")]
    openflow_trusted: bool,
    /// Let only this switch join, from anywhere or from one network; may be repeated. Without it, any switch may join
    ///
    /// Listed switches keep their places when others fill the controller.
    #[arg(long = "switch", value_name = "DPID[@PREFIX]", value_delimiter = ',', env = "BRAID_SWITCHES")]
    switches: Vec<AllowedSwitch>,
    /// The most switches that may join from one address of another machine
    #[arg(long, value_name = "SWITCHES", default_value_t = SWITCHES_PER_ADDRESS, env = "BRAID_SWITCHES_PER_ADDRESS")]
    switches_per_address: usize,
    /// Accept switches on this file descriptor instead, an inherited listening TCP socket
    #[arg(long, value_name = "FD", conflicts_with = "openflow", value_parser = clap::value_parser!(i32).range(3..))]
    openflow_fd: Option<i32>,
    #[command(flatten)]
    openflow_tls: openflow_tls::Args,
    /// Turn on BFD (RFC 5880) at the ports of links in this database of Open vSwitch, ssl:ADDRESS:PORT, tcp:ADDRESS:PORT or
    /// unix:FILE, so that switches notice within 0.1 s that a link has gone dark; may be repeated
    ///
    /// Both ends of a link must be in databases that are given. Ports at which BFD was on already stay as they are. ssl: uses
    /// the certificates of --openflow-tls. Bridges in a mode that does not work raise alarms.
    #[arg(long, value_name = "DATABASE", value_delimiter = ',', env = "BRAID_OVSDB")]
    ovsdb: Vec<OvsdbAddress>,
    /// The longest pause between attempts to connect of switches in these databases, in milliseconds; 0 leaves it alone
    ///
    /// Set for this controller where nobody has set `max_backoff`. Without it Open vSwitch waits for up to 8 s.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 1_000, value_parser = max_backoff, env = "BRAID_OVSDB_MAX_BACKOFF")]
    ovsdb_max_backoff: u32,
    /// Serve the API, the page and metrics on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8653", value_parser = listen::address, env = "BRAID_HTTP")]
    http: SocketAddr,
    /// Serve API clients on this file descriptor as well, an inherited listening TCP socket
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(3..))]
    http_fd: Option<i32>,
    /// A TOML file with tokens of API clients on other machines: `[[token]]` with name, token, and access: read, use
    /// (assignments) or change (the policy)
    ///
    /// Clients on this machine need no token.
    #[arg(long, value_name = "FILE", env = "BRAID_TOKENS")]
    tokens: Option<PathBuf>,
    /// The certificate chain for HTTPS in PEM form, the controller's certificate first; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "BRAID_TLS_CERTIFICATE")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key in PEM form; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "BRAID_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Trust every client that can reach --http: allow plain HTTP, and without --tokens let all clients read everything and
    /// create assignments
    #[arg(long, env = "BRAID_HTTP_TRUSTED")]
    http_trusted: bool,
    /// A name by which browsers and clients reach --http, besides addresses, localhost, this machine's name and the names in the
    /// certificate; may be repeated
    #[arg(long = "http-host", value_name = "NAME", value_delimiter = ',', env = "BRAID_HTTP_HOSTS")]
    http_hosts: Vec<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The lab that the network belongs to: lets the page and the API cut and change its links
    #[arg(long, value_name = "NAME")]
    lab: Option<LabName>,
    /// Record every event to this file, for a replay or a bug report
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// A TOML file with tokens of host agents that may ask for advice: `[[agent]]` with name, token and addresses
    ///
    /// With it, only these agents and this machine may ask. Without it, each host may ask about its own address.
    #[arg(long, value_name = "FILE", env = "BRAID_AGENT_TOKENS")]
    agent_tokens: Option<PathBuf>,
    /// The policy file: which traffic is steered and how, by prefixes and ports; reloaded at SIGHUP
    #[arg(long, value_name = "FILE", env = "BRAID_POLICY")]
    policy: Option<PathBuf>,
    /// How a stream's path is chosen from its path set
    #[arg(long, value_name = "POLICY", default_value_t = Policy::default(), value_parser = policies())]
    placement: Policy,
    /// Distribute plain TCP connections from one host to one port of another over this many paths, in proportion to the
    /// streams that each path can use; 0: all take the default path
    ///
    /// This needs no API call: it is for applications that open several connections and cannot be changed.
    #[arg(long, value_name = "PATHS", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=16))]
    parallel: u8,
    /// Streams that a path can use: the a of n = max(1, a*B*R), in streams per Mbit/s and ms
    #[arg(long, value_name = "A", default_value_t = StreamModel::default().a)]
    streams_a: f64,
    /// How throughput grows with the number of streams up to n: line where windows limit it, parabola where losses do
    #[arg(long, value_name = "GROWTH", default_value_t = Growth::default(), conflicts_with = "stream_model")]
    streams_growth: Growth,
    /// A file with these parameters for the network and for single paths, measured by `braid calibrate --save`
    #[arg(long, value_name = "FILE", conflicts_with = "streams_a")]
    stream_model: Option<PathBuf>,
    /// Learn how many streams each path can use from the throughput of announced connections
    #[arg(long)]
    learn_streams: bool,
    /// Link cost for shortest paths: hops, latency (microseconds), load, or a sum such as 10*hops+latency
    ///
    /// With hops, default paths change only when links come or go; with the others, when measurements change as well.
    #[arg(long, default_value_t = Weight::HOPS)]
    weight: Weight,
    /// Spread flows that take default paths over at most this many equal-cost paths, by a hash of addresses and ports and in
    /// proportion to capacity: 1 to 32, or off for one path
    ///
    /// Switches without select groups, and Braid's edges, use one path.
    #[arg(long, value_name = "PATHS", default_value = "8", value_parser = ecmp_paths, env = "BRAID_ECMP")]
    ecmp: usize,
    /// A file with link capacities, names of switches and hosts, and positions of switches: GraphML, node-link JSON, Braid's JSON or a scenario,
    /// with the switches' datapath ids and ports
    ///
    /// Other links have the speed of their ports.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Move at most this many streams a minute from links that stay full to paths with room; 0: none
    #[arg(long, value_name = "PER-MINUTE", default_value_t = RebalanceSettings::default().moves_per_minute)]
    rebalance_limit: usize,
    /// Avoid links that lose this share of their frames, or corrupt them, until they are clean again; off: use them
    ///
    /// Half of the share is found too, after some more seconds.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = loss_limit, env = "BRAID_LOSS_LIMIT")]
    loss_limit: Probability,
    /// Packet-ins a second that a host port may cause, such as TCP SYNs and ARP; 0: no limit
    ///
    /// The burst size is one second's worth. Switches with meters enforce the limit themselves.
    #[arg(long, value_name = "PACKETS", default_value_t = Settings::default().punt_rate, env = "BRAID_PORT_PACKET_INS")]
    port_packet_ins: u32,
    /// Connections a second from a port that may get a path of their own; further ones take the default path; 0: no limit
    ///
    /// The burst size is ten seconds' worth.
    #[arg(long, value_name = "STREAMS", default_value_t = Settings::default().new_streams, env = "BRAID_PORT_NEW_STREAMS")]
    port_new_streams: u32,
    /// New addresses a second that a port may use, take over or resolve; 0: no limit
    ///
    /// The burst size is one second's worth.
    #[arg(long, value_name = "ADDRESSES", default_value_t = Settings::default().new_addresses, env = "BRAID_PORT_NEW_ADDRESSES")]
    port_new_addresses: u32,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => self::run(*run),
        Command::Check { file } => controller_file::check(&file),
        Command::Metrics { json } => metrics::execute(json),
    }
}

fn run(run: Run) -> anyhow::Result<()> {
    panics::end_the_process();
    let reload = run.config.as_deref().map(ReloadedFile::read).transpose()?;
    let config = configuration(run)?;
    let reload = reload.map(|file| Box::new(file) as Box<dyn Reload>);
    let controller = match Controller::bind(Config { reload, ..config }) {
        Err(error @ (ControllerError::Open { .. } | ControllerError::OpenToSwitches { .. })) => {
            return Err(exit::error(Code::Usage, error.to_string()));
        }
        Err(ref error @ ControllerError::Listen { address, ref source, .. }) => {
            return Err(listen::in_use(error, address, source, "--openflow or --http"));
        }
        other => other?,
    };
    let mut ready = Some((controller.openflow(), controller.http()));
    let mut heartbeat = Heartbeat::from_environment();
    Ok(controller.serve_until_signalled(Box::new(move || {
        if let Some((openflow, http)) = ready.take() {
            say_ready(openflow, http);
        }
        heartbeat.beat();
    }))?)
}

/// Open vSwitch takes nothing below a second.
fn max_backoff(text: &str) -> Result<u32, String> {
    let millis = text.parse().ok().filter(|millis| matches!(millis, 0 | 1_000..));
    millis.ok_or_else(|| "not 0 and not a number of milliseconds from 1000 on".to_owned())
}

/// The configuration that the options say, with all files read and checked.
pub(super) fn configuration(run: Run) -> anyhow::Result<Config> {
    let openflow = match run.openflow_fd {
        Some(fd) => Listen::Inherited(inherited(fd)),
        None => Listen::Address(run.openflow),
    };
    let agents = run.agent_tokens.as_deref().map(Agents::read).transpose().exit_with(Code::Usage)?;
    let policy = run.policy.as_deref().map(PolicyFile::read).transpose().exit_with(Code::Usage)?;
    let access = access(&run)?;
    let network = run.network.clone().map(network).transpose()?;
    Ok(Config {
        openflow,
        openflow_tls: run.openflow_tls.read()?,
        http: run.http,
        http_inherited: run.http_fd.map(inherited),
        record: run.record.clone(),
        agents: agents.unwrap_or_default(),
        access,
        testbed: run.lab.clone().map(|lab| Arc::new(LabTestbed(lab)) as Arc<dyn Testbed>),
        policy,
        reload: None,
        cluster: run.cluster.read()?,
        switch_access: SwitchAccess {
            allowed: run.switches.clone(),
            trusted: run.openflow_trusted,
            per_address: run.switches_per_address,
        },
        ovsdb: OvsdbConfig {
            databases: run.ovsdb.clone(),
            max_backoff: (run.ovsdb_max_backoff > 0)
                .then(|| Duration::from_millis(run.ovsdb_max_backoff.into())),
        },
        switch_metadata: network.as_ref().map(switch_metadata).unwrap_or_default(),
        host_metadata: network.as_ref().map(host_metadata).unwrap_or_default(),
        settings: settings(run, network.as_ref())?,
    })
}

fn access(run: &Run) -> anyhow::Result<Access> {
    let tokens = run.tokens.as_deref().map(Tokens::read).transpose().exit_with(Code::Usage)?;
    let pair = run.tls_certificate.as_deref().zip(run.tls_key.as_deref());
    let tls =
        pair.map(|(certificate, key)| Tls::read(certificate, key)).transpose().exit_with(Code::Usage)?;
    let hosts = HostNames::new(run.http_hosts.iter().cloned());
    Ok(Access { tokens, tls, trusted: run.http_trusted, hosts })
}

fn settings(run: Run, network: Option<&Blueprint>) -> anyhow::Result<Settings> {
    let saturation_loss =
        if run.streams_growth == Growth::Line { 1.0 } else { StreamModel::default().saturation_loss };
    let given = StreamModel { a: run.streams_a, saturation_loss, growth: run.streams_growth };
    let measured = run.stream_model.as_deref().map(ModelFile::read).transpose().exit_with(Code::Usage)?;
    let model = measured.as_ref().map_or(given, ModelFile::network);
    Ok(Settings {
        parallel_paths: usize::from(run.parallel),
        stream_model: model.checked().exit_with(Code::Usage)?,
        learn_streams: run.learn_streams,
        path_models: measured.map(|file| file.paths()).unwrap_or_default(),
        placement: run.placement,
        ecmp_paths: run.ecmp,
        weight: run.weight,
        capacities: network.map(capacities).unwrap_or_default(),
        rebalancing: RebalanceSettings {
            moves_per_minute: run.rebalance_limit,
            ..RebalanceSettings::default()
        },
        health: HealthSettings {
            enabled: run.loss_limit > Probability::ZERO,
            loss_limit: run.loss_limit.share(),
            ..HealthSettings::default()
        },
        punt_rate: run.port_packet_ins,
        new_streams: run.port_new_streams,
        new_addresses: run.port_new_addresses,
        ..Settings::default()
    })
}

fn network(file: PathBuf) -> anyhow::Result<Blueprint> {
    let Loaded { blueprint, warnings } = source::load(&Source::File(file), LinkArgs::default())?;
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    Ok(blueprint)
}

/// The capacities of a network's directed links, by the port that they leave.
fn capacities(network: &Blueprint) -> BTreeMap<SwitchPort, BitsPerSec> {
    network.directed_links().map(|(link, state)| (link.src, state.capacity)).collect()
}

/// The names, groups and positions of a network's switches.
fn switch_metadata(network: &Blueprint) -> SwitchMetadataMap {
    let position = |it: braid_topology::blueprint::Position| Position {
        latitude: it.latitude(),
        longitude: it.longitude(),
    };
    let metadata = |switch: &Switch| SwitchMetadata {
        name: Some(switch.name.clone()),
        group: switch.group.clone(),
        position: switch.position.map(position),
    };
    network.switches().iter().map(|switch| (switch.dpid, metadata(switch))).collect()
}

/// The names of a network's hosts, by the ports where they are attached.
fn host_metadata(network: &Blueprint) -> HostMetadata {
    let hosts = network.hosts().iter();
    let ports =
        hosts.flat_map(|host| host.interfaces.iter().map(|it| (network.port_at(it.end), host.name.clone())));
    HostMetadata { by_port: ports.collect(), ..HostMetadata::default() }
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

/// Reports the addresses: switches and API clients are served from now on.
fn say_ready(openflow: SocketAddr, http: SocketAddr) {
    tracing::info!(%openflow, %http, "ready");
    let line = serde_json::json!({ "schema": "braid/v1", "openflow": openflow, "http": http });
    if let Err(error) = output::text(&format!("{line}\n")) {
        tracing::warn!(%error, "nobody reads the addresses");
    }
    service::ready();
}

#[expect(unsafe_code, reason = "there is no safe way to take over an inherited descriptor")]
fn inherited(fd: i32) -> OwnedFd {
    // SAFETY: this runs before the process opens descriptors of its own, so nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
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
