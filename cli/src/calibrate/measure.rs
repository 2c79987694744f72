//! Measurement of each path with growing numbers of streams, by iperf3.

use std::env::current_exe;
use std::net::{IpAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use braid_api::{AssignedPath, NewAssignment};
use braid_assign::Sample;
use braid_client::Client;
use braid_types::{BitsPerSec, DatapathId};
use serde_json::Value;

use crate::client::answer;
use crate::exit::{self, Code};

/// The parameters of a measurement.
pub(super) struct Measurement<'a> {
    pub(super) client: &'a Client,
    pub(super) dst: IpAddr,
    pub(super) port: u16,
    pub(super) paths: u8,
    pub(super) seconds: u16,
    pub(super) warm_up: u16,
}

/// A path with its samples.
pub(super) struct MeasuredPath {
    pub(super) switches: Vec<DatapathId>,
    pub(super) samples: Vec<Sample>,
}

impl Measurement<'_> {
    /// Sends over each path with each number of streams.
    pub(super) fn run(&self, streams: &[u16]) -> anyhow::Result<Vec<MeasuredPath>> {
        let src = source_to(self.dst)
            .context("no way to that host")
            .map_err(|error| exit::error(Code::NotFound, format!("{error:#}")))?;
        let mut measured = Vec::new();
        for number in 0..self.paths {
            // Cross traffic and delays may have changed meanwhile.
            let paths = self.paths_beside(src, number)?;
            let Some(path) = paths.get(usize::from(number)) else { break };
            let mut samples = Vec::new();
            for streams in streams {
                let goodput = self.transfer(src, number, *streams)?;
                let mbits = goodput.as_f64() / 1e6;
                exit::say(&format!("path {number} of {}, {streams} streams: {mbits:.1} Mbit/s", paths.len()));
                samples.push(Sample {
                    available: BitsPerSec(path.available_bps),
                    round_trip: Duration::from_secs_f64(path.round_trip_us.max(0.0) / 1e6),
                    streams: usize::from(*streams),
                    goodput,
                });
            }
            measured.push(MeasuredPath { switches: path.switches.clone(), samples });
        }
        Ok(measured)
    }

    /// The controller's view of the paths, restricted to this one.
    fn paths_beside(&self, src: IpAddr, number: u8) -> anyhow::Result<Vec<AssignedPath>> {
        let wanted = NewAssignment {
            distribution: Some(only(number)),
            lease_seconds: Some(1),
            ..NewAssignment::between(src, self.dst, self.paths.into())
        };
        Ok(answer(self.client.assign(&wanted))?.paths)
    }

    /// The goodput of iperf3 over one path with a number of streams.
    fn transfer(&self, src: IpAddr, number: u8, streams: u16) -> anyhow::Result<BitsPerSec> {
        let mut command =
            Command::new(current_exe().context("cannot determine the path of this executable")?);
        command.args([
            "run",
            "--quiet",
            "--owner",
            "calibrate",
            "--controller",
            &self.client.url().to_string(),
        ]);
        command.args(["--paths", &self.paths.to_string(), "--distribute", &only(number), "--"]);
        command.args(["iperf3", "--json", "--client", &self.dst.to_string(), "--bind", &src.to_string()]);
        command.args(["--port", &self.port.to_string(), "--parallel", &streams.to_string()]);
        command.args(["--time", &self.seconds.to_string(), "--omit", &self.warm_up.to_string()]);
        let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        goodput(&String::from_utf8_lossy(&done.stdout)).map_err(|why| exit::error(Code::Failure, why))
    }
}

/// The distribution over one path alone.
fn only(number: u8) -> String {
    format!("path:{number}")
}

/// iperf3 exits with 0 even after errors: these are in its document.
fn goodput(text: &str) -> Result<BitsPerSec, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("iperf3 was cut off: {error}"))?;
    if let Some(error) = document["error"].as_str() {
        return Err(format!("iperf3: {error}"));
    }
    let rate = document["end"]["sum_received"]["bits_per_second"].as_f64();
    rate.map(|rate| BitsPerSec(rate as u64)).ok_or_else(|| "iperf3 measured nothing".to_owned())
}

/// The source address towards a destination; nothing is sent.
fn source_to(dst: IpAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr = if dst.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect((dst, 9))?;
    Ok(probe.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrived_counts_and_an_error_is_one() {
        let whole =
            r#"{"end": {"sum_sent": {"bits_per_second": 9e7}, "sum_received": {"bits_per_second": 8.5e7}}}"#;
        assert_eq!(goodput(whole), Ok(BitsPerSec(85_000_000)));
        let refused = r#"{"start": {}, "end": {}, "error": "unable to connect to server"}"#;
        assert_eq!(goodput(refused), Err("iperf3: unable to connect to server".to_owned()));
        for cut in ["", "{", r#"{"end": {}}"#] {
            assert!(goodput(cut).is_err(), "{cut}");
        }
    }
}
