//! Random faults over many seeds. A seed that fails is printed, and fails again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::promises::assert_same;
use crate::world::{End, World};

/// API calls whose answers hold after all faults.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);
const SEEDS: u64 = 2_000;
const SWITCHES: usize = 3;
/// How long anything may fail.
const FAULTS: Duration = Duration::from_secs(10);
/// When there has to be a leader after that.
const SETTLED: Duration = Duration::from_secs(1);
/// When every lease has ended that faults have kept from being kept alive.
const LEASES_END: Duration = Duration::from_secs(3);

fn ends(world: &mut World) -> (End, End) {
    let member = End::Member(world.random.below(world.nodes.len()));
    let other = match world.random.below(3) {
        0 => End::Store,
        1 => End::Switch(world.random.below(SWITCHES)),
        _ => End::Member(world.random.below(world.nodes.len())),
    };
    if world.random.below(2) == 0 { (member, other) } else { (other, member) }
}

/// One fault, or the end of one.
pub(crate) fn disturb(world: &mut World) {
    let member = world.random.below(world.nodes.len());
    match world.random.below(17) {
        0 => world.kill(member),
        1 | 2 => world.restart(member),
        3 => world.pause(member),
        4 => world.resume(member),
        5 => world.nodes[member].hangs ^= true,
        6 => {
            let (from, to) = ends(world);
            world.cuts.insert((from, to));
        }
        7 => {
            let (from, to) = ends(world);
            world.cuts.extend([(from, to), (to, from)]);
        }
        8 | 9 => world.cuts.clear(),
        10 => world.store.is_down = true,
        11 => world.store.start(world.now),
        12 => world.store.delay = Duration::from_millis([0, 5, 500][world.random.below(3)]),
        13 => world.loss = [0.0, 0.02, 0.2][world.random.below(3)],
        14 => world.cut_at_random(),
        15 => world.delay = Duration::from_millis([1, 5, 50][world.random.below(3)]),
        _ => match world.random.below(3) {
            0 => world.store.restore(world.now),
            _ => world.store.keep_snapshot(),
        },
    }
}

/// API clients ask whom they know.
fn use_api(world: &mut World) {
    let member = world.clients.below(world.nodes.len());
    match world.clients.below(8) {
        0..5 => world.put(member),
        5 | 6 => world.remove(member),
        _ => world.expire(member),
    }
}

/// The end of all faults.
pub(crate) fn heal(world: &mut World) {
    world.cuts.clear();
    (world.loss, world.delay) = (0.0, Duration::from_millis(1));
    world.store.delay = Duration::ZERO;
    if world.store.is_down {
        world.store.start(world.now);
    }
    for member in 0..world.nodes.len() {
        world.resume(member);
        world.restart(member);
        world.nodes[member].hangs = false;
    }
}

/// Runs one seed; the time until there is a leader after the last fault.
fn explore(seed: u64) -> Duration {
    let members = if seed.is_multiple_of(4) { 5 } else { 3 };
    let mut world = World::new(seed, members, SWITCHES);
    let end = world.now + FAULTS;
    while world.now < end {
        let pause = Duration::from_millis(20 + world.random.below(600) as u64);
        world.run_for(pause);
        disturb(&mut world);
        (0..3).for_each(|_| use_api(&mut world));
    }
    heal(&mut world);
    let is_settled = |world: &World| world.settled_leader().is_some();
    let settled = world.run_until(SETTLED, is_settled).or_else(|| {
        // A campaign that arrived after its process had been replaced holds until its lease ends.
        assert!(world.is_led_by_the_dead(), "a leader within a second after the last fault");
        world.run_until(LEASES_END, is_settled)
    });
    let settled = settled.expect("a leader once every lease of the dead has ended");
    // A lease that could not be kept alive may still end, and its leader gets another with a newer term.
    world.run_for(LEASES_END);
    let (leader, elections) = (world.settled_leader(), world.elections);
    world.run_for(Duration::from_secs(5));
    assert_eq!((world.settled_leader(), world.elections), (leader, elections), "it stays without a fault");
    let leader = &world.nodes[leader.expect("a leader")];
    assert_same(leader, &world.store.intents);
    if !world.store.has_forgotten {
        world.promises.assert_held(leader);
        ANSWERED.fetch_add(world.promises.answered(), Ordering::Relaxed);
    }
    settled
}

#[test]
fn whatever_fails_there_is_one_leader_a_term_and_a_leader_soon_after() {
    let mut failed = Vec::new();
    let mut longest = Duration::ZERO;
    for seed in 0..SEEDS {
        match catch_unwind(AssertUnwindSafe(|| explore(seed))) {
            Ok(settled) => longest = longest.max(settled),
            Err(_) => failed.push(seed),
        }
    }
    println!("{SEEDS} seeds; the longest time to a leader after the last fault is {longest:?}");
    let answered = ANSWERED.load(Ordering::Relaxed);
    println!("{answered} API calls were answered and hold");
    assert!(answered > SEEDS as usize, "too few to tell");
    assert!(failed.is_empty(), "{} seeds fail: {:?}", failed.len(), &failed[..failed.len().min(20)]);
}
