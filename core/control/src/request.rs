//! Requests of applications and host agents, and the replies and refusals that answer them.

use std::fmt;
use std::net::IpAddr;

use braid_assign::{AssignError, AssignmentId, Claim, Distribution, Owner};
use braid_steering::{Advice, AdviceRefusal, AdviceRequest, StreamId};
use braid_types::{DatapathId, FiveTuple, IpPrefix, Time};
use serde::{Deserialize, Serialize};

/// Ties an answer to its request; no two requests that wait have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u64);

/// What an application, or the agent of a host, asks the network for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Paths between two hosts are to be set aside.
    Assign(Claim),
    /// A connection is about to open and is to have a path of an assignment. The answer comes once switches have confirmed the
    /// rules.
    Place {
        /// Of which assignment.
        assignment: AssignmentId,
        /// Whose it is; anybody's who can name it if that is not said.
        owner: Option<Owner>,
        /// The connection, from the host that opens it.
        tuple: FiveTuple,
    },
    /// A connection of an assignment has ended.
    End {
        /// Of which assignment.
        assignment: AssignmentId,
        /// Whose it is; anybody's who can name it if that is not said.
        owner: Option<Owner>,
        /// The connection, from the host that opened it.
        tuple: FiveTuple,
    },
    /// An assignment's lease is to begin anew.
    Renew {
        /// Which.
        assignment: AssignmentId,
        /// Whose it is; anybody's who can name it if that is not said.
        owner: Option<Owner>,
    },
    /// An assignment is given back. Streams that are open stay on their paths.
    Release {
        /// Which.
        assignment: AssignmentId,
        /// Whose it is; anybody's who can name it if that is not said.
        owner: Option<Owner>,
    },
    /// Which subflows a connection shall have. The answer comes once switches have confirmed their rules.
    Advise {
        /// The connection, and its present subflows.
        request: Box<AdviceRequest>,
        /// Who asks.
        asker: Asker,
    },
}

/// Whose addresses somebody may ask about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// Everybody's: somebody on the controller's machine.
    Trusted,
    /// Those in these prefixes, as a token says.
    Owner(Vec<IpPrefix>),
    /// Those of the interface that has this address, from which the question came.
    Host(IpAddr),
}

/// What is answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// The assignment as it is now, or as it was when it was given back.
    Assignment(AssignmentView),
    /// The connection has a path; switches have confirmed its rules.
    Placed(PlacedView),
    /// The connection is forgotten.
    Ended,
    /// It is not done.
    Refused(Refusal),
    /// The advice, whose rules are in place, or why there is none.
    Advice(Result<Advice, AdviceRefusal>),
}

/// An assignment, as applications and people see it.
#[derive(Clone, PartialEq, Debug)]
pub struct AssignmentView {
    /// Its name.
    pub id: AssignmentId,
    /// Whose it is.
    pub owner: Owner,
    /// One host.
    pub src: IpAddr,
    /// The other.
    pub dst: IpAddr,
    /// How many paths were asked for; more than there are `paths` if there are no more of use.
    pub wanted: usize,
    /// How many streams are expected, if that was said.
    pub expected_streams: Option<usize>,
    /// How streams are distributed.
    pub distribution: Distribution,
    /// When it was made, on the controller's clock.
    pub opened_at: Time,
    /// When it ends unless it is used before.
    pub expires_at: Time,
    /// How many streams were placed so far.
    pub placed: u64,
    /// Its paths, shortest first.
    pub paths: Vec<AssignedPath>,
}

/// A path of an assignment.
#[derive(Clone, PartialEq, Debug)]
pub struct AssignedPath {
    /// Its switches, from the one of `src` to the one of `dst`.
    pub switches: Vec<DatapathId>,
    /// What it can carry beside the others, in bits a second: this owner's share of what others do not use.
    pub available_bps: u64,
    /// The time to the other end and back, in microseconds, as far as the delays of links are known.
    pub round_trip_us: f64,
    /// How many streams it can use, n = max(1, a·B·R); zero while streams go to others only.
    pub best_streams: f64,
    /// How many are on it.
    pub streams: usize,
}

/// A stream that has a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedView {
    /// Its number.
    pub stream: StreamId,
    /// Which path of the assignment it takes, from 0; `None` for another one, as none of these is there any more.
    pub path: Option<usize>,
    /// The switches on its way, from the host that opens it.
    pub switches: Vec<DatapathId>,
}

/// Why something is not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The assignment is not there, not the asker's, or cannot be.
    #[error(transparent)]
    Assign(#[from] AssignError),
    /// Nothing is known of a host.
    #[error("no host {0} has been seen")]
    UnknownHost(IpAddr),
    /// The controller that led before knew a host, and its switch has not joined this one yet.
    #[error("the switch of host {0} has not joined yet, as this controller has taken over a moment ago")]
    AwaitsSwitch(IpAddr),
    /// This controller has taken over, and not found the links yet.
    #[error("the links are not known yet, as this controller has taken over a moment ago")]
    AwaitsLinks,
    /// The connection is between other hosts than the assignment.
    #[error("the connection {0} is not between the hosts of the assignment")]
    OtherHosts(FiveTuple),
    /// The connection is not known.
    #[error("the connection {0} is not one of the assignment's")]
    NoStream(FiveTuple),
    /// No path can be had now.
    #[error("no path can be had for the connection {0}: it takes the default path")]
    NoRoute(FiveTuple),
    /// A bounded table is full.
    #[error("too many {0}")]
    Full(&'static str),
    /// It would be lost with this controller: the cluster does not keep it.
    #[error("the cluster does not keep this request, so it is not done: {0}")]
    NotKept(String),
    /// Switches have not confirmed in time.
    #[error("switches have not confirmed the rules of {0} in time")]
    NotConfirmed(FiveTuple),
}

impl Refusal {
    /// Whether what is asked for does not exist.
    pub const fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::Assign(AssignError::Unknown(_) | AssignError::NoPath)
                | Self::UnknownHost(_)
                | Self::NoStream(_)
        )
    }

    /// Whether it may be asked for by others only.
    pub const fn is_foreign(&self) -> bool {
        matches!(self, Self::Assign(AssignError::Foreign(_)))
    }

    /// Whether it may be asked for again later.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Assign(AssignError::Full(_) | AssignError::OwnerFull(..))
                | Self::AwaitsSwitch(_)
                | Self::AwaitsLinks
                | Self::NoRoute(_)
                | Self::Full(_)
                | Self::NotKept(_)
                | Self::NotConfirmed(_)
        )
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
