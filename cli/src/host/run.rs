use std::io::{self, Write};

use braid_congestion::Algorithm;
use braid_host::congestion::CongestionError;
use braid_host::{Agent, AgentError, Config};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::exit::{Code, ExitWith};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Couple the windows of an MPTCP connection's subflows, so that together they take no more than their share
    ///
    /// It becomes what new and accepted MPTCP connections use; plain TCP keeps what it has. uncoupled: every subflow for
    /// itself.
    #[arg(long, value_name = "ALGORITHM", value_parser = algorithms(), env = "BRAID_CONGESTION")]
    congestion: Option<Algorithm>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let agent = Agent::start(Config { congestion: args.congestion }).or_else(refuse)?;
    say_ready(&agent)?;
    Ok(agent.run_until_signalled()?)
}

/// What the machine lacks has an exit code of its own.
fn refuse(error: AgentError) -> anyhow::Result<Agent> {
    let code = match &error {
        AgentError::Congestion(cause) if CongestionError::is_lack(cause) => Code::Machine,
        _ => Code::Failure,
    };
    Err(error).exit_with(code)
}

fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)).try_map(|name| name.parse::<Algorithm>())
}

fn say_ready(agent: &Agent) -> io::Result<()> {
    let congestion = agent.congestion().map(braid_host::congestion::kernel_name);
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "schema": "braid/v1", "congestion": congestion }))?;
    out.flush()
}
