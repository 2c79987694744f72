//! Checks of link parameters in each direction, and defaults for the values left out.

use braid_link_model::{LEAST_RATE, MOST_RATE, ParameterError, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use serde_saphyr::{Location, Spanned};

use super::super::file::{Link, Way};
use super::super::problem::Problems;
use super::super::usual_queue;

/// Less than two full frames could hold back a single one.
const SMALLEST_QUEUE: u64 = 3_000;

/// What `link` is like there and back, and whether that is more than rates and queues of so many bytes.
pub(super) fn check(link: &Spanned<Link>, key: &str, problems: &mut Problems) -> ([Parameters; 2], bool) {
    check_short_forms(&link.value, key, problems);
    let (mut there, mut back) = (link.value.there(), link.value.back.clone());
    check_values(&there, key, problems);
    check_values(&back, &format!("{key}.back"), problems);
    let emulated = is_emulated(&there) || is_emulated(&back);
    if let Some(bytes) = &link.value.queue_bytes {
        let (referenced, defined) = (bytes.referenced, bytes.defined);
        there.queue = Some(Spanned { value: QueueLimit::Bytes(bytes.value), referenced, defined });
    }
    back.rate = back.rate.or(link.value.rate_back.clone());
    let first = merged(&there, Parameters::default(), None);
    let second = merged(&back, first, there.queue.map(|it| it.value));
    for (way, key) in [(first, key.to_owned()), (second, format!("{key}.back"))] {
        check_whole(&way, link.referenced, &key, problems);
    }
    ([first, second], emulated)
}

/// `rate_back` and `queue_bytes`, which say what `back` and `queue` can say, too.
fn check_short_forms(link: &Link, key: &str, problems: &mut Problems) {
    if let Some(rate) = &link.rate_back {
        check_rate(rate, &format!("{key}.rate_back"), problems);
        if link.back.rate.is_some() {
            let what = "the rate of the way back is given twice";
            problems.add(rate.referenced, format!("{key}.rate_back"), what, "remove it, or back.rate");
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

/// Each value by itself.
pub(super) fn check_values(way: &Way, key: &str, problems: &mut Problems) {
    if let Some(rate) = &way.rate {
        check_rate(rate, &format!("{key}.rate"), problems);
    }
    if let Some(queue) = &way.queue {
        check_queue(queue.value, queue.referenced, &format!("{key}.queue"), problems);
    }
    if let Some(burst) = way.loss_burst.as_ref().filter(|it| !(1.0..=1e6).contains(&it.value)) {
        let what = format!("losses do not come {} in a row", burst.value);
        problems.add(burst.referenced, format!("{key}.loss_burst"), what, "give 1 or more");
    }
}

/// The values together.
fn check_whole(way: &Parameters, at: Location, key: &str, problems: &mut Problems) {
    let checked = Parameters { rate: None, loss_burst: way.loss_burst.clamp(1.0, 1e6), ..*way }.check();
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
    if !(LEAST_RATE..=MOST_RATE).contains(&rate.value) {
        let what = format!("the rate of {} is out of range", rate.value);
        let remedy = format!("give {LEAST_RATE} to {MOST_RATE}, such as 100Mbit");
        problems.add(rate.referenced, key, what, remedy);
    }
}

fn check_queue(queue: QueueLimit, at: Location, key: &str, problems: &mut Problems) {
    match queue {
        QueueLimit::Bytes(bytes) if bytes < SMALLEST_QUEUE => {
            let what = format!("{bytes} bytes hold no two frames");
            problems.add(at, key, what, format!("give at least {SMALLEST_QUEUE}"));
        }
        QueueLimit::Packets(0) => problems.add(at, key, "the queue holds nothing", "give at least 1 packet"),
        QueueLimit::Bytes(_) | QueueLimit::Packets(_) => {}
    }
}

// A token bucket does rates and queues of so many bytes. To ask for a delay of nothing asks for a link that can change.
pub(super) fn is_emulated(way: &Way) -> bool {
    let packets = way.queue.as_ref().is_some_and(|it| matches!(it.value, QueueLimit::Packets(_)));
    let losses = way.loss.is_some() || way.loss_burst.is_some() || way.reorder.is_some();
    packets || losses || way.delay.is_some() || way.jitter.is_some() || way.distribution.is_some()
}

/// What `way` says, and where it says nothing `base`; its queue is `queue` then, or the usual one of its rate.
fn merged(way: &Way, base: Parameters, queue: Option<QueueLimit>) -> Parameters {
    let rate = way.rate.as_ref().map(|it| it.value).or(base.rate);
    let queue = way.queue.as_ref().map(|it| it.value).or(queue);
    Parameters {
        rate,
        queue: queue.unwrap_or_else(|| usual_queue(rate.unwrap_or_default())),
        delay: value(&way.delay, base.delay),
        jitter: value(&way.jitter, base.jitter),
        distribution: value(&way.distribution, base.distribution),
        loss: value(&way.loss, base.loss),
        loss_burst: value(&way.loss_burst, base.loss_burst),
        reorder: value(&way.reorder, base.reorder),
    }
}

fn value<T: Copy>(given: &Option<Spanned<T>>, base: T) -> T {
    given.as_ref().map_or(base, |it| it.value)
}
