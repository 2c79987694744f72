//! The context of a machine while it handles an event: time, settings, topology, path sets and the command batch.

use std::time::Duration;

use braid_packet::{Frame, Payload};
use braid_planner::EffectivePolicy;
use braid_steering::Policies;
use braid_topology::Topology;
use braid_types::{DatapathId, FiveTuple, Time};

use crate::barrier::BarrierTokens;
use crate::command::Target;
use crate::counters::Counters;
use crate::path_cache::PathCache;
use crate::pipeline::Rule;
use crate::settings::Settings;
use crate::stalls::Stalls;
use crate::writer::RuleWriter;

/// The controller is overloaded if it did not listen for this long of the last [`OVERLOAD_WINDOW`].
const OVERLOAD: Duration = Duration::from_secs(3);
const OVERLOAD_WINDOW: Duration = Duration::from_secs(4);

/// The state shared by all machines, the time, and the command batch, while an event is handled.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) settings: &'a Settings,
    pub(crate) topology: &'a mut Topology,
    pub(crate) paths: &'a mut PathCache,
    pub(crate) policies: &'a Policies,
    pub(crate) tokens: &'a mut BarrierTokens,
    pub(crate) counters: &'a mut Counters,
    pub(crate) stalls: &'a Stalls,
    pub(crate) out: RuleWriter<'a>,
}

impl Context<'_> {
    /// Reborrows the context for a machine below.
    pub(crate) fn reborrow(&mut self) -> Context<'_> {
        let RuleWriter { commands, installed, protections, spare } = &mut self.out;
        Context {
            now: self.now,
            settings: self.settings,
            topology: self.topology,
            paths: self.paths,
            policies: self.policies,
            tokens: self.tokens,
            counters: self.counters,
            stalls: self.stalls,
            out: RuleWriter { commands, installed, protections, spare },
        }
    }

    /// The policy of a connection.
    pub(crate) fn policy_of(&self, tuple: &FiveTuple) -> EffectivePolicy {
        EffectivePolicy::new(self.policies.of(tuple), &self.settings.policy_defaults())
    }

    /// For how long the controller has listened since `earlier`: silence is judged by this, not by the clock.
    pub(crate) fn listened(&self, earlier: Time) -> Duration {
        self.stalls.listened(self.now, earlier)
    }

    /// Whether the controller has hardly listened lately: it does only what cannot wait.
    pub(crate) fn is_overloaded(&self) -> bool {
        let start = self.now - OVERLOAD_WINDOW;
        self.now.since(start).saturating_sub(self.listened(start)) >= OVERLOAD
    }

    /// Sends a packet directly to the port of its host.
    pub(crate) fn send_to_host(&mut self, mut frame: Vec<u8>) {
        let dst = Frame::parse(&frame).ok().and_then(|frame| match frame.payload {
            Payload::Ip(ip) => Some(ip.dst),
            Payload::Arp(arp) => Some(arp.target_ip.into()),
            _ => None,
        });
        let host = dst.and_then(|dst| self.topology.host_with_address(dst));
        if let (Some(host), Some(to)) = (host, frame.first_chunk_mut()) {
            *to = host.mac.octets();
            self.out.send(host.at.dpid, Target::Port(host.at.port), &frame);
        }
    }

    /// Deletes a rule at a switch that may have left.
    pub(crate) fn delete(&mut self, dpid: DatapathId, rule: Rule) {
        if self.topology.switch(dpid).is_some() {
            self.out.delete(dpid, rule);
        }
    }
}
