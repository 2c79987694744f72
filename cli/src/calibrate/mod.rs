//! `braid calibrate`: the number of parallel streams that paths can use, from real transfers over each.

mod findings;
mod measure;
mod model_file;

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Context;
use braid_client::Url;

use crate::client::connect;
use crate::exit::{self, Code, ExitWith};
use crate::output;
use findings::Findings;
use measure::Measurement;

pub(crate) use model_file::ModelFile;

/// Measure how many parallel streams each path to a host can use
///
/// Run `iperf3 -s` on that host, and this command on another one. It sends over each path with each number of streams in
/// turn, and fits the a of n = max(1, a*B*R) to the goodput, for the network and for each path.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The host to send to
    dst: IpAddr,
    /// Number of paths to measure, the shortest first
    #[arg(long, value_name = "PATHS", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    paths: u8,
    /// Numbers of streams to try
    #[arg(long, value_name = "STREAMS", value_delimiter = ',', default_value = "1,2,3,4,6,8,12,16", value_parser = clap::value_parser!(u16).range(1..=128))]
    streams: Vec<u16>,
    /// Seconds of measurement of each transfer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=600))]
    time: u16,
    /// Seconds of each transfer before the measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u16).range(0..=60))]
    warm_up: u16,
    /// The port of iperf3's server
    #[arg(long, default_value_t = 5201)]
    port: u16,
    /// Write the fitted models to this file, for `braid controller run --stream-model`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write a plot to this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// The address of the controller's API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let measurement = Measurement {
        client: &connect(&args.controller)?,
        dst: args.dst,
        port: args.port,
        paths: args.paths,
        seconds: args.time,
        warm_up: args.warm_up,
    };
    let paths = measurement.run(&args.streams)?;
    let findings = Findings::of(paths).map_err(|error| exit::error(Code::Failure, error))?;
    if let Some(file) = &args.save {
        let text = serde_json::to_string_pretty(&findings.file())? + "\n";
        fs::write(file, text).with_context(|| file.display().to_string()).exit_with(Code::Failure)?;
    }
    if let Some(file) = &args.plot {
        let svg = findings.plot()?;
        fs::write(file, svg).with_context(|| file.display().to_string()).exit_with(Code::Failure)?;
    }
    if args.json { output::json(&findings.file()) } else { output::text(&findings.text()) }
}
