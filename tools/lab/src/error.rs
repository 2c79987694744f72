//! Errors of labs with their remedies and exit codes.

use std::io;
use std::path::{Path, PathBuf};

use braid_link::ControlError;
use braid_link_model::ParameterError;

use crate::names::{LabName, LabNameError};
use crate::plan::LinkBackend;
use crate::scenario::ScenarioError;

/// Why a lab could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario file cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A text is no lab's name.
    #[error(transparent)]
    Name(#[from] LabNameError),
    /// A scenario without traffic was to be run.
    #[error("scenario {0:?} has no traffic to run; add traffic: to it, or only deploy it")]
    NoTraffic(String),
    /// There is no lab of this name.
    #[error("there is no lab {0}; `braid lab list` names those that are there")]
    NoLab(LabName),
    /// A lab has no such host.
    #[error("lab {lab} has no host {host:?}; it has {}", .hosts.join(", "))]
    NoHost {
        /// The lab.
        lab: LabName,
        /// What was asked for.
        host: String,
        /// What it has.
        hosts: Vec<String>,
    },
    /// A lab has no such link.
    #[error("lab {lab} has no link {link}; it has {}", .links.join(", "))]
    NoLink {
        /// The lab.
        lab: LabName,
        /// What was asked for.
        link: String,
        /// What it has.
        links: Vec<String>,
    },
    /// Several links join two places.
    #[error("{} links join {from} and {to}: {}; name one by its ports", links.len(), links.join(", "))]
    ManyLinks {
        /// One place.
        from: String,
        /// The other.
        to: String,
        /// The links, by their ports.
        links: Vec<String>,
    },
    /// A link's back-end cannot do what was asked.
    #[error(
        "link {link} is made by {backend}, which cannot become like that; give it a delay in the scenario, which may \
         be 0ms, or a jitter, and deploy again"
    )]
    FixedLink {
        /// The link.
        link: String,
        /// What makes it.
        backend: LinkBackend,
    },
    /// No link can be like that.
    #[error(transparent)]
    Parameters(ParameterError),
    /// The links in user space do not take a change.
    #[error("{0}")]
    Refused(String),
    /// The links in user space cannot be talked to.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The process of the links in user space failed.
    #[error("the process of the links in user space {what}; its log is {}", .log.display())]
    LinkProcess {
        /// What happened.
        what: String,
        /// Where its log is.
        log: PathBuf,
    },
    /// The machine lacks something.
    #[error("{what}; {remedy}")]
    Missing {
        /// What is missing.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A lab of this name is already there.
    #[error("lab {0} is already there; remove it with `braid lab destroy {0}`, or choose another name")]
    Exists(LabName),
    /// Another process works on the lab.
    #[error("lab {0} is in use by another process; wait for it to end, or end it")]
    Busy(LabName),
    /// Something that the lab would make is there and is not its own.
    #[error(
        "network namespace {0} is already there and is not the lab's; remove it or choose another lab name"
    )]
    Foreign(String),
    /// A tool failed.
    #[error("`{command}` failed ({status}): {message}")]
    Tool {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// What it said on stderr.
        message: String,
    },
    /// A file or socket failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// A file of the lab's own cannot be understood.
    #[error("{}: {why}; remove the lab with `braid lab destroy`", .path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The controller failed.
    #[error("the controller {what}; its log is {}", .log.display())]
    Controller {
        /// What happened.
        what: String,
        /// Where its log is.
        log: PathBuf,
    },
    /// An agent on a host failed.
    #[error("the agent on {host} {what}; its log is {}", .log.display())]
    Agent {
        /// The host.
        host: String,
        /// What happened.
        what: String,
        /// Where its log is.
        log: PathBuf,
    },
    /// An edge failed.
    #[error("the edge {switch} {what}; its log is {}", .log.display())]
    Edge {
        /// Its name.
        switch: String,
        /// What happened.
        what: String,
        /// Where its log is.
        log: PathBuf,
    },
    /// The lab did not become ready in time.
    #[error("the network is not ready after {seconds} s: {missing}; the logs are in {}", .logs.display())]
    NotReady {
        /// How long it was waited for.
        seconds: u64,
        /// What is missing.
        missing: String,
        /// Where the logs are.
        logs: PathBuf,
    },
    /// The traffic failed.
    #[error("{run}: {what}")]
    Traffic {
        /// Which run, such as `mptcp ams > gva`.
        run: String,
        /// What happened.
        what: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl LabError {
    /// What the process exits with: 2 usage, 3 not found, 4 the machine lacks a feature, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Scenario(_) | Self::Name(_) | Self::NoTraffic(_) => 2,
            Self::ManyLinks { .. } | Self::FixedLink { .. } | Self::Parameters(_) | Self::Refused(_) => 2,
            Self::NoLab(_) | Self::NoHost { .. } | Self::NoLink { .. } => 3,
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
