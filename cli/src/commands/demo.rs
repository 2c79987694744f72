//! `braid demo`: MPTCP against TCP on a two-path lab, with the page beside it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use braid_lab::scenario::Mode;
use braid_lab::{
    Control, Deployment, Interrupt, LabError, Labs, Progress, Report, RunObserver, Scenario, StderrProgress,
};

use super::lab;
use crate::output;

const SCENARIO: &str = include_str!("../../../scenarios/ams-gva.yaml");
/// The port of the page, unless it is taken.
const PAGE_PORT: u16 = 8653;
/// The duration of a transfer with `--hold`.
const HOLD_TRANSFER: Duration = Duration::from_secs(60);
/// The pause after a failed transfer, such as one whose links were cut.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON document instead of the table
    #[arg(long)]
    json: bool,
    /// After the table, keep sending over both paths until Ctrl-C, for the page
    #[arg(long)]
    hold: bool,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let scenario = lab::exit(Scenario::parse(SCENARIO, "scenarios/ams-gva.yaml").map_err(Into::into))?;
    if !args.json {
        output::text(&introduction(&scenario))?;
    }
    let name = lab::exit("demo".parse().map_err(LabError::from))?;
    let interrupt = lab::exit(Interrupt::on_signals())?;
    let progress = StderrProgress::new();
    let mut watch =
        Watch { args, interrupt: &interrupt, scenario: &scenario, progress: &progress, concluded: None };
    let report = Labs::system().run_watched(&scenario, &name, &control()?, &progress, &interrupt, &mut watch);
    let concluded = watch.concluded.take();
    let report = lab::exit(report)?;
    concluded.unwrap_or_else(|| lab::conclude(&report, args.json))
}

/// The controller with its page on the usual port.
fn control() -> anyhow::Result<Control> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PAGE_PORT));
    let is_free = TcpListener::bind(usual).is_ok();
    Ok(match lab::controller(None)? {
        Control::Braid(settings) if is_free => {
            Control::Braid(braid_lab::ControllerSettings { http: usual, ..settings })
        }
        other => other,
    })
}

/// Prints the page's address, and keeps sending with `--hold`.
struct Watch<'a> {
    args: &'a Args,
    interrupt: &'a Interrupt,
    scenario: &'a Scenario,
    progress: &'a dyn Progress,
    /// The result of the run, once known.
    concluded: Option<anyhow::Result<()>>,
}

impl RunObserver for Watch<'_> {
    fn built(&mut self, lab: &Deployment) {
        let Some(address) = lab.page() else { return };
        let text = format!("The network live, as long as this runs: http://{address}/\n");
        match self.args.json {
            true => output::aside(&text),
            false => _ = output::text(&format!("{text}\n")),
        }
    }

    fn measured(&mut self, lab: &Deployment, report: &Report) -> Result<(), LabError> {
        if !self.args.hold {
            return Ok(());
        }
        self.concluded = Some(lab::conclude(report, self.args.json));
        output::aside("Transfers go on until Ctrl-C.\n");
        let scenario = held(self.scenario);
        loop {
            match lab.measure(&scenario, self.progress, self.interrupt) {
                Err(LabError::Interrupted) => return Ok(()),
                // Links may have been cut, even all of them.
                Err(_) => thread::sleep(RETRY_PAUSE),
                Ok(_) => {}
            }
        }
    }
}

/// The same network with long transfers over all of its paths.
fn held(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    if let Some(traffic) = &mut scenario.traffic {
        traffic.modes.retain(|mode| *mode == Mode::Mptcp);
        traffic.duration = HOLD_TRANSFER;
    }
    scenario
}

fn introduction(scenario: &Scenario) -> String {
    let picture = "
        ams1 ─────────── gva1
      ╱  │                │  ╲
   ams   │   100 Mbit/s   │   gva
      ╲  │    each link   │  ╱
        ams2 ─────────── gva2

";
    format!("{}{picture}", scenario.description)
}
