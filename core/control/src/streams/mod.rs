//! Transfers and their streams: set up, placed, moved, and torn down.

mod below;
mod call_backs;
mod handshakes;
mod migration;
mod placing;
mod policy;
mod rebalance;
mod register;
mod reroute;
mod rules;
mod setup;
mod spraying;
mod teardown;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use braid_steering::{Changed, Policies, StreamId, Transfer, TransferId, Transfers};
use braid_types::Time;

use crate::command::{Command, Commands};
use crate::fabric::{Owner, Replaces, Submitted, Transaction};
use crate::pipeline::{Hop, Rule};
use crate::settings::Settings;
use handshakes::Handshakes;
use policy::{Placements, is_known};
use rebalance::Reliefs;
use teardown::Endings;

/// What streams of `$brain` build on, while an event is handled. A macro, as it borrows some of its fields only.
macro_rules! network {
    ($dispatch:expr) => {
        crate::streams::Network {
            cx: crate::brain::context!($dispatch),
            fabric: &mut $dispatch.brain.fabric,
            routing: &mut $dispatch.brain.routing,
            spray: &mut $dispatch.brain.spray,
            reservations: &mut $dispatch.brain.reservations,
            measurement: &$dispatch.brain.measurement,
        }
    };
}
pub(crate) use network;

pub(crate) use below::Network;
pub(crate) use placing::{Chosen, NewStream};
pub use rebalance::Relief;
pub(crate) use rules::switches_of;
pub(crate) use setup::Syn;
pub(crate) use teardown::is_ending;

/// The transfers in progress, and what is watched of their streams.
#[derive(Debug)]
pub(crate) struct Streams {
    table: Transfers,
    policies: Arc<Policies>,
    placements: Placements,
    handshakes: Handshakes,
    endings: Endings,
    reliefs: Reliefs,
    /// Streams that had a path and have none, and since when.
    unplaced: BTreeMap<StreamId, Time>,
    /// Whether links have come since streams were spread over them.
    may_spread: bool,
    events: VecDeque<StreamEvent>,
}

/// What those who wait for streams have to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamEvent {
    /// A stream is no more.
    Ended(StreamId),
}

impl Streams {
    /// Without any.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            table: Transfers::new(settings.streams),
            policies: Arc::default(),
            placements: Placements::default(),
            handshakes: Handshakes::default(),
            endings: Endings::default(),
            reliefs: Reliefs::default(),
            unplaced: BTreeMap::new(),
            may_spread: false,
            events: VecDeque::new(),
        }
    }

    /// What there is to know, in its order.
    pub(crate) fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] has something to do next, if that is known.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.handshakes.call_backs.wake_at()
    }

    /// The transfers and streams, to be read.
    pub(crate) const fn table(&self) -> &Transfers {
        &self.table
    }

    /// What brings a copy of all transfers up to date.
    pub(crate) fn take_changes(&mut self) -> Changed {
        self.table.take_changes()
    }

    /// A transfer, for a copy: when it changes after this, it is among the changes again.
    pub(crate) fn visit(&mut self, id: TransferId) -> Option<&Transfer> {
        self.table.visit(id)
    }

    /// Links have come: streams may be spread over them.
    pub(crate) const fn handle_link_up(&mut self) {
        self.may_spread = true;
    }

    /// Links that came were there before: no reason to move what flows.
    pub(crate) const fn stay(&mut self) {
        self.may_spread = false;
    }

    /// Does what is due; called once a tick, and when [`Self::wake_at`] says so.
    pub(crate) fn handle_timeout(&mut self, net: &mut Network<'_>) {
        self.release_joins(net);
        self.settle_transfers(net);
        self.handshakes.call_backs.handle_timeout(net.cx.now);
    }

    /// Compares what streams do with what there is to have; called whenever their counters have been asked for.
    pub(crate) fn review(&mut self, net: &mut Network<'_>) {
        self.spread_again(net);
        self.relieve(net);
        self.expire_unplaced(net);
    }

    /// Commits a transaction that waited, as far as it is still wanted.
    pub(crate) fn commit(&mut self, net: &mut Network<'_>, mut commands: Commands) {
        commands.retain(|command| match command {
            Command::Add { dpid, rule: Rule::Stream { id, reverse, hop, .. } } => {
                self.hop(net.fabric, net.spray, *id, *reverse) == Some((*dpid, *hop))
            }
            Command::Add { rule: Rule::Ordered { id, .. }, .. } => net.spray.has(*id),
            Command::Add { rule: Rule::Expected { tuple, .. }, .. } => is_known(&self.table, tuple),
            _ => true,
        });
        write(net, commands);
    }

    /// Keeps a transaction until every path in `hops` is confirmed, which may be already.
    pub(crate) fn submit(
        &mut self,
        net: &mut Network<'_>,
        hops: &[Hop],
        batch: Commands,
        replaces: Replaces,
    ) {
        let transaction = Transaction::new(Owner::Streams, hops, batch).replacing(replaces);
        match net.fabric.submit(&mut net.cx, transaction) {
            // Nothing can have changed since it was made.
            Submitted::Ready(commands) => write(net, commands),
            Submitted::Waits => {}
            Submitted::Full(commands) => self.abandon(net, &commands),
        }
    }

    /// What a transaction would have installed is not there. Its packets go straight to their hosts, as there is no room
    /// for them to wait.
    fn abandon(&mut self, net: &mut Network<'_>, commands: &Commands) {
        for command in commands {
            if let Command::Add { rule: Rule::Stream { id, .. }, .. } = command {
                self.end(net, *id);
            }
        }
        commands.held().for_each(|(_, frame)| net.cx.hand_over(frame));
    }
}

fn write(net: &mut Network<'_>, mut commands: Commands) {
    net.cx.out.append(&mut commands);
    net.fabric.reuse(commands);
}
