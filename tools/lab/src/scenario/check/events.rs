//! Checks of events: times, and of those of links the link and the values that it can take.

use std::time::Duration;

use braid_link_model::Change;

use super::super::file::{self, Act, DirectionParameters, File};
use super::super::problem::Problems;
use super::super::{Action, Event, LinkAction, Topology};
use super::controllers;
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
        let action = action(it, &key, file, problems)?;
        if let Action::Link { link, .. } = action {
            make_changeable(link, &it.value, topology);
        }
        Some(Event { at: it.value.at.value.0, action })
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

/// A link that an event gives other properties than a rate gets a back-end that can have them.
fn make_changeable(link: usize, event: &file::Event, topology: &mut Topology) {
    let mut directions = event.set.iter().chain(&event.reverse);
    if let Some(link) = topology.links.get_mut(link) {
        link.emulated |= directions.any(|direction| is_emulated(&direction.value));
    }
}

fn action(event: &Spanned<file::Event>, key: &str, file: &File, problems: &mut Problems) -> Option<Action> {
    match (&event.value.link, &event.value.controller) {
        (Some(ends), None) => on_link(event, ends, key, &file.topology, problems),
        (None, Some(role)) => controllers::action(event, role, key, file, problems),
        _ => {
            let what = "an event is about one link or one controller";
            problems.add(event.referenced, key, what, "give either link: [A, B] or controller: leader");
            None
        }
    }
}

fn on_link(
    event: &Spanned<file::Event>,
    ends: &Spanned<Vec<Spanned<String>>>,
    key: &str,
    topology: &file::Topology,
    problems: &mut Problems,
) -> Option<Action> {
    let change = change_of_link(event, key, problems);
    let (link, reversed) = link(&event.value, ends, key, topology, problems)?;
    let change = match change? {
        LinkAction::Set(mut directions) => {
            if reversed {
                directions.reverse();
            }
            LinkAction::Set(directions)
        }
        change => change,
    };
    Some(Action::Link { link, change })
}

/// What the event does to its link, seen from the end that is named first.
fn change_of_link(event: &Spanned<file::Event>, key: &str, problems: &mut Problems) -> Option<LinkAction> {
    let file::Event { act, set, reverse, .. } = &event.value;
    for (direction, name) in [(set, "set"), (reverse, "reverse")] {
        if let Some(direction) = direction {
            check_values(&direction.value, &format!("{key}.{name}"), problems);
        }
    }
    match (act, set.is_some() || reverse.is_some()) {
        (Some(act), false) => match act.value {
            Act::Cut => Some(LinkAction::Cut),
            Act::Restore => Some(LinkAction::Restore),
            Act::Kill | Act::Stop | Act::HandOver => {
                let what = "controllers are killed, stopped and handed over, links are not";
                problems.add(act.referenced, format!("{key}.do"), what, "give do: cut or do: restore");
                None
            }
        },
        (None, true) => {
            let [forward, reverse] = [set, reverse].map(|it| it.as_ref().map(|it| change(&it.value)));
            let forward = forward.unwrap_or_default();
            Some(LinkAction::Set(Box::new([forward, merged(forward, reverse.unwrap_or_default())])))
        }
        (act, _) => {
            let what = if act.is_some() { "an event does one thing" } else { "the event does nothing" };
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
    ends: &Spanned<Vec<Spanned<String>>>,
    key: &str,
    topology: &file::Topology,
    problems: &mut Problems,
) -> Option<(usize, bool)> {
    let at = ends.referenced;
    let key = format!("{key}.link");
    let [from, to] = ends.value.as_slice() else {
        let what = format!("a link has two ends, not {}", ends.value.len());
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
