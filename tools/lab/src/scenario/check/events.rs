//! Checks of link events: times, links, and values that a link can take.

use std::time::Duration;

use braid_link_model::Change;
use serde_saphyr::Spanned;

use super::super::file::{self, Deed, File, Way};
use super::super::problem::Problems;
use super::super::{Event, LinkAction, Topology};
use super::ways::{check_values, is_emulated};

/// What happens during a transfer, in the order of time. A link that will need it is one that can change.
pub(super) fn check(file: &File, topology: &mut Topology, problems: &mut Problems) -> Vec<Event> {
    if let (Some(first), None) = (file.events.first(), &file.traffic) {
        problems.add(first.referenced, "events", "nothing runs meanwhile", "add traffic:");
    }
    let length = file.traffic.as_ref().map(|traffic| traffic.duration.value.into());
    let all = file.events.iter().enumerate();
    let checked = all.filter_map(|(index, it)| {
        let key = format!("events[{index}]");
        check_time(&it.value, length, &key, problems);
        let event = event(it, &key, &file.topology, problems)?;
        let ways = it.value.set.iter().chain(&it.value.back);
        if let Some(link) = topology.links.get_mut(event.link) {
            link.emulated |= ways.into_iter().any(|way| is_emulated(&way.value));
        }
        Some(event)
    });
    let mut events: Vec<_> = checked.collect();
    events.sort_by_key(|event| event.at);
    events
}

fn check_time(event: &file::Event, length: Option<Duration>, key: &str, problems: &mut Problems) {
    if let Some(length) = length.filter(|length| event.at.value.0 >= *length) {
        let what = format!("the transfer has ended by then, after {} s", length.as_secs());
        problems.add(event.at.referenced, format!("{key}.at"), what, "give an earlier time");
    }
}

fn event(
    event: &Spanned<file::Event>,
    key: &str,
    topology: &file::Topology,
    problems: &mut Problems,
) -> Option<Event> {
    let action = action(event, key, problems);
    let (link, reversed) = link(&event.value, key, topology, problems)?;
    let action = match action? {
        LinkAction::Set(mut ways) => {
            if reversed {
                ways.reverse();
            }
            LinkAction::Set(ways)
        }
        action => action,
    };
    Some(Event { at: event.value.at.value.0, link, action })
}

/// What happens, as seen from the end that is named first.
fn action(event: &Spanned<file::Event>, key: &str, problems: &mut Problems) -> Option<LinkAction> {
    let file::Event { deed, set, back, .. } = &event.value;
    for (way, name) in [(set, "set"), (back, "back")] {
        if let Some(way) = way {
            check_values(&way.value, &format!("{key}.{name}"), problems);
        }
    }
    match (deed, set.is_some() || back.is_some()) {
        (Some(deed), false) => Some(match deed.value {
            Deed::Cut => LinkAction::Cut,
            Deed::Restore => LinkAction::Restore,
        }),
        (None, true) => {
            let [there, back] = [set, back].map(|way| way.as_ref().map(|it| change(&it.value)));
            let there = there.unwrap_or_default();
            Some(LinkAction::Set(Box::new([there, merged(there, back.unwrap_or_default())])))
        }
        (deed, _) => {
            let what = if deed.is_some() { "an event does one thing" } else { "nothing happens" };
            let remedy = "give one of do: cut, do: restore, or set: with what changes";
            problems.add(event.referenced, key, what, remedy);
            None
        }
    }
}

fn change(way: &Way) -> Change {
    Change {
        rate: way.rate.as_ref().map(|it| it.value),
        queue: way.queue.as_ref().map(|it| it.value),
        delay: way.delay.as_ref().map(|it| it.value),
        jitter: way.jitter.as_ref().map(|it| it.value),
        distribution: way.distribution.as_ref().map(|it| it.value),
        loss: way.loss.as_ref().map(|it| it.value),
        loss_burst: way.loss_burst.as_ref().map(|it| it.value),
        reorder: way.reorder.as_ref().map(|it| it.value),
    }
}

/// `first`, except where `second` says otherwise.
fn merged(first: Change, second: Change) -> Change {
    Change {
        rate: second.rate.or(first.rate),
        queue: second.queue.or(first.queue),
        delay: second.delay.or(first.delay),
        jitter: second.jitter.or(first.jitter),
        distribution: second.distribution.or(first.distribution),
        loss: second.loss.or(first.loss),
        loss_burst: second.loss_burst.or(first.loss_burst),
        reorder: second.reorder.or(first.reorder),
    }
}

/// The place of the link, and whether it was named from its second end.
fn link(
    event: &file::Event,
    key: &str,
    topology: &file::Topology,
    problems: &mut Problems,
) -> Option<(usize, bool)> {
    let at = event.link.referenced;
    let key = format!("{key}.link");
    let [from, to] = event.link.value.as_slice() else {
        let what = format!("a link has two ends, not {}", event.link.value.len());
        problems.add(at, key, what, "write link: [A, B]");
        return None;
    };
    let found = between(topology, &from.value, &to.value);
    let nth = event.nth.as_ref().map(|it| it.value);
    match (found.len(), nth) {
        (0, _) => {
            let what = format!("there is no link between {:?} and {:?}", from.value, to.value);
            problems.add(at, key, what, "name the two ends of one of topology.links");
        }
        (count @ 2.., None) => {
            let what = format!("there are {count} links between {:?} and {:?}", from.value, to.value);
            problems.add(at, key, what, "say which with nth:, from 1");
        }
        (count, Some(nth)) if !(1..=count).contains(&nth) => {
            let what = format!("there is no link number {nth} between {:?} and {:?}", from.value, to.value);
            problems.add(at, key, what, format!("give nth: 1 to {count}"));
        }
        (_, nth) => return nth.unwrap_or(1).checked_sub(1).and_then(|place| found.get(place).copied()),
    }
    None
}

fn between(topology: &file::Topology, from: &str, to: &str) -> Vec<(usize, bool)> {
    let is = |name: &str, wanted: &str| {
        name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
    };
    let links = topology.links.iter().enumerate();
    let joined = links.filter_map(|(index, link)| {
        let [a, b] = link.value.between.as_slice() else { return None };
        let straight = is(&a.value, from) && is(&b.value, to);
        let reversed = is(&a.value, to) && is(&b.value, from);
        (straight || reversed).then_some((index, !straight))
    });
    joined.collect()
}
