//! Checks of clusters of controllers: their number, and the events and expectations that need several.

use super::super::file::{self, Act, File};
use super::super::problem::Problems;
use super::super::{Action, ControllerAction, ControllerRole, Metric};
use crate::scenario::spanned::Spanned;

/// More would share one machine's processors.
const MAX_CONTROLLERS: u8 = 7;

/// The number of controllers, with which everything else of the file has to go together.
pub(super) fn check(file: &File, problems: &mut Problems) -> u8 {
    let Some(number) = &file.controllers else { return 1 };
    if !(1..=MAX_CONTROLLERS).contains(&number.value) {
        let what = format!("{} is not a number of controllers", number.value);
        problems.add(number.referenced, "controllers", what, format!("give 1 to {MAX_CONTROLLERS}"));
    }
    check_survivors(number, file, problems);
    number.value
}

/// Checks what an event does to a controller.
pub(super) fn action(
    event: &Spanned<file::Event>,
    role: &Spanned<ControllerRole>,
    key: &str,
    file: &File,
    problems: &mut Problems,
) -> Option<Action> {
    check_cluster(file, problems, (role.referenced, format!("{key}.controller")));
    let file::Event { nth, set, reverse, .. } = &event.value;
    if nth.is_some() || set.is_some() || reverse.is_some() {
        let what = "nth, set and reverse are about links";
        problems.add(event.referenced, key, what, "remove them, or give link: instead of controller:");
    }
    let Some(act) = &event.value.act else {
        problems.add(event.referenced, key, "the event does nothing", "give do: kill, stop or hand-over");
        return None;
    };
    let change = match act.value {
        Act::Kill => ControllerAction::Kill,
        Act::Stop => ControllerAction::Stop,
        Act::HandOver => ControllerAction::HandOver,
        Act::Cut | Act::Restore => {
            let what = "links are cut and restored, controllers are not";
            problems.add(act.referenced, format!("{key}.do"), what, "give do: kill, stop or hand-over");
            return None;
        }
    };
    if (change, role.value) == (ControllerAction::HandOver, ControllerRole::Standby) {
        let what = "a standby has nothing to hand over";
        problems.add(role.referenced, format!("{key}.controller"), what, "give controller: leader");
    }
    Some(Action::Controller { role: role.value, change })
}

/// Checks that values of clusters have a cluster.
pub(super) fn check_metric(value: &Spanned<Metric>, key: &str, file: &File, problems: &mut Problems) {
    if value.value.is_of_clusters() {
        check_cluster(file, problems, (value.referenced, key.to_owned()));
    }
}

fn check_cluster(file: &File, problems: &mut Problems, (at, key): (serde_saphyr::Location, String)) {
    if file.controllers.as_ref().is_none_or(|number| number.value < 2) {
        problems.add(at, key, "the controller is alone", "give controllers: 3, beside topology");
    } else if file.variants.iter().any(|variant| variant.rules.is_some()) {
        let what = "a variant has rules in the place of the controllers";
        problems.add(at, key, what, "remove this, or rules:");
    }
}

/// Somebody has to lead after all events of a transfer.
fn check_survivors(number: &Spanned<u8>, file: &File, problems: &mut Problems) {
    let ends = |event: &&Spanned<file::Event>| {
        let act = event.value.act.as_ref().map(|act| act.value);
        event.value.controller.is_some() && matches!(act, Some(Act::Kill | Act::Stop))
    };
    let gone = file.events.iter().filter(ends).count();
    if number.value > 1 && gone >= usize::from(number.value) {
        let what = format!("of {} controllers, events end {gone}", number.value);
        problems.add(number.referenced, "controllers", what, "leave at least one");
    }
}
