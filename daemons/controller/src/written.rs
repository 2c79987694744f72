//! Outstanding rules: the latest rules sent to a switch, by the transaction that a refusal names.

use std::collections::VecDeque;
use std::net::IpAddr;

use braid_control::Brain;
use braid_control::pipeline::Rule;
use braid_openflow::Xid;
use braid_steering::StreamId;
use braid_types::DatapathId;

/// Refusals come back within a round trip, in which no more rules than these are written.
const MAX_WRITTEN: usize = 1_024;

/// The rules that were written last to a switch, so that a refusal can be told from its transaction.
///
/// Those for which a refusal changes nothing are left out, and of others only what the brain does not know: they come so
/// fast that it counts how much memory each takes.
#[derive(Debug, Default)]
pub(crate) struct Written {
    streams: VecDeque<(Xid, bool, StreamId)>,
    routes: VecDeque<(Xid, IpAddr)>,
    paths: VecDeque<(Xid, Rule)>,
}

impl Written {
    pub(crate) fn note(&mut self, xid: Xid, rule: &Rule) {
        match *rule {
            Rule::Stream { id, reverse, .. } => push(&mut self.streams, (xid, reverse, id)),
            Rule::Route { dst, .. } | Rule::LocalRoute { dst } => push(&mut self.routes, (xid, dst)),
            rule if rule.is_of_path() => push(&mut self.paths, (xid, rule)),
            _ => {}
        }
    }

    /// The rule of a transaction with switch `dpid`; of a stream or a route as it is wanted now, if it still is.
    pub(crate) fn rule(&self, xid: Xid, dpid: DatapathId, brain: &Brain) -> Option<Rule> {
        if let Some((_, rule)) = self.paths.iter().rev().find(|(written, _)| *written == xid) {
            return Some(*rule);
        }
        if let Some((_, dst)) = self.routes.iter().rev().find(|(written, _)| *written == xid) {
            return brain.route_rule(*dst, dpid);
        }
        let (_, reverse, id) = self.streams.iter().rev().find(|(written, ..)| *written == xid)?;
        brain.stream_rule(*id, *reverse)
    }
}

fn push<T>(written: &mut VecDeque<T>, more: T) {
    if written.len() >= MAX_WRITTEN {
        written.pop_front();
    }
    written.push_back(more);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use braid_control::{Label, Settings};
    use braid_types::PortNo;

    use super::*;

    const DPID: DatapathId = DatapathId(1);

    #[test]
    fn the_last_rules_of_paths_are_known_by_their_transactions() {
        let (mut written, brain) = (Written::default(), Brain::new(Settings::default()));
        let rule = |number: u32| Rule::Hairpin { label: Label(number), port: PortNo(1) };
        (1..=2_000).for_each(|number| written.note(Xid(number), &rule(number)));
        let known = |xid| written.rule(Xid(xid), DPID, &brain);
        assert_eq!((known(2_000), known(977), known(976)), (Some(rule(2_000)), Some(rule(977)), None));
    }

    #[test]
    fn nothing_is_kept_of_rules_for_which_a_refusal_changes_nothing() {
        let (mut written, dst) = (Written::default(), Ipv4Addr::LOCALHOST.into());
        written.note(Xid(1), &Rule::Arp);
        written.note(Xid(2), &Rule::Deliver { dst, mac: braid_types::MacAddr::ZERO, port: PortNo(1) });
        written.note(Xid(3), &Rule::LocalRoute { dst });
        assert_eq!((written.streams.len(), written.routes.len(), written.paths.len()), (0, 1, 0));
        let brain = Brain::new(Settings::default());
        assert_eq!(written.rule(Xid(3), DPID, &brain), None, "nobody wants it any more");
    }
}
