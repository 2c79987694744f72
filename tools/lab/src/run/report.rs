use std::net::IpAddr;

use serde::Serialize;

use super::{expect, table};
use crate::scenario::{Mode, Scenario};

/// What a run showed. Serialised, it is the one document of `--json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Always `braid/v1`.
    pub schema: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// One for each mode and direction.
    pub rows: Vec<Row>,
    /// One for each expectation of the scenario.
    pub expectations: Vec<Verdict>,
    /// Whether all of them hold.
    pub ok: bool,
}

/// One transfer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// How it was carried.
    pub mode: Mode,
    /// Who sent to whom.
    pub direction: RowDirection,
    /// What arrived at the receiver over the whole run, headers left out, in bits per second.
    pub goodput_bps: f64,
    /// The maximum flow between the two hosts over the links' rates, in bits per second.
    pub capacity_bps: f64,
    /// Goodput over capacity.
    pub fraction_of_capacity: f64,
    /// How long it took at the receiver.
    pub seconds: f64,
    /// How many segments were sent again.
    pub retransmits: u64,
    /// Its TCP streams, those that carried most first.
    pub streams: Vec<StreamRow>,
    /// What the client's kernel counted; only with Multipath TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<MptcpUse>,
    /// Goodput over time.
    pub intervals: Vec<Interval>,
}

/// Who sent to whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RowDirection {
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
}

/// A TCP connection, or a subflow of Multipath TCP.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StreamRow {
    /// The sender's address.
    pub src: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The receiver's port.
    pub dst_port: u16,
    /// Bytes that the receiver had acknowledged when it was last looked at, at most half a second before the end.
    pub bytes: u64,
    /// The names of the switches on its way; empty if the controller gave it no path of its own.
    pub path: Vec<String>,
}

/// How Multipath TCP was used, the connection that controls the test included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MptcpUse {
    /// Connections that negotiated it.
    pub connections: u64,
    /// Subflows beyond the first of each.
    pub joins: u64,
    /// Connections that fell back to TCP.
    pub fallbacks: u64,
}

/// Goodput between two moments, in seconds from the start.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// Its start.
    pub start: f64,
    /// Its end.
    pub end: f64,
    /// In bits per second.
    pub bps: f64,
}

/// Whether an expectation holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// What was expected, for people.
    pub name: String,
    /// The value that comes nearest to the limit, or is furthest beyond it, among the rows.
    pub value: f64,
    /// `at_least` or `at_most`.
    pub bound: &'static str,
    /// The limit.
    pub limit: f64,
    /// Whether every row keeps it.
    pub ok: bool,
}

impl Report {
    pub(super) fn new(scenario: &Scenario, rows: Vec<Row>) -> Self {
        let expectations: Vec<_> = scenario.expect.iter().map(|it| expect::judge(it, &rows)).collect();
        let ok = expectations.iter().all(|verdict| verdict.ok);
        Self { schema: crate::SCHEMA, scenario: scenario.name.clone(), rows, expectations, ok }
    }

    /// What the process exits with: 0, or 5 if an expectation does not hold.
    pub fn exit_code(&self) -> u8 {
        if self.ok { 0 } else { 5 }
    }

    /// For a terminal: a table of the rows, and a line for each expectation.
    pub fn to_text(&self) -> String {
        table::render(self)
    }
}
