//! The goodput of one TCP flow over both lines of sixteen pairs, against each line alone.

mod profiles;
mod tcp;
mod world;

use std::fmt::Write;
use std::time::Duration;

use braid_link_model::Parameters;
use profiles::Profile;
use world::World;

const WARM_UP: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(20);
/// Pairs of lines with jitter or losses run with as many seeds; their mean counts.
const SEEDS: u64 = 6;
/// The time in which slow start ends.
const START: Duration = Duration::from_secs(2);
/// What both lines carry at least, against the better one; and where there is much to gain.
const LEAST: f64 = 0.97;
const GAIN: f64 = 1.5;

/// The mean goodput of each line alone, and of both.
fn measure(profile: &Profile) -> [f64; 3] {
    let [a, b] = profile.lines;
    let seeds = if profile.is_random() { SEEDS } else { 1 };
    let run = |lines: &[Parameters], seed| {
        let mut world = World::new(lines, seed);
        world.goodput(WARM_UP);
        world.goodput(MEASURED)
    };
    [vec![a], vec![b], vec![a, b]]
        .map(|lines| (1..=seeds).map(|seed| run(&lines, seed)).sum::<f64>() / seeds as f64)
}

#[test]
fn both_lines_carry_no_less_than_the_better_one() {
    let profiles = profiles::all();
    let results: Vec<[f64; 3]> = std::thread::scope(|scope| {
        let runs: Vec<_> = profiles.iter().map(|profile| scope.spawn(|| measure(profile))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let (mut table, mut failures) = (String::new(), Vec::new());
    for (Profile { name, gains, .. }, [a, b, both]) in profiles.iter().zip(results) {
        let ratio = both / a.max(b);
        writeln!(table, "{name:<13} {a:7.1} {b:7.1} {both:7.1} {ratio:5.2}").unwrap();
        if ratio < if *gains { GAIN } else { LEAST } {
            failures.push(name);
        }
    }
    println!("{table}");
    assert!(failures.is_empty(), "too little in {failures:?}:\n{table}");
}

#[test]
fn a_flow_starts_as_fast_over_both_lines_as_over_the_better_one() {
    // With jitter and losses, chance ends slow start.
    for Profile { name, lines: [a, b], .. } in profiles::all().into_iter().filter(|it| !it.has_chance()) {
        let start = |lines: &[Parameters]| World::new(lines, 1).goodput(START);
        let [a, b, both] = [vec![a], vec![b], vec![a, b]].map(|lines| start(&lines));
        assert!(both >= LEAST * a.max(b), "{name}: {a:.1} and {b:.1} alone, {both:.1} together");
    }
}
