//! Checks of link parameters in each direction, and defaults for missing values.

use braid_link_model::{MAX_RATE, MIN_RATE, ParameterError, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use serde_saphyr::Location;

use super::super::file::{DirectionParameters, Link};
use super::super::problem::Problems;
use super::super::topology::usual_queue;
use crate::scenario::spanned::Spanned;

/// The smallest queue: two full frames, as a smaller one could block a single frame.
const MIN_QUEUE_BYTES: u64 = 3_000;

/// The parameters of both directions, and whether they need more than a token bucket.
pub(super) fn check(link: &Spanned<Link>, key: &str, problems: &mut Problems) -> ([Parameters; 2], bool) {
    check_short_forms(&link.value, key, problems);
    let (mut forward, mut reverse) = (link.value.forward(), link.value.reverse.clone());
    check_values(&forward, key, problems);
    check_values(&reverse, &format!("{key}.reverse"), problems);
    let emulated = is_emulated(&forward) || is_emulated(&reverse);
    if let Some(bytes) = &link.value.queue_bytes {
        let (referenced, defined) = (bytes.referenced, bytes.defined);
        forward.queue = Some(Spanned { value: QueueLimit::Bytes(bytes.value), referenced, defined });
    }
    reverse.rate = reverse.rate.or(link.value.reverse_rate.clone());
    let first = merged(&forward, Parameters::default(), None);
    let second = merged(&reverse, first, forward.queue.map(|it| it.value));
    for (direction, key) in [(first, key.to_owned()), (second, format!("{key}.reverse"))] {
        check_whole(&direction, link.referenced, &key, problems);
    }
    ([first, second], emulated)
}

/// The parameters of both directions of a link with these changes.
pub(super) fn changed(
    given: &DirectionParameters,
    base: [Parameters; 2],
    at: Location,
    key: &str,
    problems: &mut Problems,
) -> [Parameters; 2] {
    check_values(given, key, problems);
    let changed = base.map(|base| merged(given, base, Some(base.queue)));
    check_whole(&changed[0], at, key, problems);
    if changed[1] != changed[0] {
        check_whole(&changed[1], at, key, problems);
    }
    changed
}

/// `reverse_rate` and `queue_bytes`, short forms of `reverse` and `queue`.
fn check_short_forms(link: &Link, key: &str, problems: &mut Problems) {
    if let Some(rate) = &link.reverse_rate {
        check_rate(rate, &format!("{key}.reverse_rate"), problems);
        if link.reverse.rate.is_some() {
            let what = "the rate of the reverse direction is given twice";
            problems.add(rate.referenced, format!("{key}.reverse_rate"), what, "remove it, or reverse.rate");
        }
    }
    if let Some(bytes) = &link.queue_bytes {
        let key = format!("{key}.queue_bytes");
        check_queue(QueueLimit::Bytes(bytes.value), bytes.referenced, &key, problems);
        if link.queue.is_some() {
            problems.add(bytes.referenced, key, "the queue is given twice", "remove it, or queue");
        }
    }
}

/// Checks each value by itself.
pub(super) fn check_values(direction: &DirectionParameters, key: &str, problems: &mut Problems) {
    if let Some(rate) = &direction.rate {
        check_rate(rate, &format!("{key}.rate"), problems);
    }
    if let Some(queue) = &direction.queue {
        check_queue(queue.value, queue.referenced, &format!("{key}.queue"), problems);
    }
    if let Some(burst) = direction.loss_burst.as_ref().filter(|it| !(1.0..=1e6).contains(&it.value)) {
        let what = format!("{} is not a number of losses in a row", burst.value);
        problems.add(burst.referenced, format!("{key}.loss_burst"), what, "give 1 or more");
    }
}

/// Checks combinations of values.
fn check_whole(direction: &Parameters, at: Location, key: &str, problems: &mut Problems) {
    let checked =
        Parameters { rate: None, loss_burst: direction.loss_burst.clamp(1.0, 1e6), ..*direction }.check();
    if let Err(error) = checked {
        let (name, remedy) = match error {
            ParameterError::Jitter { .. } => {
                ("jitter", "frames cannot arrive before they are sent: lower it")
            }
            _ => ("loss", "lower the loss, or raise loss_burst"),
        };
        problems.add(at, format!("{key}.{name}"), error.to_string(), remedy);
    }
}

fn check_rate(rate: &Spanned<BitsPerSec>, key: &str, problems: &mut Problems) {
    if !(MIN_RATE..=MAX_RATE).contains(&rate.value) {
        let what = format!("the rate of {} is out of range", rate.value);
        let remedy = format!("give {MIN_RATE} to {MAX_RATE}, such as 100Mbit");
        problems.add(rate.referenced, key, what, remedy);
    }
}

fn check_queue(queue: QueueLimit, at: Location, key: &str, problems: &mut Problems) {
    match queue {
        QueueLimit::Bytes(bytes) if bytes < MIN_QUEUE_BYTES => {
            let what = format!("a queue of {bytes} bytes is shorter than two frames");
            problems.add(at, key, what, format!("give at least {MIN_QUEUE_BYTES}"));
        }
        QueueLimit::Packets(0) => problems.add(at, key, "the queue holds nothing", "give at least 1 packet"),
        QueueLimit::Bytes(_) | QueueLimit::Packets(_) => {}
    }
}

// A token bucket does rates and queues in bytes. A delay of zero asks for a link whose delay can change.
pub(super) fn is_emulated(direction: &DirectionParameters) -> bool {
    let packets = direction.queue.as_ref().is_some_and(|it| matches!(it.value, QueueLimit::Packets(_)));
    let losses = direction.loss.is_some() || direction.loss_burst.is_some() || direction.reorder.is_some();
    packets
        || losses
        || direction.delay.is_some()
        || direction.jitter.is_some()
        || direction.distribution.is_some()
}

/// `direction`, with missing values from `base`; the queue's default is `queue`, or the default queue of the rate.
fn merged(direction: &DirectionParameters, base: Parameters, queue: Option<QueueLimit>) -> Parameters {
    let rate = direction.rate.as_ref().map(|it| it.value).or(base.rate);
    let queue = direction.queue.as_ref().map(|it| it.value).or(queue);
    Parameters {
        rate,
        queue: queue.unwrap_or_else(|| usual_queue(rate.unwrap_or_default())),
        delay: value(&direction.delay, base.delay),
        jitter: value(&direction.jitter, base.jitter),
        distribution: value(&direction.distribution, base.distribution),
        loss: value(&direction.loss, base.loss),
        loss_burst: value(&direction.loss_burst, base.loss_burst),
        reorder: value(&direction.reorder, base.reorder),
    }
}

fn value<T: Copy>(given: &Option<Spanned<T>>, base: T) -> T {
    given.as_ref().map_or(base, |it| it.value)
}
