//! What the member is told of the switches that it reaches, and what becomes of a leader that reaches few.

use braid_cluster::{MemberId, Reach};
use braid_control::Threat;
use braid_types::Time;
use tracing::warn;

use super::Cluster;
use crate::engine::Reached;

impl Cluster {
    /// Tells the member how many switches have answered, if they were counted since it was told last.
    pub(super) fn tell_reach(&mut self, now: Time) {
        let counted = self.engine.borrow().switches().reached();
        if counted == self.counted {
            return;
        }
        self.counted = counted;
        if let Some((_, Reached { switches, relayed })) = counted {
            // Those that the leader serves through this member would answer it as well.
            let switches = switches.saturating_add(self.fronts.fronted());
            self.member.handle_reach(now, Reach { switches, relayed, is_ready: self.has_facts() });
        }
    }

    /// This member has let a standby lead that reaches more switches.
    pub(super) fn note_stepped_aside(&mut self, to: &MemberId, own: u32, theirs: u32) {
        self.stepped_aside += 1;
        warn!(%to, own, theirs, "a standby reaches more switches than this controller, and is asked to lead");
        let why = format!(
            "this controller led its cluster and reached {own} switches, and {to} reaches {theirs}, so that one was \
             asked to lead: look after the network between this controller and the switches"
        );
        self.alarm(Threat::SwitchesUnreachable { why });
    }
}
