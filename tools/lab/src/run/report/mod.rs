//! The report of a run: transfers, streams, captures, expectations; the document of `--json`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_packet::mptcp::Summary;
use serde::{Deserialize, Deserializer, Serialize};

use super::expect::{self, Whole};
use super::model::{self, ModelRow};
use super::table;
use crate::scenario::{Expectation, Mode, Scenario, Work};

/// The report of a run. Serialised, it is the document of `--json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Always `braid/v1`.
    #[serde(skip_deserializing, default = "schema")]
    pub schema: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// The cost of each variant's lab.
    pub labs: Vec<LabRow>,
    /// A row for each transfer.
    pub rows: Vec<Row>,
    /// The fitted stream model, if the scenario sends over single paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRow>,
    /// A verdict on each expectation.
    pub expectations: Vec<Verdict>,
    /// Whether all expectations hold that do not need a quiet machine.
    pub ok: bool,
}

/// One transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The variant, if the scenario has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The mode.
    pub mode: Mode,
    /// The tool and length, if the scenario compares several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// The sender and the receiver.
    pub direction: RowDirection,
    /// The number of parallel connections.
    pub connections: u16,
    /// The number of the run, from 1, if the scenario repeats runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u16>,
    /// The goodput at the receiver without headers and warm-up, in bits per second.
    pub goodput_bps: f64,
    /// The maximum flow between the two hosts over the links' rates, in bits per second.
    pub capacity_bps: f64,
    /// Goodput over capacity.
    pub fraction_of_capacity: f64,
    /// The rate of the cross traffic in bits per second, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_bps: Option<f64>,
    /// The duration at the receiver.
    pub seconds: f64,
    /// The number of retransmitted segments.
    pub retransmits: u64,
    /// Its TCP streams, sorted by bytes, the largest first.
    pub streams: Vec<StreamRow>,
    /// The MPTCP counters of the client's kernel, for MPTCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<MptcpUse>,
    /// The delivery of a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Goodput over time.
    pub intervals: Vec<Interval>,
    /// The captures of this and simultaneous transfers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<CaptureRow>,
}

/// A capture at an interface of a host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CaptureRow {
    /// The host.
    pub host: String,
    /// The interface.
    pub interface: String,
    /// The number of packets.
    pub packets: usize,
    /// The first 64 packets that set up MPTCP subflows.
    pub handshakes: Vec<HandshakeRow>,
    /// All packets in libpcap format.
    #[serde(skip)]
    pub pcap: Vec<u8>,
}

/// A packet that sets up an MPTCP subflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HandshakeRow {
    /// Seconds after the first packet.
    pub at: f64,
    /// The sender's address.
    pub src: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The receiver's port.
    pub dst_port: u16,
    /// `SYN`, `SYN/ACK` or `ACK`.
    pub flags: String,
    /// Its MPTCP option.
    #[serde(flatten)]
    pub option: Summary,
}

/// The cost of a lab.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LabRow {
    /// The variant, if the scenario has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Switches.
    pub switches: usize,
    /// Hosts.
    pub hosts: usize,
    /// Links.
    pub links: usize,
    /// The time until the network carries traffic, in seconds.
    pub seconds: f64,
    /// The memory of its processes in bytes, by name.
    pub memory_bytes: BTreeMap<String, u64>,
}

/// The sender and the receiver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RowDirection {
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
}

/// A TCP connection or an MPTCP subflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamRow {
    /// The sender's address.
    pub src: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The receiver's port.
    pub dst_port: u16,
    /// Bytes acknowledged at the last sample, at most half a second before the end.
    pub bytes: u64,
    /// The names of the switches on its path; empty if it has no path of its own.
    pub path: Vec<String>,
    /// The rate between samples.
    pub intervals: Vec<Interval>,
}

/// The use of MPTCP, including the tool's control connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MptcpUse {
    /// Connections that negotiated it.
    pub connections: u64,
    /// Additional subflows.
    pub joins: u64,
    /// Connections that fell back to TCP.
    pub fallbacks: u64,
    /// Packet-ins of packets with MP_JOIN.
    pub join_packet_ins: u64,
}

/// The sent and received data of a copy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Delivery {
    /// Bytes to send.
    pub bytes: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// The SHA-256 of the sent data, in hexadecimal.
    pub sha256_sent: String,
    /// The SHA-256 of the received data, in hexadecimal.
    pub sha256_received: String,
    /// Whether all bytes arrived unchanged.
    pub intact: bool,
    /// The longest time without received data, in seconds.
    pub longest_stall: f64,
}

/// The rate in an interval, in seconds from the start.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Its start.
    pub start: f64,
    /// Its end.
    pub end: f64,
    /// In bits per second.
    pub bps: f64,
}

/// The verdict on an expectation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The expectation's name.
    pub name: String,
    /// The deciding value among the rows; NaN, in JSON `null`, if there is none.
    #[serde(deserialize_with = "nan_if_null")]
    pub value: f64,
    /// The side on which the limit lies.
    pub bound: Bound,
    /// The limit.
    pub limit: f64,
    /// Whether the expectation holds.
    pub ok: bool,
    /// Whether it decides only where nothing else ran on the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_quiet_machine: bool,
}

/// The side on which a limit lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The value is at or above the limit.
    AtLeast,
    /// The value is at or below the limit.
    AtMost,
}

fn schema() -> &'static str {
    crate::SCHEMA
}

/// JSON has no NaN.
fn nan_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Row {
    /// The mode, with the tool and length if several are compared.
    pub(super) fn what(&self) -> String {
        let work = self.work.map(|work| format!(" {work}")).unwrap_or_default();
        format!("{}{work}", self.mode)
    }
}

impl Report {
    pub(super) fn new(scenario: &Scenario, labs: Vec<LabRow>, rows: Vec<Row>) -> Self {
        let model = model::of(scenario, &rows);
        let whole = whole(scenario, model.as_ref());
        let expectations: Vec<_> = scenario.expect.iter().map(|it| expect::judge(it, &rows, whole)).collect();
        let ok = expectations.iter().all(|verdict| verdict.ok || verdict.needs_quiet_machine);
        Self { schema: crate::SCHEMA, scenario: scenario.name.clone(), labs, rows, model, expectations, ok }
    }

    /// A verdict on another expectation of the same scenario.
    pub fn judge(&self, scenario: &Scenario, expectation: &Expectation) -> Verdict {
        expect::judge(expectation, &self.rows, whole(scenario, self.model.as_ref()))
    }

    /// The process's exit code: 0, or 5 if an expectation does not hold.
    pub fn exit_code(&self) -> u8 {
        if self.ok { 0 } else { 5 }
    }

    /// The report as text: a table of the rows, and a line for each expectation.
    pub fn to_text(&self) -> String {
        table::render(self)
    }
}

fn whole(scenario: &Scenario, model: Option<&ModelRow>) -> Whole {
    let warm_up = scenario.traffic.as_ref().map_or(0.0, |traffic| traffic.warm_up.as_secs_f64());
    Whole { capacity: total_capacity(scenario), warm_up, a: model.map_or(f64::NAN, |it| it.a) }
}

/// The maximum flow from all senders to all receivers, in bits per second.
fn total_capacity(scenario: &Scenario) -> f64 {
    let directions = scenario.traffic.as_ref().map(|traffic| traffic.directions.as_slice());
    let (from, to): (Vec<_>, Vec<_>) = directions.into_iter().flatten().map(|it| (it.from, it.to)).unzip();
    scenario.topology.capacity_of_all(&from, &to).as_f64()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn row(mode: Mode, goodput_bps: f64, paths: &[&[&str]]) -> Row {
        let stream = |(index, path): (usize, &&[&str])| StreamRow {
            src: [10, 0, index as u8 + 1, 1].into(),
            src_port: 40_000,
            dst: [10, 0, index as u8 + 1, 2].into(),
            dst_port: 5201,
            bytes: 1_000_000,
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            intervals: vec![Interval { start: 0.5, end: 1.0, bps: goodput_bps / 2.0 }],
        };
        let mptcp = MptcpUse { connections: 2, joins: 2, fallbacks: 0, join_packet_ins: 4 };
        Row {
            variant: None,
            mode,
            work: None,
            direction: RowDirection { from: "ams".to_owned(), to: "gva".to_owned() },
            connections: 1,
            run: None,
            goodput_bps,
            capacity_bps: 2e8,
            fraction_of_capacity: goodput_bps / 2e8,
            background_bps: None,
            seconds: 1.5,
            retransmits: 3,
            streams: paths.iter().enumerate().map(stream).collect(),
            mptcp: (mode == Mode::Mptcp).then_some(mptcp),
            delivery: None,
            intervals: [0.25, 0.75, 1.0]
                .iter()
                .enumerate()
                .map(|(index, share)| Interval {
                    start: index as f64 / 2.0,
                    end: (index + 1) as f64 / 2.0,
                    bps: goodput_bps * share,
                })
                .collect(),
            captures: Vec::new(),
        }
    }

    fn lab() -> LabRow {
        let memory_bytes = BTreeMap::from([("ovs-vswitchd".to_owned(), 30_000_000)]);
        LabRow { variant: None, switches: 4, hosts: 2, links: 8, seconds: 1.25, memory_bytes }
    }

    fn report(mptcp_goodput: f64) -> Report {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
        let tcp = row(Mode::Tcp, 9.5e7, &[&[]]);
        let mptcp = row(Mode::Mptcp, mptcp_goodput, &[&["ams1", "gva1"], &["ams2", "gva2"]]);
        Report::new(&Scenario::load(&path).unwrap(), vec![lab()], vec![tcp, mptcp])
    }

    #[test]
    fn the_document_is_as_reviewed() {
        insta::assert_json_snapshot!(report(1.88e8));
    }

    #[test]
    fn the_document_is_read_back_and_a_value_that_is_no_number_too() {
        let mut report = report(1.88e8);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        report.expectations[0].value = f64::NAN;
        let text = serde_json::to_string(&report).unwrap();
        assert!(serde_json::from_str::<Report>(&text).unwrap().expectations[0].value.is_nan());
    }

    #[test]
    fn the_table_is_as_reviewed() {
        insta::assert_snapshot!(report(1.7e8).to_text());
    }

    #[test]
    fn runs_and_numbers_of_streams_make_a_table_of_their_own() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
        let scenario = Scenario { expect: Vec::new(), ..Scenario::load(&path).unwrap() };
        let of = |variant: &str, mode, connections, run, goodput| Row {
            variant: Some(variant.to_owned()),
            connections,
            run: Some(run),
            ..row(mode, goodput, &[])
        };
        let mut rows = Vec::new();
        for (connections, more) in [(1, 0.0), (2, 1e6)] {
            rows.push(of("many", Mode::Mptcp, connections, 1, 1.8e8 + more));
            rows.push(of("many", Mode::Mptcp, connections, 2, 1.9e8 + more));
            rows.push(of("few", Mode::Tcp, connections, 1, 9.5e7 + more));
        }
        let sweep = Report::new(&scenario, Vec::new(), rows.clone()).to_text();
        rows.retain(|row| row.connections == 1);
        let runs = Report::new(&scenario, Vec::new(), rows).to_text();
        insta::assert_snapshot!(sweep + &runs);
    }

    #[test]
    fn a_folder_gets_the_document_the_table_and_a_plot_of_each_transfer() {
        let folder = tempfile::tempdir().unwrap();
        let report = report(1.88e8);
        report.write(folder.path()).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let document: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
        assert_eq!(document["rows"][1]["streams"][0]["intervals"][0]["bps"], 9.4e7);
        assert_eq!(read("table.txt"), report.to_text());
        let svg = read("streams/002-mptcp-ams-gva.svg");
        assert!(svg.contains("10.0.1.1:40000 ams1 gva1") && svg.contains("10.0.2.1:40000 ams2 gva2"));
        assert!(read("goodput.svg").contains("mptcp, ams &gt; gva") && read("over-time.svg").contains("tcp"));
        assert!(!folder.path().join("ranks.svg").exists());
    }

    #[test]
    fn the_exit_code_tells_whether_everything_holds() {
        assert_eq!((report(1.88e8).exit_code(), report(1.7e8).exit_code()), (0, 5));
    }
}
