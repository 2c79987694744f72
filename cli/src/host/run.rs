//! `braid host run`: the agent on an MPTCP host.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use braid_client::{Client, Credentials, Options, Url};
use braid_congestion::Algorithm;
use braid_host::managed::{Adviser, MAX_ANSWER, Members, TIMEOUT};
use braid_host::pm::{Endpoint, EndpointFlag, Limits};
use braid_host::trials::{Notice, Observer};
use braid_host::{Agent, Config};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::client;
use crate::exit::{Code, ExitWith, error};
use crate::service::{self, Heartbeat};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// A TOML file with these options: each is a key, with _ for -. The command line and the environment come before it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The path manager: what opens subflows; by default the system's settings stay
    #[arg(long, value_enum, required_unless_present = "congestion")]
    mode: Option<Mode>,
    /// Coupled congestion control for MPTCP: the subflows of a connection take one fair share of a bottleneck together
    ///
    /// Applies to new and accepted MPTCP connections; plain TCP keeps its congestion control. uncoupled: each subflow runs
    /// on its own.
    #[arg(long, value_name = "ALGORITHM", value_parser = algorithms(), env = "BRAID_CONGESTION")]
    congestion: Option<Algorithm>,
    /// Subflows of a connection in total: of the kernel, or of the agent without advice
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    subflows: u8,
    /// Addresses of this host for the kernel's subflows, each with @INTERFACE if its packets do not leave by the interface
    /// of the default route
    #[arg(long, value_name = "ADDRESS[@INTERFACE]", value_delimiter = ',')]
    endpoints: Vec<String>,
    /// Announced addresses of the peer that the kernel uses, up to 8
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u8).range(..=8))]
    accept: u8,
    /// The controller that advises which subflows to open, such as http://127.0.0.1:8653; may be repeated for the members of a
    /// cluster, of which another one is asked where one does not answer
    ///
    /// For https, BRAID_CA names a file with the CA certificates.
    #[arg(long, value_name = "URL", value_delimiter = ',', env = "BRAID_CONTROLLER")]
    controller: Vec<Url>,
    /// A file with the agent's token
    #[arg(long, value_name = "FILE", requires = "controller", env = "BRAID_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Additional subflows of a connection, whatever the controller advises
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = clap::value_parser!(u8).range(..=64))]
    max_subflows: u8,
    /// Suspend subflows that drag: those without which a connection that this host sends over carries as much
    ///
    /// Each result of a trial is a line of JSON on standard output.
    #[arg(long, value_enum, value_name = "STATE", default_value_t = Suspension::On)]
    suspend: Suspension,
    /// Bytes that TCP's receive buffers start with at least (net.ipv4.tcp_rmem); 0 leaves the system's setting
    ///
    /// Linux may stop an MPTCP connection for good once data behind a gap fill its receive buffer. The buffer has to hold what
    /// the other paths deliver until one path has repeated what it lost.
    #[arg(long, value_name = "BYTES", default_value_t = 4_194_304, value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    receive_buffer: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// The kernel, with the same --endpoints for every connection
    Kernel,
    /// The agent, as the controller advises; without advice, --subflows between the connection's addresses
    Managed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suspension {
    /// Those that drag are suspended, and tried again later
    On,
    /// No subflow is suspended
    Off,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    crate::panics::end_the_process();
    let mode = args.mode.map(|mode| self::mode(args, mode)).transpose()?;
    let observer = (args.suspend == Suspension::On).then(|| Box::new(say) as Observer);
    let agent = Agent::start(Config {
        mode,
        congestion: args.congestion,
        observer,
        receive_buffer: args.receive_buffer,
    });
    let agent = agent.or_else(|error| {
        let code = if error.is_missing_feature() { Code::Machine } else { Code::Failure };
        Err(error).exit_with(code)
    })?;
    say_ready(&agent)?;
    service::ready();
    let mut heartbeat = Heartbeat::from_environment();
    Ok(agent.run_until_signalled(&mut || heartbeat.beat())?)
}

fn mode(args: &Args, mode: Mode) -> anyhow::Result<braid_host::Mode> {
    Ok(match mode {
        Mode::Kernel => {
            let subflows = u32::from(args.subflows.saturating_sub(1).min(8));
            let limits = Limits { subflows, accepted_addresses: args.accept.into() };
            let endpoints =
                args.endpoints.iter().map(|text| endpoint(text)).collect::<anyhow::Result<_>>()?;
            braid_host::Mode::Kernel { limits, endpoints }
        }
        Mode::Managed => braid_host::Mode::Managed {
            subflows: args.subflows.into(),
            most: args.max_subflows.into(),
            adviser: adviser(args)?,
        },
    })
}

fn endpoint(text: &str) -> anyhow::Result<Endpoint> {
    let (address, dev) = text.split_once('@').map_or((text, None), |(address, dev)| (address, Some(dev)));
    let address = address.parse().map_err(|_| {
        error(Code::Usage, format!("{address:?} is not an IP address: give ADDRESS or ADDRESS@INTERFACE"))
    })?;
    let interface = dev.map(super::endpoints::interface).transpose()?.unwrap_or(0);
    let flags = [EndpointFlag::Subflow].into_iter().collect();
    Ok(Endpoint { id: 0, address, port: None, flags, interface })
}

fn adviser(args: &Args) -> anyhow::Result<Option<Box<dyn Adviser>>> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read the token in {}", path.display()))
    };
    let token = args.token_file.as_ref().map(read).transpose()?;
    let clients = args.controller.iter().map(|url| {
        let credentials = Credentials { token: token.clone(), roots: client::roots(url)? };
        let options = Options { credentials, timeout: TIMEOUT, max_answer: MAX_ANSWER };
        client::answer(Client::with(url, &options))
    });
    let mut clients = clients.collect::<anyhow::Result<Vec<_>>>()?.into_iter();
    Ok(clients.next().map(|first| Box::new(Members::new(first, clients.collect())) as Box<dyn Adviser>))
}

fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)).try_map(|name| name.parse::<Algorithm>())
}

/// Who reads the output may have gone; the agent goes on.
fn say(notice: &Notice) {
    let line = serde_json::to_string(notice).map(|it| it + "\n").unwrap_or_default();
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn say_ready(agent: &Agent) -> io::Result<()> {
    let congestion = agent.congestion().map(braid_host::congestion::kernel_name);
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "schema": "braid/v1", "congestion": congestion }))?;
    out.flush()
}
