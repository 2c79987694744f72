//! Parameters that change while frames are inside.

use braid_link_model::{Change, Delay, Fate, OneWay, ParameterError, Parameters, QueueLimit};
use braid_types::{BitsPerSec, Time};

use crate::behaviour::drain;

fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// One frame of 1,000 bytes each millisecond.
fn parameters() -> Parameters {
    Parameters { rate: Some(BitsPerSec(8_000_000)), delay: Delay::from_millis(20), ..Parameters::default() }
}

#[test]
fn what_waits_is_sent_at_the_new_rate_and_what_is_being_sent_at_the_old() {
    let mut link = OneWay::new(parameters(), 0);
    for frame in 0..3 {
        link.offer(Time::ZERO, 1_000, || frame);
    }
    let slower = Change { rate: Some(BitsPerSec(4_000_000)), ..Change::default() };
    link.change(Time::from_nanos(500_000), &slower).unwrap();
    assert_eq!(drain(&mut link), [(millis(21), 0), (millis(23), 1), (millis(25), 2)]);
}

#[test]
fn a_shorter_delay_lets_nobody_overtake() {
    let mut link = OneWay::new(parameters(), 0);
    link.offer(Time::ZERO, 1_000, || 'a');
    let shorter = Change { delay: Some(Delay::from_millis(2)), ..Change::default() };
    link.change(millis(5), &shorter).unwrap();
    link.offer(millis(5), 1_000, || 'b');
    link.offer(millis(30), 1_000, || 'c');
    assert_eq!(drain(&mut link), [(millis(21), 'a'), (millis(21), 'b'), (millis(33), 'c')]);
}

#[test]
fn a_queue_that_became_too_short_keeps_what_it_holds() {
    let mut link = OneWay::new(parameters(), 0);
    for frame in 0..5 {
        link.offer(Time::ZERO, 1_000, || frame);
    }
    let short = Change { queue: Some(QueueLimit::Packets(1)), ..Change::default() };
    link.change(Time::ZERO, &short).unwrap();
    assert_eq!(link.offer(Time::ZERO, 1_000, || 5), Fate::Overflowed);
    assert_eq!(drain(&mut link).len(), 5);
}

#[test]
fn what_is_not_named_stays_as_it_was_set_before() {
    let mut link = OneWay::<()>::new(parameters(), 0);
    let loss = Change { loss: Some("1%".parse().unwrap()), ..Change::default() };
    link.change(Time::ZERO, &loss).unwrap();
    let delay = Change { delay: Some(Delay::from_millis(5)), ..Change::default() };
    link.change(Time::ZERO, &delay).unwrap();
    let now = *link.parameters();
    assert_eq!(
        (now.rate, now.delay.to_string(), now.loss.to_string()),
        (Some(BitsPerSec(8_000_000)), "5ms".to_owned(), "1%".to_owned())
    );
}

#[test]
fn an_impossible_change_changes_nothing() {
    let mut link = OneWay::<()>::new(parameters(), 0);
    let dense = Change { loss: Some("90%".parse().unwrap()), loss_burst: Some(2.0), ..Change::default() };
    let error = link.change(Time::ZERO, &dense).unwrap_err();
    assert!(matches!(error, ParameterError::LossTooDense { .. }), "{error}");
    let still = Change { rate: Some(BitsPerSec(0)), ..Change::default() };
    assert_eq!(link.change(Time::ZERO, &still), Err(ParameterError::Rate(BitsPerSec(0))));
    let far = Change { jitter: Some(Delay::from_millis(1_000)), ..Change::default() };
    assert!(matches!(link.change(Time::ZERO, &far), Err(ParameterError::Jitter { .. })));
    for burst in [0.5, f64::NAN, f64::INFINITY] {
        let change = Change { loss_burst: Some(burst), ..Change::default() };
        assert!(matches!(link.change(Time::ZERO, &change), Err(ParameterError::LossBurst(_))));
    }
    assert_eq!(link.parameters(), &parameters());
}
