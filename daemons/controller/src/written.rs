use std::collections::VecDeque;

use braid_control::Brain;
use braid_control::pipeline::Rule;
use braid_openflow::Xid;
use braid_steering::StreamId;

/// Refusals come back within a round trip, in which no more rules than these are written.
const MAX_WRITTEN: usize = 1_024;

/// The rules that were written last to a switch, so that a refusal can be told from its transaction.
///
/// Most are of streams, which the brain knows: they come so fast that it counts how much memory each takes.
#[derive(Debug, Default)]
pub(crate) struct Written {
    streams: VecDeque<(Xid, bool, StreamId)>,
    others: VecDeque<(Xid, Rule)>,
}

impl Written {
    pub(crate) fn note(&mut self, xid: Xid, rule: &Rule) {
        match *rule {
            Rule::Stream { id, reverse, .. } => push(&mut self.streams, (xid, reverse, id)),
            rule => push(&mut self.others, (xid, rule)),
        }
    }

    /// The rule of a transaction; of a stream as it is wanted now, if it still is.
    pub(crate) fn rule(&self, xid: Xid, brain: &Brain) -> Option<Rule> {
        let other = self.others.iter().rev().find(|(written, _)| *written == xid).map(|(_, rule)| *rule);
        other.or_else(|| {
            let (_, reverse, id) = self.streams.iter().rev().find(|(written, ..)| *written == xid)?;
            brain.stream_rule(*id, *reverse)
        })
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

    use braid_control::Settings;

    use super::*;

    #[test]
    fn the_last_rules_are_known_by_their_transactions() {
        let (mut written, brain) = (Written::default(), Brain::new(Settings::default()));
        let rule = |number: u32| Rule::LocalRoute { dst: Ipv4Addr::from(number).into() };
        (1..=2_000).for_each(|number| written.note(Xid(number), &rule(number)));
        let known = |xid| written.rule(Xid(xid), &brain);
        assert_eq!((known(2_000), known(977), known(976)), (Some(rule(2_000)), Some(rule(977)), None));
    }
}
