//! Checks of link events: times, links, and values that a link can take.

use std::time::Duration;

use braid_link_model::Change;

use super::super::file::{self, DirectionParameters, File, LinkSwitch};
use super::super::problem::Problems;
use super::super::{Event, LinkAction, Topology};
use super::directions::{check_values, is_emulated};
use crate::scenario::spanned::Spanned;

/// The events during a transfer in order of time. Links that they change become changeable.
pub(super) fn check(file: &File, topology: &mut Topology, problems: &mut Problems) -> Vec<Event> {
    if let (Some(first), None) = (file.events.first(), &file.traffic) {
        problems.add(
            first.referenced,
            "events",
            "there is no traffic during which events could happen",
            "add traffic:",
        );
    }
    let length = file.traffic.as_ref().map(|traffic| traffic.duration.value.into());
    let all = file.events.iter().enumerate();
    let checked = all.filter_map(|(index, it)| {
        let key = format!("events[{index}]");
        check_time(&it.value, length, &key, problems);
        let event = event(it, &key, &file.topology, problems)?;
        let directions = it.value.set.iter().chain(&it.value.reverse);
        if let Some(link) = topology.links.get_mut(event.link) {
            link.emulated |= directions.into_iter().any(|direction| is_emulated(&direction.value));
        }
        Some(event)
    });
    let mut events: Vec<_> = checked.collect();
    events.sort_by_key(|event| event.at);
    events
}

fn check_time(event: &file::Event, length: Option<Duration>, key: &str, problems: &mut Problems) {
    if let Some(length) = length.filter(|length| event.at.value.0 >= *length) {
        let what = format!("the event is after the end of the transfer, {} s", length.as_secs());
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
        LinkAction::Set(mut directions) => {
            if reversed {
                directions.reverse();
            }
            LinkAction::Set(directions)
        }
        action => action,
    };
    Some(Event { at: event.value.at.value.0, link, action })
}

/// The event's action, seen from the end that is named first.
fn action(event: &Spanned<file::Event>, key: &str, problems: &mut Problems) -> Option<LinkAction> {
    let file::Event { switch, set, reverse, .. } = &event.value;
    for (direction, name) in [(set, "set"), (reverse, "reverse")] {
        if let Some(direction) = direction {
            check_values(&direction.value, &format!("{key}.{name}"), problems);
        }
    }
    match (switch, set.is_some() || reverse.is_some()) {
        (Some(switch), false) => Some(match switch.value {
            LinkSwitch::Cut => LinkAction::Cut,
            LinkSwitch::Restore => LinkAction::Restore,
        }),
        (None, true) => {
            let [forward, reverse] = [set, reverse].map(|it| it.as_ref().map(|it| change(&it.value)));
            let forward = forward.unwrap_or_default();
            Some(LinkAction::Set(Box::new([forward, merged(forward, reverse.unwrap_or_default())])))
        }
        (switch, _) => {
            let what = if switch.is_some() { "an event does one thing" } else { "the event does nothing" };
            let remedy = "give one of do: cut, do: restore, or set: with the new values";
            problems.add(event.referenced, key, what, remedy);
            None
        }
    }
}

fn change(direction: &DirectionParameters) -> Change {
    Change {
        rate: direction.rate.as_ref().map(|it| it.value),
        queue: direction.queue.as_ref().map(|it| it.value),
        delay: direction.delay.as_ref().map(|it| it.value),
        jitter: direction.jitter.as_ref().map(|it| it.value),
        distribution: direction.distribution.as_ref().map(|it| it.value),
        loss: direction.loss.as_ref().map(|it| it.value),
        loss_burst: direction.loss_burst.as_ref().map(|it| it.value),
        reorder: direction.reorder.as_ref().map(|it| it.value),
    }
}

/// `first`, overridden by the values of `second`.
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

/// The index of the link, and whether it was named from its second end.
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
            problems.add(at, key, what, "choose one with nth:, from 1");
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
