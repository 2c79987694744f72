//! What becomes of good and of bad subflows.

use braid_subflows::{Change, Outcome, Suspicion};

use crate::model::{Connection, Path, path};

const GOOD: Path = path(50.0, 20);

fn bad() -> Connection {
    // Both together carry less than the first: 0.7 * (50 + 5).
    Connection::new(&[GOOD, path(5.0, 200)], 1).with_harm(0.3)
}

#[test]
fn healthy_subflows_are_never_disturbed() {
    let pairs = [[GOOD, GOOD], [GOOD, path(25.0, 40)], [path(20.0, 60), path(50.0, 25)]];
    for (seed, paths) in (0..).zip(pairs) {
        let mut connection = Connection::new(&paths, seed);
        connection.run(600);
        assert_eq!(connection.changes, [], "{seed}");
    }
}

#[test]
fn connection_that_waits_for_its_application_is_left_alone() {
    let mut connection = bad();
    connection.is_greedy = false;
    connection.run(600);
    assert_eq!(connection.changes, []);
}

#[test]
fn short_transfer_is_left_alone() {
    let mut connection = bad();
    for _ in 0..20 {
        connection.is_greedy = true;
        connection.steps(7);
        connection.is_greedy = false;
        connection.steps(7);
    }
    assert_eq!(connection.changes, []);
}

#[test]
fn only_subflow_is_never_suspended() {
    let mut connection = Connection::new(&[path(5.0, 200)], 1);
    connection.run(600);
    assert_eq!(connection.changes, []);
}

#[test]
fn subflow_that_drags_is_suspended_within_seconds_and_retried_ever_more_seldom() {
    let mut connection = bad();
    connection.run(4);
    assert_eq!(connection.changes, [Change::Suspend(1)]);
    let verdict = connection.verdicts[0];
    assert_eq!((verdict.outcome, verdict.suspicion), (Outcome::Suspended, Suspicion::RoundTrip));
    assert!(verdict.without > verdict.with, "{verdict:?}");
    let mean = connection.run(3_600);
    assert!(mean > 0.99 * GOOD.mbps, "{mean}");
    assert!((6..=12).contains(&connection.verdicts.len()), "{}", connection.verdicts.len());
}

#[test]
fn dragging_first_subflow_is_suspended_as_well() {
    let mut connection = Connection::new(&[path(5.0, 200), GOOD], 1).with_harm(0.3);
    connection.run(10);
    assert_eq!(connection.changes, [Change::Suspend(0)]);
}

#[test]
fn subflow_that_carries_little_and_harms_nothing_is_kept() {
    let mut connection = Connection::new(&[GOOD, path(5.0, 200)], 1);
    let mean = connection.run(600);
    assert!(mean > 0.98 * 55.0, "{mean}");
    assert!(connection.verdicts.iter().all(|it| it.outcome == Outcome::Kept), "{:?}", connection.verdicts);
}

#[test]
fn subflow_that_was_kept_is_doubted_once_it_does_harm() {
    let mut connection = Connection::new(&[GOOD, path(5.0, 200)], 1);
    connection.run(10);
    assert_eq!(connection.changes, [Change::Suspend(1), Change::Resume(1)]);
    connection.harm = 0.3;
    connection.run(10);
    assert_eq!(connection.changes[2..], [Change::Suspend(1)]);
    let outcomes: Vec<_> = connection.verdicts.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::Kept, Outcome::Suspended]);
}

#[test]
fn lossy_subflow_is_suspected_of_its_loss() {
    let lossy = Path { loss: 0.02, ..path(20.0, 20) };
    let mut connection = Connection::new(&[GOOD, lossy], 1).with_harm(0.4);
    connection.run(10);
    assert_eq!(connection.changes, [Change::Suspend(1)]);
    assert_eq!(connection.verdicts[0].suspicion, Suspicion::Loss);
}

#[test]
fn suspended_subflow_that_has_become_good_is_resumed() {
    let mut connection = bad();
    connection.run(10);
    (connection.harm, connection.paths[1]) = (0.0, GOOD);
    connection.run(40);
    assert_eq!(connection.changes, [Change::Suspend(1), Change::Resume(1)]);
    assert_eq!(connection.verdicts.last().map(|it| it.outcome), Some(Outcome::Resumed));
    let mean = connection.run(600);
    assert!(mean > 99.0, "{mean}");
}

#[test]
fn suspended_subflow_is_resumed_early_when_the_others_fail() {
    let mut connection = bad();
    connection.run(10);
    (connection.harm, connection.paths[0]) = (0.0, path(1.5, 20));
    connection.run(5);
    assert_eq!(connection.changes, [Change::Suspend(1), Change::Resume(1)]);
}

#[test]
fn subflow_that_comes_during_a_trial_ends_it_without_a_verdict() {
    let mut connection = bad();
    while connection.changes.is_empty() {
        connection.run(1);
    }
    connection.paths.push(GOOD);
    connection.run(1);
    assert_eq!(connection.changes, [Change::Suspend(1), Change::Resume(1)]);
    assert_eq!(connection.verdicts, []);
}

#[test]
fn refused_change_is_not_tried_again() {
    let mut connection = bad();
    while connection.changes.is_empty() {
        connection.run(1);
    }
    connection.refuse();
    connection.run(600);
    assert_eq!(connection.changes, [Change::Suspend(1)]);
    assert_eq!(connection.trials.suspended().count(), 0);
}
