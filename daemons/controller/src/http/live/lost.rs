//! Links that were lost and have not come back, for those who begin to watch meanwhile.

use std::collections::BTreeMap;

use braid_api::{Link, LostLink};
use braid_control::Notice;
use braid_types::{DatapathId, SwitchPort, Time};

use crate::http::wire::loss;
use crate::notices::TimedNotice;

/// Lost links that are kept, and reasons of losses; of more, the links that were lost first are forgotten.
const MAX_LOST: usize = 8_192;

/// The lost links by their sending port.
#[derive(Debug, Default)]
pub(super) struct LostLinks {
    links: BTreeMap<SwitchPort, LostLink>,
    /// When links were lost that may still be in the list, and why.
    losses: BTreeMap<SwitchPort, (Time, braid_control::LinkLoss)>,
}

impl LostLinks {
    /// Notes why a link is about to leave the list, or has just left it.
    pub(super) fn note(&mut self, told: &TimedNotice) {
        match &told.notice {
            Notice::LinkDown { src, why, .. } if self.is_unexplained(src, told.at) => {
                self.links.remove(src).into_iter().for_each(|lost| {
                    self.losses.insert(*src, (told.at, *why));
                    self.lose(told.at, lost.link);
                });
            }
            Notice::LinkDown { src, why, .. } if self.losses.len() < MAX_LOST => {
                self.losses.insert(*src, (told.at, *why));
            }
            Notice::LinkUp { src, .. } => {
                self.losses.remove(src);
                // Its place in the list may be taken.
                if self.links.get(src).is_some_and(|lost| lost.lost_at < told.at) {
                    self.links.remove(src);
                }
            }
            _ => {}
        }
    }

    /// These links left the list at `now`; of the others, those that are there are not lost.
    pub(super) fn update(
        &mut self,
        now: Time,
        gone: impl Iterator<Item = Link>,
        is_there: impl Fn(SwitchPort) -> bool,
    ) {
        gone.for_each(|link| self.lose(now, link));
        self.links.retain(|src, _| !is_there(*src));
    }

    /// Whether the list was copied without the link before the notice of its loss at `at` came.
    fn is_unexplained(&self, src: &SwitchPort, at: Time) -> bool {
        self.links.get(src).is_some_and(|lost| lost.why.is_none() && at <= lost.lost_at)
    }

    fn lose(&mut self, now: Time, link: Link) {
        let known = self.losses.remove(&link.src);
        // Where a port leads elsewhere, nothing is to be repaired.
        if known.is_some_and(|(_, why)| why == braid_control::LinkLoss::Rewired) {
            return;
        }
        if self.links.len() >= MAX_LOST {
            let first = self.links.iter().min_by_key(|(_, it)| it.lost_at).map(|(src, _)| *src);
            first.map(|src| self.links.remove(&src));
        }
        let (lost_at, why) = known.map_or((now, None), |(at, why)| (at, Some(loss(why))));
        self.links.insert(link.src, LostLink { link, lost_at, why });
    }

    /// Those between connected switches.
    pub(super) fn between(&self, is_connected: impl Fn(DatapathId) -> bool) -> Vec<&LostLink> {
        let is_drawn = |it: &&LostLink| is_connected(it.link.src.dpid) && is_connected(it.link.dst.dpid);
        self.links.values().filter(is_drawn).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::iter::{empty, once};

    use braid_control::LinkLoss;
    use braid_types::PortNo;
    use serde_json::json;

    use super::*;
    use crate::names::Names;

    const fn at(dpid: u64) -> SwitchPort {
        SwitchPort::new(DatapathId(dpid), PortNo(1))
    }

    fn link(src: u64) -> Link {
        let counters = json!({ "bytes": 0, "packets": 0, "dropped": 0, "errors": 0 });
        let link = json!({ "src": at(src), "dst": at(src + 1), "capacity_bps": 7, "counters": counters });
        serde_json::from_value(link).expect("a link")
    }

    fn down(src: u64, why: LinkLoss) -> TimedNotice {
        let notice = Notice::LinkDown { src: at(src), dst: at(src + 1), why };
        TimedNotice { at: Time::from_millis(5), notice, names: Names::default() }
    }

    fn lost(links: &LostLinks, gone: u64) -> Vec<u64> {
        links.between(|dpid| dpid != DatapathId(gone)).iter().map(|it| it.link.src.dpid.0).collect()
    }

    #[test]
    fn a_lost_link_is_kept_with_its_reason_until_it_is_back() {
        let mut links = LostLinks::default();
        links.note(&down(1, LinkLoss::Port));
        links.update(Time::from_millis(9), [link(1), link(5)].into_iter(), |_| false);
        let shown = links.between(|_| true);
        let facts: Vec<_> = shown.iter().map(|it| (it.lost_at, it.why)).collect();
        let (early, late) = (Time::from_millis(5), Time::from_millis(9));
        assert_eq!(facts, [(early, Some(braid_api::LinkLoss::PortDown)), (late, None)]);
        assert_eq!((lost(&links, 0), lost(&links, 2)), (vec![1, 5], vec![5]), "its switch has left");
        links.update(Time::from_millis(10), empty(), |src| src == at(1));
        assert_eq!(lost(&links, 0), [5]);
    }

    #[test]
    fn a_reason_that_comes_late_counts_as_well() {
        let mut links = LostLinks::default();
        let loss = |links: &LostLinks| links.between(|_| true).iter().map(|it| it.why).collect::<Vec<_>>();
        links.update(Time::from_millis(9), [link(1), link(5)].into_iter(), |_| false);
        assert_eq!(loss(&links), [None, None]);
        links.note(&down(1, LinkLoss::Port));
        links.note(&down(5, LinkLoss::Rewired));
        assert_eq!(loss(&links), [Some(braid_api::LinkLoss::PortDown)], "the other leads elsewhere");
        assert!(links.losses.is_empty());
    }

    #[test]
    fn a_link_whose_port_leads_elsewhere_is_not_missed() {
        let mut links = LostLinks::default();
        links.note(&down(1, LinkLoss::Rewired));
        links.update(Time::ZERO, once(link(1)), |_| false);
        assert!(lost(&links, 0).is_empty());
    }

    #[test]
    fn lost_links_are_bounded_and_the_oldest_give_way() {
        let mut links = LostLinks::default();
        for src in 0..=MAX_LOST as u64 {
            links.note(&down(src, LinkLoss::Silent));
            links.update(Time::from_nanos(src), once(link(src)), |_| false);
        }
        assert_eq!((links.links.len(), links.losses.len()), (MAX_LOST, 0));
    }
}
