//! What the store says of the cluster's members, and the connections to them.

use std::io;

use braid_cluster::MemberId;
use braid_control::Threat;
use tracing::info;

use super::Cluster;
use crate::cluster::peers;
use crate::cluster::registry::{Record, Registered, Registration};

impl Cluster {
    /// What the store says of the cluster; an error if this member has no place in it and never had.
    pub(super) fn take_registered(&mut self, registered: Registered) -> Result<(), io::Error> {
        match registered {
            Registered::Renewed(registration) => self.take_registration(registration),
            Registered::Conflict { why, was_member: false } => return Err(io::Error::other(why)),
            Registered::Conflict { why, .. } => self.alarm(Threat::DuplicateMember { why }),
        }
        Ok(())
    }

    fn take_registration(&mut self, Registration { key, others, corrupt }: Registration) {
        if corrupt.is_some() && corrupt != self.corrupt {
            corrupt.clone().into_iter().for_each(|why| self.alarm(Threat::CorruptStore { why }));
        }
        self.corrupt = corrupt;
        if std::mem::replace(&mut self.key, key) != key {
            info!("discovery frames have the key of the cluster from now on");
            let now = self.now();
            self.engine.borrow_mut().handle(now, &braid_control::Event::DiscoveryKey { secret: key });
        }
        self.connect(others);
    }

    /// Connects to members that are new or have moved.
    fn connect(&mut self, members: Vec<(MemberId, Record)>) {
        let fact_senders = members.iter().filter(|(_, record)| record.tells_facts);
        self.fact_senders = fact_senders.map(|(member, _)| member.clone()).collect();
        let fronted = members.iter().filter(|(_, record)| record.takes_fronts);
        self.fronted = fronted.map(|(member, _)| member.clone()).collect();
        self.apis = members.iter().map(|(member, record)| (member.clone(), record.api.clone())).collect();
        for (member, Record { address, .. }) in members {
            if self.peers.get(&member).is_none_or(|(known, _)| *known != address) {
                info!(%member, address, "another member of the cluster");
                let sender = peers::connect(self.local.clone(), address.clone(), self.refusals.clone());
                self.peers.insert(member, (address, sender));
            }
        }
    }
}
