//! `braid controller`: command-line options turned into a controller's configuration.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use braid_api::Position;
use braid_assign::{Growth, StreamModel};
use braid_controller::{
    Access, Agents, Config, Controller, ControllerError, Drawings, Drawn, Listen, PolicyFile,
    RebalanceSettings, Settings, Testbed, Tls, Tokens,
};
use braid_lab::LabName;
use braid_paths::Weight;
use braid_steering::Policy;
use braid_topology::blueprint::{Blueprint, Switch};
use braid_types::{BitsPerSec, SwitchPort};
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::calibrate::ModelFile;
use crate::exit::{self, Code, ExitWith};
use crate::testbed::LabTestbed;
use crate::topology::source::{self, LinkArgs, Loaded, Source};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the controller until SIGTERM or Ctrl-C
    ///
    /// Prints one line of JSON with its addresses once it is ready; logs go to standard error.
    Run(Run),
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// Where switches connect; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6653", env = "BRAID_OPENFLOW")]
    openflow: SocketAddr,
    /// Take switches in on this file descriptor, an inherited listening TCP socket, instead
    #[arg(long, value_name = "FD", conflicts_with = "openflow", value_parser = clap::value_parser!(i32).range(3..))]
    openflow_fd: Option<i32>,
    /// Where the API and metrics are served; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8653", env = "BRAID_HTTP")]
    http: SocketAddr,
    /// Serve programs on this file descriptor, an inherited listening TCP socket, as well
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(3..))]
    http_fd: Option<i32>,
    /// A TOML file of those who may ask from other machines: `[[token]]` with name, token, and may: read, use (set paths aside)
    /// or change (the policy)
    ///
    /// This machine needs none.
    #[arg(long, value_name = "FILE", env = "BRAID_TOKENS")]
    tokens: Option<PathBuf>,
    /// The controller's certificate, and those that lead to one that others trust, in PEM form: HTTPS; read again at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "BRAID_TLS_CERTIFICATE")]
    tls_certificate: Option<PathBuf>,
    /// The key of the certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_certificate", env = "BRAID_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Trust everybody who can reach the address of --http: plain HTTP, and without --tokens all may see everything and set
    /// paths aside
    #[arg(long, env = "BRAID_HTTP_TRUSTED")]
    http_trusted: bool,
    /// The lab that the network is: its links can be cut and changed from the page and over HTTP
    #[arg(long, value_name = "NAME")]
    lab: Option<LabName>,
    /// Write every event to this file, for a replay or a bug report
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// A TOML file with the agents on hosts that may ask for advice: `[[agent]]` with name, token and addresses
    ///
    /// With it, only they and this machine may ask; without, each host about its own address.
    #[arg(long, value_name = "FILE", env = "BRAID_AGENT_TOKENS")]
    agent_tokens: Option<PathBuf>,
    /// A policy file: which traffic is steered how, by prefixes and ports; read again at SIGHUP
    #[arg(long, value_name = "FILE", env = "BRAID_POLICY")]
    policy: Option<PathBuf>,
    /// How a stream's path is chosen among those of its hosts
    ///
    /// fewest-shared: that which meets the fewest other streams of its transfer. least-loaded: of those, the one with
    /// the most headroom, whoever else uses the network. deterministic: that which the fewest others between the same two
    /// addresses take (Zannettou et al. 2016). random: any, as ECMP.
    #[arg(long, value_name = "POLICY", default_value_t = Policy::default(), value_parser = policies())]
    placement: Policy,
    /// Over how many paths plain TCP connections from one host to one port of another are spread, in proportion to what the
    /// paths can use; 0: they all take the shortest
    ///
    /// From their first packets, and without a call: for programs that open several connections and cannot be changed.
    #[arg(long, value_name = "PATHS", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=16))]
    parallel: u8,
    /// How many streams paths can use: the a of n = max(1, a*B*R), in streams per Mbit/s and ms
    #[arg(long, value_name = "A", default_value_t = StreamModel::default().a)]
    streams_a: f64,
    /// How what they carry grows until there are enough: line, where their windows limit them, or parabola, where losses do
    #[arg(long, value_name = "GROWTH", default_value_t = Growth::default(), conflicts_with = "stream_model")]
    streams_growth: Growth,
    /// The same of the network and of single paths, as `braid calibrate --save` has measured it
    #[arg(long, value_name = "FILE", conflicts_with = "streams_a")]
    stream_model: Option<PathBuf>,
    /// Learn how many streams each path can use from what announced connections carry
    #[arg(long)]
    learn_streams: bool,
    /// What a link costs where the shortest path is chosen: hops, latency (microseconds), load, or a sum such as
    /// 10*hops+latency
    ///
    /// By hops, routes move only when links come or go; by others, when what is measured changes, too.
    #[arg(long, default_value_t = Weight::HOPS)]
    weight: Weight,
    /// A file that says what the links between switches carry, and how these are called and where they stand: GraphML, node-link JSON, Braid's JSON or a scenario, with
    /// the switches' datapath ids and ports
    ///
    /// Of links that it does not name, the speed of their ports counts.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// How many streams a minute are moved off links that stay full to paths with room; 0: none
    #[arg(long, value_name = "PER-MINUTE", default_value_t = RebalanceSettings::default().moves_per_minute)]
    moves: usize,
    /// Packets a second that a port with hosts may send up to the controller, such as TCP SYNs and ARP; 0: no limit
    ///
    /// As many may come at once after a quiet second. Switches that have meters hold the limit themselves.
    #[arg(long, value_name = "PACKETS", default_value_t = Settings::default().punt_rate, env = "BRAID_PORT_PACKET_INS")]
    port_packet_ins: u32,
    /// Connections a second from a port that may get a path of their own; more take the default route; 0: no limit
    ///
    /// Ten times as many may come at once after ten quiet seconds.
    #[arg(long, value_name = "STREAMS", default_value_t = Settings::default().new_streams, env = "BRAID_PORT_NEW_STREAMS")]
    port_new_streams: u32,
    /// Addresses a second that may be new at a port, be claimed there, or be looked for from there; 0: no limit
    ///
    /// As many may come at once after a quiet second.
    #[arg(long, value_name = "ADDRESSES", default_value_t = Settings::default().new_addresses, env = "BRAID_PORT_NEW_ADDRESSES")]
    port_new_addresses: u32,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    let Command::Run(run) = command;
    let openflow = match run.openflow_fd {
        Some(fd) => Listen::Inherited(inherited(fd)),
        None => Listen::Address(run.openflow),
    };
    abort_on_panic();
    let (http, record) = (run.http, run.record.clone());
    let agents = run.agent_tokens.as_deref().map(Agents::read).transpose().exit_with(Code::Usage)?;
    let agents = agents.unwrap_or_default();
    let policy = run.policy.as_deref().map(PolicyFile::read).transpose().exit_with(Code::Usage)?;
    let access = access(&run)?;
    let http_inherited = run.http_fd.map(inherited);
    let network = run.network.clone().map(network).transpose()?;
    let controller = Controller::bind(Config {
        openflow,
        http,
        http_inherited,
        record,
        agents,
        access,
        testbed: run.lab.clone().map(|lab| Arc::new(LabTestbed(lab)) as Arc<dyn Testbed>),
        policy,
        drawings: network.as_ref().map(drawings).unwrap_or_default(),
        settings: settings(run, network.as_ref())?,
    });
    let controller = match controller {
        Err(error @ ControllerError::Open { .. }) => return Err(exit::error(Code::Usage, error.to_string())),
        other => other?,
    };
    say_ready(&controller)?;
    Ok(controller.serve_until_signalled()?)
}

fn access(run: &Run) -> anyhow::Result<Access> {
    let tokens = run.tokens.as_deref().map(Tokens::read).transpose().exit_with(Code::Usage)?;
    let pair = run.tls_certificate.as_deref().zip(run.tls_key.as_deref());
    let tls =
        pair.map(|(certificate, key)| Tls::read(certificate, key)).transpose().exit_with(Code::Usage)?;
    Ok(Access { tokens, tls, trusted: run.http_trusted })
}

fn settings(run: Run, network: Option<&Blueprint>) -> anyhow::Result<Settings> {
    let lack = if run.streams_growth == Growth::Line { 1.0 } else { StreamModel::default().lack };
    let given = StreamModel { a: run.streams_a, lack, growth: run.streams_growth };
    let measured = run.stream_model.as_deref().map(ModelFile::read).transpose().exit_with(Code::Usage)?;
    let model = measured.as_ref().map_or(given, ModelFile::network);
    Ok(Settings {
        parallel_paths: usize::from(run.parallel),
        stream_model: model.checked().exit_with(Code::Usage)?,
        learn_streams: run.learn_streams,
        path_models: measured.map(|file| file.paths()).unwrap_or_default(),
        placement: run.placement,
        weight: run.weight,
        capacities: network.map(capacities).unwrap_or_default(),
        rebalancing: RebalanceSettings { moves_per_minute: run.moves, ..RebalanceSettings::default() },
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

/// What the links of a network carry, by the port that they leave.
fn capacities(network: &Blueprint) -> BTreeMap<SwitchPort, BitsPerSec> {
    network.links().map(|(link, state)| (link.src, state.capacity)).collect()
}

/// How its switches are called, and where they stand.
fn drawings(network: &Blueprint) -> Drawings {
    let position = |it: braid_topology::blueprint::Position| Position {
        latitude: it.latitude(),
        longitude: it.longitude(),
    };
    let drawn = |switch: &Switch| Drawn {
        name: Some(switch.name.clone()),
        group: switch.group.clone(),
        position: switch.position.map(position),
    };
    network.switches().iter().map(|switch| (switch.dpid, drawn(switch))).collect()
}

fn policies() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).try_map(|name| name.parse::<Policy>())
}

/// A controller that goes on with half a state does more harm than one that is started again: meanwhile the
/// switches keep their rules.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

/// Switches and programs may connect from now on: they wait in the sockets' queues.
fn say_ready(controller: &Controller) -> io::Result<()> {
    let (openflow, http) = (controller.openflow(), controller.http());
    tracing::info!(%openflow, %http, "ready");
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "schema": "braid/v1", "openflow": openflow, "http": http }))?;
    out.flush()
}

#[expect(unsafe_code, reason = "a descriptor that another process opened can be taken over in no other way")]
fn inherited(fd: i32) -> OwnedFd {
    // SAFETY: nothing in this process has opened a descriptor of its own that early, so nobody else owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
