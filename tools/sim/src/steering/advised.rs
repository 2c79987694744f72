//! Subflows that hosts open by advice, planned as the controller plans them.

use braid_paths::Path;
use braid_planner::{EffectivePolicy, SubflowPlan};
use braid_steering::{PlacementRequest, SubflowEnds};
use braid_types::{ADVISED_PORTS, Time};

use super::{Placed, Steering, Subflow};
use crate::network::{Network, Plug};

/// What a host asks once its connection is established.
#[derive(Clone, PartialEq, Debug)]
pub struct Advised {
    /// How the connection is steered.
    pub policy: EffectivePolicy,
    /// Its first subflow.
    pub connection: SubflowEnds,
    /// How many subflows the host opens beside that at most.
    pub most: usize,
    /// Between which addresses they may be, best first.
    pub pairs: Vec<AdvisedPair>,
}

/// Two addresses between which a subflow may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdvisedPair {
    /// The local port is 0.
    pub ends: SubflowEnds,
    /// The interfaces of both hosts that have them.
    pub interfaces: [usize; 2],
}

impl Steering {
    /// Ways for the first subflow of a connection and for those that its host is advised to open; `pairs` are where the
    /// addresses of `advice` are.
    pub(crate) fn place_advised(
        &mut self,
        network: &Network,
        first: [Plug; 2],
        advice: &Advised,
        pairs: &[(SubflowEnds, [Plug; 2])],
    ) -> Placed {
        let before = self.streams.len();
        let mut placed = self.place_on(Time::ZERO, network, &[first]);
        let Some(path) = self.streams.get(before).map(|stream| stream.path.clone()) else { return placed };
        let Advised { policy, connection, most, .. } = advice;
        let mut plan = SubflowPlan::new(*policy, *most, *connection, [], vec![path.clone()]);
        for (ends, [from, to]) in pairs {
            plan.offer(*ends, &*self.sets.between(from.switch, to.switch));
        }
        let mut taken = vec![(*connection, path)];
        while let Some(it) = plan.next(|ends, candidates, _| self.place_among(candidates, ends, &taken)) {
            let is_between =
                |ends: &SubflowEnds| (ends.local.ip(), ends.remote) == (it.ends.local.ip(), it.ends.remote);
            let Some((_, ends)) = pairs.iter().find(|(ends, _)| is_between(ends)) else { break };
            let Some(way) = network.way(ends, &it.path) else { break };
            let mut own = it.ends;
            own.local.set_port(ADVISED_PORTS.start().saturating_add(taken.len() as u16));
            plan.name(&it, own);
            let (transfer, index) = (self.transfers.len() - 1, placed.ways.len());
            self.streams.push(Subflow { transfer, index, ends: *ends, path: it.path.clone() });
            placed.ways.push(way);
            taken.push((own, it.path));
        }
        placed
    }

    /// Which of these paths one more subflow takes, beside the first and those that were named, which count as established.
    fn place_among(
        &mut self,
        candidates: &[&Path],
        ends: &SubflowEnds,
        taken: &[(SubflowEnds, Path)],
    ) -> Option<usize> {
        let pair = |it: &SubflowEnds| (it.local.ip(), it.remote.ip());
        let counts = |other: &SubflowEnds| !self.by_address_pair || pair(other) == pair(ends);
        let siblings: Vec<_> = taken.iter().filter(|(ends, _)| counts(ends)).map(|(_, path)| path).collect();
        let (now, siblings, graph) = (Time::ZERO, &siblings, &self.graph);
        let request = PlacementRequest { now, stream: None, candidates, siblings, opening: &[], graph };
        self.placement.place(&request).map(|placement| placement.index)
    }
}
