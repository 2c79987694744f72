//! Errors of labs with their remedies and exit codes.

use std::io;
use std::path::{Path, PathBuf};

use braid_link::ControlError;
use braid_link_model::ParameterError;

use crate::names::{LabName, LabNameError};
use crate::plan::LinkBackend;
use crate::scenario::ScenarioError;

/// Errors of labs.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario file is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The lab's name is invalid.
    #[error(transparent)]
    Name(#[from] LabNameError),
    /// The scenario to run has no traffic.
    #[error("scenario {0:?} has no traffic to run: add `traffic:`, or use `braid lab deploy`")]
    NoTraffic(String),
    /// There is no lab of this name.
    #[error("there is no lab {0}: see `braid lab list`")]
    NoLab(LabName),
    /// A lab has no such host.
    #[error("lab {lab} has no host {host:?}; it has {}", .hosts.join(", "))]
    NoHost {
        /// The lab.
        lab: LabName,
        /// The requested name.
        host: String,
        /// The existing names.
        hosts: Vec<String>,
    },
    /// A lab has no such switch that links can be added to or removed from.
    #[error(
        "lab {lab} has no switch {switch:?} whose links can be added or removed; those of Open vSwitch are {}",
        .switches.join(", ")
    )]
    NoSwitch {
        /// The lab.
        lab: LabName,
        /// The requested name.
        switch: String,
        /// The existing names.
        switches: Vec<String>,
    },
    /// A lab has no such link.
    #[error("lab {lab} has no link {link}; it has {}", .links.join(", "))]
    NoLink {
        /// The lab.
        lab: LabName,
        /// The requested name.
        link: String,
        /// The existing names.
        links: Vec<String>,
    },
    /// Several links join the two ends.
    #[error("{} links join {from} and {to}: {}; choose one by its ports", links.len(), links.join(", "))]
    ManyLinks {
        /// One end.
        from: String,
        /// The other end.
        to: String,
        /// The links, by their ports.
        links: Vec<String>,
    },
    /// The link's back-end cannot make the change.
    #[error(
        "link {link} is made by {backend}, which cannot become like that; give it a delay in the scenario, which may \
         be 0ms, or a jitter, and deploy again"
    )]
    FixedLink {
        /// The link.
        link: String,
        /// Its back-end.
        backend: LinkBackend,
    },
    /// The parameters are invalid.
    #[error(transparent)]
    Parameters(ParameterError),
    /// The link process refused the change.
    #[error("{0}")]
    Refused(String),
    /// The link process cannot be reached.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The link process failed.
    #[error("the link process {what}: see its log {}", .log.display())]
    LinkProcess {
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// The machine lacks a feature.
    #[error("{what}; {remedy}")]
    Missing {
        /// The missing feature.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// A lab of this name exists.
    #[error("lab {0} exists already: remove it with `braid lab destroy {0}`, or choose another name")]
    Exists(LabName),
    /// Another process uses the lab.
    #[error("lab {0} is in use by another process: wait for its end, or end it")]
    Busy(LabName),
    /// A namespace of the lab's name exists and belongs to someone else.
    #[error(
        "network namespace {0} exists and does not belong to the lab: remove it or choose another lab name"
    )]
    Foreign(String),
    /// A tool failed.
    #[error("`{command}` failed ({status}): {message}")]
    Tool {
        /// The command line.
        command: String,
        /// Its exit status.
        status: String,
        /// Its standard error.
        message: String,
    },
    /// A file or socket failed.
    #[error("{what}: {source}")]
    Io {
        /// The failed operation.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// A file of the lab is damaged.
    #[error("{}: {why}: remove the lab with `braid lab destroy`", .path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The damage.
        why: String,
    },
    /// The controller failed.
    #[error("the controller {what}: see its log {}", .log.display())]
    Controller {
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// The store of a cluster failed.
    #[error("etcd {what}: see its log {}", .log.display())]
    Store {
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// An agent on a host failed.
    #[error("the agent on {host} {what}: see its log {}", .log.display())]
    Agent {
        /// The host.
        host: String,
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// An edge failed.
    #[error("the edge {switch} {what}: see its log {}", .log.display())]
    Edge {
        /// Its name.
        switch: String,
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// A site failed.
    #[error("the site {site} {what}: see its log {}", .log.display())]
    Site {
        /// Its name.
        site: String,
        /// The failure.
        what: String,
        /// Its log file.
        log: PathBuf,
    },
    /// The lab did not become ready in time.
    #[error("the network is not ready after {seconds} s: {missing}: see the logs in {}", .logs.display())]
    NotReady {
        /// The time waited.
        seconds: u64,
        /// The missing feature.
        missing: String,
        /// The folder with the logs.
        logs: PathBuf,
    },
    /// The traffic failed.
    #[error("{run}: {what}")]
    Traffic {
        /// The run, such as `mptcp ams > gva`.
        run: String,
        /// The failure.
        what: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl LabError {
    /// The process's exit code: 2 usage, 3 not found, 4 the machine lacks a feature, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Scenario(_) | Self::Name(_) | Self::NoTraffic(_) => 2,
            Self::ManyLinks { .. } | Self::FixedLink { .. } | Self::Parameters(_) | Self::Refused(_) => 2,
            Self::NoLab(_) | Self::NoHost { .. } | Self::NoSwitch { .. } | Self::NoLink { .. } => 3,
            Self::Missing { .. } => 4,
            _ => 1,
        }
    }

    pub(crate) fn missing(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Missing { what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::io(path.display().to_string(), source)
    }
}
