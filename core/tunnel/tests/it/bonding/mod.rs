//! The goodput of one flow over both lines of sixteen pairs, against each line alone.

mod bbr;
mod cubic;
mod profiles;
mod quic;
mod received;
mod tcp;
mod world;

use std::fmt::Write;
use std::time::Duration;

use bbr::Bbr;
use braid_link_model::Parameters;
use profiles::Profile;
use quic::Quic;
use tcp::Tcp;
use world::{Transport, World};

const WARM_UP: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(20);
/// The time in which slow start ends.
const START: Duration = Duration::from_secs(2);
/// What both lines carry at least, against the better one; and where there is much to gain.
const LEAST: f64 = 0.97;
const GAIN: f64 = 1.5;

/// The mean goodput of each line alone, and of both, over all seeds.
fn measure<T: Transport>(profile: &Profile) -> [f64; 3] {
    let [a, b] = profile.lines;
    let seeds = profile.seeds();
    let run = |lines: &[Parameters], seed| {
        let mut world = World::<T>::new(lines, seed);
        world.goodput(WARM_UP);
        world.goodput(MEASURED)
    };
    [vec![a], vec![b], vec![a, b]]
        .map(|lines| (1..=seeds).map(|seed| run(&lines, seed)).sum::<f64>() / seeds as f64)
}

/// Measures all pairs, and compares both lines with the better one; a pair without a limit is only printed.
fn compare<T: Transport>(least: impl Fn(&Profile) -> Option<f64>) {
    let profiles = profiles::all();
    let results: Vec<[f64; 3]> = std::thread::scope(|scope| {
        let runs: Vec<_> = profiles.iter().map(|profile| scope.spawn(|| measure::<T>(profile))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let (mut table, mut failures) = (String::new(), Vec::new());
    for (profile, [a, b, both]) in profiles.iter().zip(results) {
        let (name, ratio) = (profile.name, both / a.max(b));
        writeln!(table, "{name:<13} {a:7.1} {b:7.1} {both:7.1} {ratio:5.2}").unwrap();
        if least(profile).is_some_and(|least| ratio.is_nan() || ratio < least) {
            failures.push(name);
        }
    }
    println!("{table}");
    assert!(failures.is_empty(), "too little in {failures:?}:\n{table}");
}

#[test]
fn both_lines_carry_no_less_than_the_better_one() {
    compare::<Tcp>(|profile| Some(if profile.gains { GAIN } else { LEAST }));
}

#[test]
fn neither_do_they_for_quic() {
    compare::<Quic>(|_| Some(LEAST));
}

#[test]
fn nor_with_bbr() {
    compare::<Bbr<true>>(|_| Some(LEAST));
}

#[test]
fn nor_with_bbr_whose_window_is_twice_the_least_round_trip_without_more() {
    compare::<Bbr<false>>(|_| Some(LEAST));
}

#[test]
fn a_flow_starts_as_fast_over_both_lines_as_over_the_better_one() {
    // With jitter and losses, chance ends slow start.
    for Profile { name, lines: [a, b], .. } in profiles::all().into_iter().filter(|it| !it.has_chance()) {
        let start = |lines: &[Parameters]| World::<Tcp>::new(lines, 1).goodput(START);
        let [a, b, both] = [vec![a], vec![b], vec![a, b]].map(|lines| start(&lines));
        assert!(
            both > 0.0 && both >= LEAST * a.max(b),
            "{name}: {a:.1} and {b:.1} alone, {both:.1} together"
        );
    }
}

/// What a flow over the first line of a pair sends and has repaired within [`MEASURED`]: packets, repairs, parity, and packets computed.
fn losses(name: &str) -> [u64; 4] {
    let profile = profiles::all().into_iter().find(|it| it.name == name).unwrap();
    let mut world = World::<Quic>::new(&profile.lines[..1], 1);
    let counted = |world: &World<Quic>| {
        let [sender, receiver] = world.counters();
        [sender.sent, sender.repaired, sender.parity, receiver.recovered]
    };
    world.goodput(WARM_UP);
    let before = counted(&world);
    world.goodput(MEASURED);
    let after = counted(&world);
    std::array::from_fn(|at| after[at] - before[at])
}

#[test]
fn parity_makes_up_for_losses_where_there_is_jitter_and_costs_nothing_elsewhere() {
    let [sent, repaired, parity, recovered] = losses("congested");
    assert!(recovered > 3 * repaired, "{recovered} computed, {repaired} sent again");
    assert!(recovered * 100 > sent && parity * 8 < sent, "of {sent}, with {parity} of parity");
    for name in ["baseline", "jit_20", "loss_2"] {
        let [_, _, parity, recovered] = losses(name);
        assert_eq!((parity, recovered), (0, 0), "{name}");
    }
}
