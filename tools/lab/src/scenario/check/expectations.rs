//! Checks of expectations: their limits, and that what they are about runs.

use std::collections::BTreeMap;

use super::super::amounts::ByteCount;
use super::super::file::{self, File, RelativeTo};
use super::super::problem::Problems;
use super::super::{BestKnown, Expectation, Limit, Metric, Mode, Reference};
use super::{controllers, own, variants};
use crate::scenario::spanned::Spanned;

/// Checks expectations: exactly one limit each, about modes that run.
pub(super) fn check(file: &File, problems: &mut Problems) -> Vec<Expectation> {
    if let (Some(first), None) = (file.expect.first(), &file.traffic) {
        problems.add(first.referenced, "expect", "nothing runs that could be measured", "add traffic:");
    }
    let all = file.expect.iter().enumerate();
    all.filter_map(|(index, it)| expectation(it, &format!("expect[{index}]"), file, problems)).collect()
}

fn expectation(
    expect: &Spanned<file::Expect>,
    key: &str,
    file: &File,
    problems: &mut Problems,
) -> Option<Expectation> {
    let it = &expect.value;
    check_mode(it.mode.as_ref(), &format!("{key}.mode"), file, problems);
    check_mode(it.relative_to_mode.as_ref(), &format!("{key}.relative_to_mode"), file, problems);
    check_work(it, key, file, problems);
    check_metric(&it.value, &format!("{key}.value"), file, problems);
    variants::check_name(it.variant.as_ref(), &format!("{key}.variant"), file, problems);
    check_relative(it.relative_to.as_ref(), &format!("{key}.relative_to"), file, problems);
    check_profiles(it.profiles.as_ref(), &format!("{key}.profiles"), file, problems);
    let [mode, divided_by] = [&it.mode, &it.relative_to_mode].map(|it| it.as_ref().map(|it| it.value));
    check_sender(it.from.as_ref(), &[mode, divided_by], &format!("{key}.from"), file, problems);
    check_sender(it.relative_to_from.as_ref(), &[mode], &format!("{key}.relative_to_from"), file, problems);
    let relative_to = reference(it, key, file, problems);
    let limit = match (it.at_least, it.at_most) {
        (Some(limit), None) => Limit::AtLeast(limit),
        (None, Some(limit)) => Limit::AtMost(limit),
        _ => {
            let what = "an expectation has one limit";
            problems.add(expect.referenced, key, what, "give either at_least or at_most");
            return None;
        }
    };
    Some(Expectation {
        name: it.name.value.clone(),
        value: it.value.value,
        mode: it.mode.as_ref().map(|it| it.value),
        tool: it.tool.as_ref().map(|it| it.value),
        bytes: it.bytes.as_ref().map(|it| it.value.0),
        variant: it.variant.as_ref().map(|it| it.value.clone()),
        from: it.from.as_ref().map(|it| it.value.clone()),
        relative_to,
        needs_quiet_machine: it.needs_quiet_machine,
        of: it.of,
        profiles: it.profiles.as_ref().map(|it| it.value),
        limit,
    })
}

fn of_variants(relative_to: &RelativeTo, file: &File) -> Reference {
    match relative_to {
        RelativeTo::Variant(name) => Reference::Variant(name.clone()),
        RelativeTo::BestOf(names) if names.published_of.is_empty() => {
            Reference::BestOf(names.best_of.clone())
        }
        RelativeTo::BestOf(names) => Reference::BestKnown(BestKnown {
            measured: names.best_of.clone(),
            published: best_published(file),
            published_of: names.published_of.clone(),
        }),
        RelativeTo::SumOf(names) => Reference::SumOf(names.sum_of.clone()),
    }
}

/// The greatest published ratio of each profile that has one.
fn best_published(file: &File) -> BTreeMap<String, f64> {
    let best = |profile: &file::Profile| profile.published.values().copied().reduce(f64::max);
    let all = file.profiles.iter().map(|profile| (profile.name.value.clone(), best(profile)));
    all.filter_map(|(name, best)| Some((name, best?))).collect()
}

/// Checks that there are variants of these names.
fn check_relative(
    relative_to: Option<&Spanned<RelativeTo>>,
    key: &str,
    file: &File,
    problems: &mut Problems,
) {
    let Some(relative_to) = relative_to else { return };
    let Spanned { value, referenced, defined } = relative_to;
    if value.names().is_empty() {
        problems.add(*referenced, key, "no variant is named", "name one at least");
    }
    for name in value.names().iter().chain(value.published_of()) {
        let name = Spanned { value: name.clone(), referenced: *referenced, defined: *defined };
        variants::check_name(Some(&name), key, file, problems);
    }
    if !value.published_of().is_empty() && best_published(file).is_empty() {
        let what = "no profile has published ratios";
        problems.add(*referenced, key, what, "add published: to profiles, or remove published_of");
    }
}

/// Checks that there are so many profiles.
fn check_profiles(wanted: Option<&Spanned<usize>>, key: &str, file: &File, problems: &mut Problems) {
    let Some(wanted) = wanted else { return };
    let count = file.profiles.len();
    if !(1..=count).contains(&wanted.value) {
        let what = format!("{} profiles cannot keep the limit: there are {count}", wanted.value);
        problems.add(wanted.referenced, key, what, "give 1 at least, and no more than there are");
    }
}

/// The setting that the value is divided by: of the keys that name one, the first.
fn reference(it: &file::Expect, key: &str, file: &File, problems: &mut Problems) -> Option<Reference> {
    let named = [
        it.relative_to.as_ref().map(|it| (it.referenced, "relative_to", of_variants(&it.value, file))),
        it.relative_to_mode.as_ref().map(|it| (it.referenced, "relative_to_mode", Reference::Mode(it.value))),
        it.relative_to_from
            .as_ref()
            .map(|it| (it.referenced, "relative_to_from", Reference::Sender(it.value.clone()))),
    ];
    let mut named = named.into_iter().flatten();
    let (_, first, reference) = named.next()?;
    for (at, name, _) in named {
        let what = "a value is divided by one other";
        problems.add(at, format!("{key}.{name}"), what, format!("remove it, or {first}"));
    }
    Some(reference)
}

fn check_mode(mode: Option<&Spanned<Mode>>, key: &str, file: &File, problems: &mut Problems) {
    let (Some(mode), Some(traffic)) = (mode, &file.traffic) else { return };
    let is_own =
        own::directions(traffic).any(|it| it.mode.as_ref().is_some_and(|own| own.value == mode.value));
    let named = traffic.directions.iter().flat_map(|all| &all.value);
    let is_for_some =
        named.clone().next().is_none() || named.clone().any(|direction| direction.mode.is_none());
    if !is_own && !traffic.modes.value.contains(&mode.value) {
        let what = format!("{} is not among traffic.modes", mode.value);
        problems.add(mode.referenced, key, what, "add it there, or name another mode");
    } else if !is_own && !is_for_some {
        let what = format!("each of traffic.directions has a mode of its own, and none {}", mode.value);
        problems.add(mode.referenced, key, what, "name one of theirs");
    }
}

fn check_work(expect: &file::Expect, key: &str, file: &File, problems: &mut Problems) {
    let Some(traffic) = &file.traffic else { return };
    let runs = |tool| traffic.tool.value.0.contains(tool) || own::tools(traffic).contains(tool);
    if let Some(tool) = expect.tool.as_ref().filter(|tool| !runs(&tool.value)) {
        let what = format!("{} is not among traffic.tool", tool.value);
        problems.add(tool.referenced, format!("{key}.tool"), what, "add it there, or name another tool");
    }
    let carried = |bytes: &ByteCount| traffic.bytes.as_ref().is_some_and(|all| all.value.0.contains(bytes));
    if let Some(bytes) = expect.bytes.as_ref().filter(|bytes| !carried(&bytes.value)) {
        let what = format!("{} bytes are not among traffic.bytes", bytes.value.0);
        problems.add(
            bytes.referenced,
            format!("{key}.bytes"),
            what,
            "add them there, or give another number",
        );
    }
}

/// Checks that a host sends, and in each of these modes that runs: else there would be no value.
fn check_sender(
    from: Option<&Spanned<String>>,
    modes: &[Option<Mode>],
    key: &str,
    file: &File,
    problems: &mut Problems,
) {
    let Some((from, traffic)) = from.zip(file.traffic.as_ref()) else { return };
    let Some(directions) = &traffic.directions else { return };
    let runs = |direction: &file::Direction, mode: Mode| match &direction.mode {
        Some(own) => own.value == mode,
        None => traffic.modes.value.contains(&mode),
    };
    let all = || directions.value.iter();
    let own = || all().filter(|direction| direction.from.value == from.value);
    let is_others = |mode: &Mode| all().any(|it| runs(it, *mode)) && !own().any(|it| runs(it, *mode));
    if own().next().is_none() {
        let what = format!("{:?} sends in none of traffic.directions", from.value);
        problems.add(from.referenced, key, what, "name a host that does");
    } else if let Some(mode) = modes.iter().flatten().find(|mode| is_others(mode)) {
        let what = format!("{:?} sends in none of traffic.directions with mode {mode}", from.value);
        problems.add(from.referenced, key, what, "name a host that does, or add such a direction");
    }
}

fn check_metric(value: &Spanned<Metric>, key: &str, file: &File, problems: &mut Problems) {
    controllers::check_metric(value, key, file, problems);
    let is_copy = file.traffic.as_ref().is_none_or(|traffic| traffic.bytes.is_some());
    let has_background = file.traffic.as_ref().is_none_or(|traffic| !traffic.background.is_empty());
    if value.value == Metric::BackgroundShare && !has_background {
        let what = "there is nothing in the background";
        problems.add(value.referenced, key, what, "add traffic.background, or expect something else");
    }
    let has_requests = file.traffic.as_ref().is_none_or(|traffic| !traffic.requests.is_empty());
    if value.value == Metric::RequestP99OverIdle && !has_requests {
        let what = "nothing is asked";
        problems.add(value.referenced, key, what, "add traffic.requests, or expect something else");
    }
    if value.value.is_of_copies() && !is_copy {
        let what = "what is sent for a time is not compared with what arrives";
        problems.add(value.referenced, key, what, "give bytes, or expect something else");
    }
}
