//! Paths with cross traffic, and lossy paths: the goodput of a sprayed flow.

mod sender;
mod world;

use std::time::Duration;

use sender::Control::{self, Paced, Reno};
use world::{World, path};

const TENTH: Duration = Duration::from_millis(100);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Two paths that carry 9.5 Mbit/s of data each, with queues of 100 ms, after the flow has filled them.
fn even(control: Control) -> World {
    let mut world = World::new(control, &[path(10, 25, 125_000, 0.0), path(10, 25, 125_000, 0.0)]);
    world.goodput(seconds(10));
    world
}

/// The longest time, in seconds, in which less than half of one path came in each tenth of a second.
fn longest_slump(world: &mut World, duration: Duration) -> f64 {
    let tenths = (duration.as_millis() / TENTH.as_millis()) as usize;
    let low: Vec<_> = (0..tenths).map(|_| world.goodput(TENTH) < 5.0).collect();
    let longest = low.chunk_by(|a, b| a == b).filter(|it| it[0]).map(<[bool]>::len).max();
    longest.unwrap_or(0) as f64 / 10.0
}

#[test]
fn a_flow_has_both_paths_as_long_as_nobody_else_does() {
    for control in [Reno, Paced] {
        let goodput = even(control).goodput(seconds(10));
        assert!(goodput > 17.0, "{goodput} Mbit/s of 19, {control:?}");
    }
}

#[test]
fn a_path_that_others_fill_takes_no_more_than_itself_from_the_flow() {
    for (control, others) in [(Reno, 50.0), (Reno, 12.0), (Paced, 50.0), (Paced, 12.0)] {
        let mut world = even(control);
        world.join(1, others);
        let slump = longest_slump(&mut world, seconds(10));
        assert!(slump <= 1.0, "{slump} s, {control:?} beside {others} Mbit/s");
        let goodput = world.goodput(seconds(10));
        assert!(goodput > 8.0, "{goodput} Mbit/s of 9.5, {control:?} beside {others} Mbit/s");
        assert!(world.feedback.report(1).unwrap().is_suspended);
    }
}

#[test]
fn what_others_leave_of_a_path_is_used() {
    for (control, others, wanted) in [(Reno, 5.0, 12.0), (Reno, 8.0, 9.0), (Paced, 5.0, 11.5)] {
        let mut world = even(control);
        world.join(1, others);
        world.goodput(seconds(10));
        let goodput = world.goodput(seconds(20));
        assert!(goodput > wanted, "{goodput} Mbit/s, {control:?} beside {others} Mbit/s");
    }
}

#[test]
fn a_path_that_others_leave_is_used_again() {
    for control in [Reno, Paced] {
        let mut world = even(control);
        world.join(1, 50.0);
        world.goodput(seconds(40));
        world.join(1, 0.0);
        world.goodput(seconds(5));
        let goodput = world.goodput(seconds(5));
        assert!(goodput > 16.0, "{goodput} Mbit/s of 19, {control:?}, {}", world.share(1));
    }
}

#[test]
fn a_path_that_loses_capacity_keeps_what_it_still_carries() {
    for control in [Reno, Paced] {
        let mut world = even(control);
        world.narrow(1, 4);
        world.goodput(seconds(5));
        let goodput = world.goodput(seconds(15));
        assert!(goodput > 10.5, "{goodput} Mbit/s of 13.3, {control:?}, {}", world.share(1));
    }
}
