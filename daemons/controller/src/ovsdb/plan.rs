//! On which ports BFD should run. Pure: the time, the links and what the databases say are arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::{SwitchPort, Time};

/// The interval of BFD's packets; three that are missed mean that the link is dark.
pub(super) const BFD_INTERVAL: Duration = Duration::from_millis(25);
/// Links that begin BFD at the same time, while nothing is steered. A switch uses no port whose BFD is not up yet.
const MAX_BEGINNING: usize = 8;
/// The same while transfers go on: their bypasses stand in for one link at a time.
const MAX_BEGINNING_UNDER_TRAFFIC: usize = 1;
/// How long BFD may take to come up. RFC 5880 §6.8.3: it begins with a packet a second.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// A port whose BFD is down for so long gets rid of it, since another device may be there now.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);
/// A link whose BFD did not come up is left alone for so long.
const RETRY_AFTER: Duration = Duration::from_secs(600);

/// The longest interval, for switches that are late by themselves.
const MAX_INTERVAL: Duration = Duration::from_millis(400);
/// Where BFD changes its mind so many times within the window, the interval doubles: a cut link is lost once.
const MAX_FLAPS: u64 = 4;
const FLAP_WINDOW: Duration = Duration::from_secs(30);
/// After so long without a change, the interval is halved again.
const CALM: Duration = Duration::from_secs(600);

/// A link, the lower end first.
pub(super) type Ends = (SwitchPort, SwitchPort);

/// The links that the controller knows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Links {
    known: BTreeSet<Ends>,
    /// Whether transfers go on.
    has_traffic: bool,
}

/// What BFD is to do at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PortBfd {
    /// Nothing.
    Off,
    /// Watch the other end by packets at this interval.
    On { interval: Duration },
}

/// What a database says of BFD at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BfdState {
    pub(super) owner: Owner,
    pub(super) is_up: bool,
    /// How often it found the other end or lost it.
    pub(super) flaps: u64,
    pub(super) interval: Duration,
}

/// Who has turned BFD on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// It is off.
    Nobody,
    /// Braid.
    Braid,
    /// Somebody else, whose setting stays.
    Other,
}

pub(super) type Ports = BTreeMap<SwitchPort, BfdState>;

/// Which links begin BFD, and which ports have lost it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    beginning: BTreeMap<Ends, Time>,
    /// Since when BFD is down where it is on.
    down: BTreeMap<SwitchPort, Time>,
    /// Links whose BFD did not come up.
    failed: BTreeMap<Ends, Time>,
    paces: BTreeMap<Ends, Pace>,
}

/// The interval at a link, and how often BFD had changed its mind at a time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: Duration,
    flaps: u64,
    since: Time,
}

impl Links {
    /// These directed links.
    pub(super) fn new(links: impl Iterator<Item = Ends>, has_traffic: bool) -> Self {
        Self { known: links.map(|(a, b)| (a.min(b), a.max(b))).collect(), has_traffic }
    }

    /// Adds the ports that are in no database and answer BFD: each is as the other end of its link.
    pub(super) fn with_answering(&self, answering: &BTreeSet<SwitchPort>, mut ports: Ports) -> Ports {
        let both = self.known.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
        for (at, other) in both.filter(|(at, _)| answering.contains(at)) {
            if let Some(state) = ports.get(&other).copied() {
                ports.entry(at).or_insert(state);
            }
        }
        ports
    }
}

impl Plan {
    /// What is to be set now.
    pub(super) fn decide(&mut self, now: Time, links: &Links, ports: &Ports) -> Vec<(SwitchPort, PortBfd)> {
        let mut settings = self.end_what_is_down(now, ports);
        self.failed.retain(|_, at| now.since(*at) < RETRY_AFTER);
        let (done, late) = self.review(now, ports);
        done.iter().chain(&late).for_each(|ends| _ = self.beginning.remove(ends));
        for (a, b) in late {
            self.failed.insert((a, b), now);
            settings.extend([a, b].into_iter().filter(|at| is_ours(ports, *at)).map(|at| (at, PortBfd::Off)));
        }
        settings.extend(self.adapt(now, links, ports));
        let on = PortBfd::On { interval: BFD_INTERVAL };
        for ends in self.next_links(links, ports) {
            self.beginning.insert(ends, now);
            settings.extend([ends.0, ends.1].into_iter().filter(|at| is_off(ports, *at)).map(|at| (at, on)));
        }
        settings
    }

    /// Ports that Braid gave BFD, and whose other end has been silent for long.
    fn end_what_is_down(&mut self, now: Time, ports: &Ports) -> Vec<(SwitchPort, PortBfd)> {
        let is_down = |bfd: &BfdState| bfd.owner == Owner::Braid && !bfd.is_up;
        self.down.retain(|at, _| ports.get(at).is_some_and(is_down));
        for (at, _) in ports.iter().filter(|(_, bfd)| is_down(bfd)) {
            self.down.entry(*at).or_insert(now);
        }
        let over = self.down.iter().filter(|(_, since)| now.since(**since) >= GIVE_UP_AFTER);
        let over: Vec<_> = over.map(|(at, _)| (*at, PortBfd::Off)).collect();
        over.iter().for_each(|(at, _)| _ = self.down.remove(at));
        over
    }

    /// Links whose BFD has come up, and those where it has not in time.
    fn review(&self, now: Time, ports: &Ports) -> (Vec<Ends>, Vec<Ends>) {
        let is_up = |at| ports.get(at).is_some_and(|bfd: &BfdState| bfd.is_up);
        let (up, other): (Vec<_>, Vec<_>) =
            self.beginning.iter().partition(|((a, b), _)| is_up(a) && is_up(b));
        let late = other.into_iter().filter(|(_, since)| now.since(**since) >= BEGIN_TIMEOUT);
        (up.into_iter().map(|(ends, _)| *ends).collect(), late.map(|(ends, _)| *ends).collect())
    }

    /// Longer intervals where switches are too busy for short ones, or every link would flap together.
    fn adapt(&mut self, now: Time, links: &Links, ports: &Ports) -> Vec<(SwitchPort, PortBfd)> {
        self.paces.retain(|(a, b), _| is_ours(ports, *a) && is_ours(ports, *b));
        for (a, b) in links.known.iter().filter(|(a, b)| is_ours(ports, *a) && is_ours(ports, *b)) {
            let interval = ports.get(a).map_or(BFD_INTERVAL, |bfd| bfd.interval);
            let begun = Pace { interval, flaps: flaps_of(ports, (*a, *b)), since: now };
            self.paces.entry((*a, *b)).or_insert(begun);
        }
        let mut changed = Vec::new();
        for (ends, pace) in &mut self.paces {
            if pace.follow(now, flaps_of(ports, *ends)) {
                let on = PortBfd::On { interval: pace.interval };
                changed.extend([(ends.0, on), (ends.1, on)]);
            }
        }
        changed
    }

    /// Links that may begin now: no two at one switch, so that each switch keeps its other links.
    fn next_links(&self, links: &Links, ports: &Ports) -> Vec<Ends> {
        let limit = if links.has_traffic { MAX_BEGINNING_UNDER_TRAFFIC } else { MAX_BEGINNING };
        let mut busy: BTreeSet<_> = self.beginning.keys().flat_map(|(a, b)| [a.dpid, b.dpid]).collect();
        let mut room = limit.saturating_sub(self.beginning.len());
        let mut chosen = Vec::new();
        for (a, b) in &links.known {
            // At one end alone, BFD would take the port down.
            let can =
                ports.contains_key(a) && ports.contains_key(b) && (is_off(ports, *a) || is_off(ports, *b));
            let waits = self.beginning.contains_key(&(*a, *b)) || self.failed.contains_key(&(*a, *b));
            if room == 0 {
                break;
            }
            if can && !waits && !busy.contains(&a.dpid) && !busy.contains(&b.dpid) {
                busy.extend([a.dpid, b.dpid]);
                chosen.push((*a, *b));
                room = room.saturating_sub(1);
            }
        }
        chosen
    }
}

impl Pace {
    /// Whether the interval is another from now on.
    fn follow(&mut self, now: Time, flaps: u64) -> bool {
        let (before, quiet) = (self.interval, now.since(self.since));
        if flaps.saturating_sub(self.flaps) >= MAX_FLAPS {
            self.interval = self.interval.saturating_mul(2).min(MAX_INTERVAL);
            (self.flaps, self.since) = (flaps, now);
        } else if flaps != self.flaps && quiet >= FLAP_WINDOW {
            (self.flaps, self.since) = (flaps, now);
        } else if flaps == self.flaps && quiet >= CALM {
            self.interval = self.interval.checked_div(2).unwrap_or_default().max(BFD_INTERVAL);
            self.since = now;
        }
        self.interval != before
    }
}

/// How often BFD has changed its mind at either end.
fn flaps_of(ports: &Ports, (a, b): Ends) -> u64 {
    [a, b].iter().filter_map(|at| ports.get(at)).map(|bfd| bfd.flaps).max().unwrap_or(0)
}

fn is_off(ports: &Ports, at: SwitchPort) -> bool {
    ports.get(&at).is_some_and(|bfd| bfd.owner == Owner::Nobody)
}

fn is_ours(ports: &Ports, at: SwitchPort) -> bool {
    ports.get(&at).is_some_and(|bfd| bfd.owner == Owner::Braid)
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;

    const OFF: BfdState = BfdState { owner: Owner::Nobody, is_up: false, flaps: 0, interval: BFD_INTERVAL };
    const BEGUN: BfdState = BfdState { owner: Owner::Braid, ..OFF };
    const UP: BfdState = BfdState { is_up: true, ..BEGUN };

    fn at(dpid: u64, port: u32) -> SwitchPort {
        SwitchPort::new(DatapathId(dpid), PortNo(port))
    }

    fn link(a: u64, b: u64) -> Ends {
        (at(a, b as u32), at(b, a as u32))
    }

    /// Both directions of each, as the controller lists them.
    fn links(ends: &[Ends], has_traffic: bool) -> Links {
        Links::new(ends.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]), has_traffic)
    }

    fn ports(ends: &[Ends], bfd: BfdState) -> Ports {
        ends.iter().flat_map(|(a, b)| [(*a, bfd), (*b, bfd)]).collect()
    }

    fn second(second: u64) -> Time {
        Time::from_millis(1_000 * second)
    }

    #[test]
    fn both_ends_of_a_link_begin_at_once_and_each_only_once() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        let on = PortBfd::On { interval: BFD_INTERVAL };
        let known = links(&ends, false);
        assert_eq!(plan.decide(second(0), &known, &ports(&ends, OFF)), [(at(1, 2), on), (at(2, 1), on)]);
        assert_eq!(plan.decide(second(1), &known, &ports(&ends, BEGUN)), []);
        // Meanwhile the switch does not use the port, so that the controller does not see the link.
        assert_eq!(plan.decide(second(2), &Links::default(), &ports(&ends, UP)), []);
        assert_eq!(plan.decide(second(3), &known, &ports(&ends, UP)), []);
        assert!(plan.beginning.is_empty());
    }

    #[test]
    fn a_link_of_which_one_end_is_unknown_stays_as_it_is() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        let mut known = ports(&ends, OFF);
        known.remove(&at(2, 1));
        assert_eq!(plan.decide(second(0), &links(&ends, false), &known), []);
    }

    #[test]
    fn under_traffic_one_link_begins_at_a_time_and_never_two_of_a_switch() {
        let ring = [link(1, 2), link(2, 3), link(3, 4), link(1, 4)];
        let begun = |has_traffic| {
            Plan::default().decide(second(0), &links(&ring, has_traffic), &ports(&ring, OFF)).len() / 2
        };
        assert_eq!((begun(true), begun(false)), (1, 2));
    }

    #[test]
    fn where_bfd_does_not_come_up_it_is_turned_off_and_left_off_for_a_while() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        let known = links(&ends, false);
        plan.decide(second(0), &known, &ports(&ends, OFF));
        let off = [(at(1, 2), PortBfd::Off), (at(2, 1), PortBfd::Off)];
        assert_eq!(plan.decide(second(10), &known, &ports(&ends, BEGUN)), off);
        assert_eq!(plan.decide(second(11), &known, &ports(&ends, OFF)), []);
        assert_eq!(plan.decide(second(700), &known, &ports(&ends, OFF)).len(), 2);
    }

    #[test]
    fn a_port_whose_other_end_is_gone_for_a_minute_loses_bfd_so_that_a_host_can_be_there() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        assert_eq!(plan.decide(second(0), &Links::default(), &ports(&ends, UP)), []);
        assert_eq!(plan.decide(second(5), &Links::default(), &ports(&ends, BEGUN)), []);
        assert_eq!(plan.decide(second(64), &Links::default(), &ports(&ends, BEGUN)), []);
        assert_eq!(plan.decide(second(65), &Links::default(), &ports(&ends, BEGUN)).len(), 2);
    }

    #[test]
    fn where_bfd_flaps_its_interval_grows_until_it_is_quiet_and_shrinks_after_a_calm_time() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        let known = links(&ends, true);
        let interval = |settings: Vec<(SwitchPort, PortBfd)>| match settings.as_slice() {
            [] => 0,
            [(_, PortBfd::On { interval }), (_, same)] if PortBfd::On { interval: *interval } == *same => {
                interval.as_millis()
            }
            other => unreachable!("{other:?}"),
        };
        let mut after = |time, flaps| {
            interval(plan.decide(second(time), &known, &ports(&ends, BfdState { flaps, ..UP })))
        };
        // A cut and its end change it twice, whenever they come.
        let cuts: Vec<_> = (0..10).map(|cut| after(40 * cut, 2 * cut)).collect();
        assert_eq!(cuts, [0; 10]);
        let flapping: Vec<_> = (1..=6).map(|time| after(400 + time, 18 + 4 * time)).collect();
        assert_eq!(flapping, [50, 100, 200, 400, 0, 0]);
        assert_eq!((after(900, 42), after(1_007, 42), after(1_700, 42)), (0, 200, 100));
    }

    #[test]
    fn an_edge_that_answers_stands_for_the_other_end_of_its_link() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2), link(1, 3)]);
        let (known, edge) = (links(&ends, false), link(1, 2).1);
        let bare = |bfd| Ports::from([(link(1, 2).0, bfd), (link(1, 3).0, bfd)]);
        assert_eq!(
            plan.decide(second(0), &known, &bare(OFF)),
            [],
            "at one end alone it would take ports down"
        );
        let with = |bfd| known.with_answering(&BTreeSet::from([edge, at(9, 9)]), bare(bfd));
        let on = PortBfd::On { interval: BFD_INTERVAL };
        assert_eq!(plan.decide(second(1), &known, &with(OFF)), [(link(1, 2).0, on), (edge, on)]);
        assert_eq!(with(UP).get(&edge), Some(&UP));
        assert_eq!(plan.decide(second(2), &known, &with(UP)), []);
    }

    #[test]
    fn bfd_that_others_have_turned_on_stays() {
        let (mut plan, ends) = (Plan::default(), [link(1, 2)]);
        let others = ports(&ends, BfdState { owner: Owner::Other, ..OFF });
        for time in [0, 100] {
            assert_eq!(plan.decide(second(time), &links(&ends, false), &others), []);
        }
    }
}
