//! The lab's client of its controllers: the few lists and metrics that a lab reads, and which member leads.

use std::net::SocketAddr;
use std::time::Duration;

use braid_api::{Cluster, Link, NewLeader, Stream, Switch, SwitchRole, Transfer};
use braid_client::Error;
use braid_types::DatapathId;

use super::MemberAddresses;

const TIMEOUT: Duration = Duration::from_secs(5);
/// A member that is stopped does not answer at all.
const MEMBER_TIMEOUT: Duration = Duration::from_millis(500);

/// The member of a cluster that leads: of those that say so, the one in the newest term.
pub(crate) fn leader(members: &[MemberAddresses]) -> Option<&MemberAddresses> {
    let term = |member: &MemberAddresses| {
        let seen = Client::of_member(member.http).cluster().ok()?;
        (seen.leader == seen.member).then_some(seen.term?)
    };
    let leading = members.iter().filter_map(|member| Some((term(member)?, member)));
    leading.max_by_key(|(term, _)| *term).map(|(_, member)| member)
}

/// Numbers of packets that open further subflows, SYNs and SYN/ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joins {
    pub(crate) all: u64,
    /// SYN/ACKs among them.
    pub(crate) answers: u64,
    /// Those among them that open subflows which the controller has advised.
    pub(crate) advised: u64,
}

impl Joins {
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            answers: self.answers.saturating_sub(before.answers),
            advised: self.advised.saturating_sub(before.advised),
        }
    }
}

/// A client of the lab's controller.
pub(crate) struct Client(braid_client::Client);

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self(braid_client::Client::new(&address.into(), TIMEOUT))
    }

    /// A client that gives up soon.
    pub(crate) fn of_member(address: SocketAddr) -> Self {
        Self(braid_client::Client::new(&address.into(), MEMBER_TIMEOUT))
    }

    /// The cluster as this member sees it.
    pub(crate) fn cluster(&self) -> Result<Cluster, Error> {
        self.0.cluster()
    }

    /// Has the leader hand over to a standby.
    pub(crate) fn hand_over(&self, wanted: &NewLeader) -> Result<(), Error> {
        self.0.hand_over(wanted).map(drop)
    }

    /// The number of switches whose master it is.
    pub(crate) fn mastered(&self) -> Result<usize, Error> {
        let switches = self.0.list::<Switch>()?.items;
        Ok(switches.iter().filter(|switch| switch.role == SwitchRole::Master).count())
    }

    /// The connected switches.
    pub(crate) fn switches(&self) -> Result<Vec<DatapathId>, Error> {
        Ok(self.0.list::<Switch>()?.items.into_iter().map(|switch| switch.dpid).collect())
    }

    /// The directed links between switches.
    pub(crate) fn links(&self) -> Result<Vec<Link>, Error> {
        Ok(self.0.list()?.items)
    }

    /// The streams of all transfers in progress.
    pub(crate) fn streams(&self) -> Result<Vec<Stream>, Error> {
        let transfers = self.0.list::<Transfer>()?.items;
        Ok(transfers.into_iter().flat_map(|transfer| transfer.streams).collect())
    }

    /// The packets that opened further subflows and were sent to the controller.
    pub(crate) fn joins(&self) -> Result<Joins, Error> {
        let count = |name| Ok(self.0.metric(name)?.unwrap_or_default() as u64);
        Ok(Joins {
            all: count("braid_join_packet_ins_total")?,
            answers: count("braid_join_answers_total")?,
            advised: count("braid_advised_joins_total")?,
        })
    }
}
