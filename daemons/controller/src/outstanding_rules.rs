//! Outstanding rules: the latest rules sent to a switch, by the transaction that a refusal names.

use std::collections::VecDeque;
use std::net::IpAddr;

use braid_control::Brain;
use braid_control::pipeline::Rule;
use braid_openflow::Xid;
use braid_steering::StreamId;
use braid_types::DatapathId;

/// Rules remembered of each kind; a switch refuses a rule within a round trip, in which fewer are sent.
const MAX_OUTSTANDING: usize = 1_024;

/// The rules sent last to a switch, from which a refusal's transaction id finds its rule.
///
/// Rules whose refusal changes nothing are not stored. Of the others only the keys that the brain does not know are,
/// since memory per rule matters at high rates.
#[derive(Debug, Default)]
pub(crate) struct OutstandingRules {
    streams: VecDeque<(Xid, bool, StreamId)>,
    routes: VecDeque<(Xid, IpAddr)>,
    paths: VecDeque<(Xid, Rule)>,
}

impl OutstandingRules {
    pub(crate) fn note(&mut self, xid: Xid, rule: &Rule) {
        match *rule {
            Rule::Stream { id, reverse, .. } => push(&mut self.streams, (xid, reverse, id)),
            Rule::Route { dst, .. } | Rule::LocalRoute { dst } => push(&mut self.routes, (xid, dst)),
            rule if rule.is_of_path() => push(&mut self.paths, (xid, rule)),
            _ => {}
        }
    }

    /// The rule of a transaction with switch `dpid`. A stream's or route's rule is the current one, if there still is one.
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

fn push<T>(rules: &mut VecDeque<T>, rule: T) {
    if rules.len() >= MAX_OUTSTANDING {
        rules.pop_front();
    }
    rules.push_back(rule);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use braid_control::{Label, Settings};
    use braid_types::PortNo;

    use super::*;

    const DPID: DatapathId = DatapathId(1);

    #[test]
    fn the_latest_rules_of_paths_are_found_by_their_transactions() {
        let (mut outstanding, brain) = (OutstandingRules::default(), Brain::new(Settings::default()));
        let rule = |number: u32| Rule::Hairpin { label: Label(number), port: PortNo(1) };
        (1..=2_000).for_each(|number| outstanding.note(Xid(number), &rule(number)));
        let known = |xid| outstanding.rule(Xid(xid), DPID, &brain);
        assert_eq!((known(2_000), known(977), known(976)), (Some(rule(2_000)), Some(rule(977)), None));
    }

    #[test]
    fn rules_whose_refusal_changes_nothing_are_not_stored() {
        let (mut outstanding, dst) = (OutstandingRules::default(), Ipv4Addr::LOCALHOST.into());
        outstanding.note(Xid(1), &Rule::Arp);
        outstanding.note(Xid(2), &Rule::Deliver { dst, mac: braid_types::MacAddr::ZERO, port: PortNo(1) });
        outstanding.note(Xid(3), &Rule::LocalRoute { dst });
        let kept = (outstanding.streams.len(), outstanding.routes.len(), outstanding.paths.len());
        assert_eq!(kept, (0, 1, 0));
        let brain = Brain::new(Settings::default());
        assert_eq!(outstanding.rule(Xid(3), DPID, &brain), None, "the route is gone");
    }
}
