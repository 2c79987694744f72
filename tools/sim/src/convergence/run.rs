//! One run of a convergence study: an MPTCP connection over given paths.

use std::time::{Duration, Instant};

use braid_link_model::{Delay, Parameters};
use braid_paths::Path;
use braid_planner::{EffectivePolicy, PolicyDefaults, kept_subflows};
use braid_steering::Steering;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SplitMix64, SwitchPort};

use super::Study;
use crate::Control;
use crate::engine::{Amount, ConnectionId, LinkId, NewConnection, Picos, Simulation, Way};
use crate::experiment::{Cancel, ExperimentError};

/// Delays vary by up to this share, so that runs differ.
const SPREAD: f64 = 0.1;

/// The outcome of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// By sample from the start on, then by path: bits a second of data.
    pub rates: Vec<Vec<f64>>,
    /// The number of samples in the measured time: the last ones.
    pub measured: usize,
    /// The number of events.
    pub events: u64,
    /// The computing time.
    pub elapsed: Duration,
    /// Whether it was not cancelled.
    pub completed: bool,
}

impl Outcome {
    /// By path, the mean rate in the measured time, in bits a second.
    pub fn means(&self) -> Vec<f64> {
        let samples = self.rates.get(self.rates.len().saturating_sub(self.measured)..).unwrap_or_default();
        let paths = samples.first().map_or(0, Vec::len);
        let of = |path: usize| samples.iter().filter_map(|rates| rates.get(path)).sum::<f64>();
        (0..paths).map(|path| of(path) / samples.len().max(1) as f64).collect()
    }

    /// The share of the bytes on these paths, in the measured time.
    pub fn share_of(&self, paths: &[usize]) -> f64 {
        let means = self.means();
        let kept: f64 = paths.iter().filter_map(|path| means.get(*path)).sum();
        kept / means.iter().sum::<f64>().max(1.0)
    }

    /// The number of samples before the share on these paths was at or above `share`, and then stayed there in nine
    /// of ten.
    pub fn converged_after(&self, paths: &[usize], share: f64) -> Option<usize> {
        let holds = |rates: &Vec<f64>| {
            let kept: f64 = paths.iter().filter_map(|path| rates.get(*path)).sum();
            kept >= share * rates.iter().sum::<f64>()
        };
        (0..self.rates.len()).find(|from| {
            let rest = self.rates.get(*from..).unwrap_or_default();
            rest.first().is_some_and(holds)
                && rest.iter().filter(|it| holds(it)).count() * 10 >= rest.len() * 9
        })
    }
}

/// Simulates the connection with one control, advised or not; the same seed gives the same outcome, except for
/// computing time.
///
/// # Errors
///
/// [`ExperimentError::NoTime`] if nothing would be measured.
pub fn run(
    study: &Study,
    control: Control,
    advised: bool,
    seed: u64,
    cancel: &Cancel,
) -> Result<Outcome, ExperimentError> {
    if study.measured < study.sample || study.sample.is_zero() {
        return Err(ExperimentError::NoTime);
    }
    let begun = Instant::now();
    let (mut simulation, ways) = lay_out(study, seed);
    let id = simulation.open(&NewConnection::mptcp(ways, Amount::Endless, control));
    let (mut rates, mut before) = (Vec::new(), vec![0; study.paths.len()]);
    let samples = |time: Duration| (time.as_secs_f64() / study.sample.as_secs_f64()).round() as usize;
    let all = samples(study.settle + study.measured);
    let mut advice = study.advice.filter(|_| advised).map(Picos::from);
    for _ in 0..all {
        if cancel.is_cancelled() {
            break;
        }
        let next = simulation.now() + Picos::from(study.sample);
        if let Some(at) = advice.take_if(|at| *at < next) {
            simulation.run_until(at);
            unwanted(study).into_iter().for_each(|subflow| simulation.close(id, subflow));
        }
        simulation.run_until(next);
        let carried = carried(&simulation, id);
        let bits = |(after, before): (&u64, &u64)| (after - before) as f64 * 8.0 / study.sample.as_secs_f64();
        rates.push(carried.iter().zip(&before).map(bits).collect());
        before = carried;
    }
    let completed = rates.len() == all;
    let (measured, events) = (samples(study.measured), simulation.events());
    Ok(Outcome { seed, rates, measured, events, elapsed: begun.elapsed(), completed })
}

/// The subflows that advice does not name, in the order of their opening: the planner's decision without a policy.
fn unwanted(study: &Study) -> Vec<usize> {
    let paths: Vec<_> = study.paths.iter().map(|(_, nodes)| between_switches(study, nodes)).collect();
    let policy = EffectivePolicy::new(Steering::default(), &PolicyDefaults::default());
    let first = paths.first().and_then(Option::as_ref);
    let kept = kept_subflows(&policy, paths.len(), first, paths.iter().skip(1).map(Option::as_ref));
    (1..).zip(kept).filter(|(_, kept)| !kept).map(|(place, _)| place).collect()
}

/// A path without the interfaces at its ends: each node is a switch, and each link has the same port at both ends.
fn between_switches(study: &Study, nodes: &[usize]) -> Option<Path> {
    let inner = nodes.get(1..nodes.len().saturating_sub(1)).unwrap_or_default();
    let at = |node: usize, port: usize| SwitchPort::new(DatapathId(node as u64), PortNo(port as u32));
    let link = |pair: &[usize]| {
        let &[from, to] = pair else { return None };
        let joins = |[a, b]: [usize; 2]| [a, b] == [from, to] || [b, a] == [from, to];
        let port = 1 + study.links.iter().position(|(ends, _)| joins(*ends))?;
        Some(Link { src: at(from, port), dst: at(to, port) })
    };
    match inner.windows(2).map(link).collect::<Option<Vec<_>>>()? {
        links if links.is_empty() => Some(Path::within(at(*nodes.first()?, 0).dpid)),
        links => Path::over(&links),
    }
}

fn carried(simulation: &Simulation, id: ConnectionId) -> Vec<u64> {
    simulation.subflows(id).map(|it| it.acknowledged).collect()
}

/// The links in both directions, and the ways over them.
fn lay_out(study: &Study, seed: u64) -> (Simulation, Vec<Way>) {
    let mut random = SplitMix64::new(seed);
    let mut simulation = Simulation::new(Picos::from_micros(10), random.next_u64());
    let mut known: Vec<([usize; 2], LinkId)> = Vec::new();
    for ([a, b], link) in &study.links {
        let stretched = link.delay.duration().mul_f64(1.0 + SPREAD * (2.0 * random.next_f64() - 1.0));
        let link = Parameters { delay: Delay::new(stretched).unwrap_or(link.delay), ..*link };
        known.push(([*a, *b], simulation.add_link(&link)));
        known.push(([*b, *a], simulation.add_link(&link)));
    }
    let between = |from: usize, to: usize| {
        let ends = |(ends, _): &&([usize; 2], LinkId)| *ends == [from, to];
        known.iter().find(ends).map(|(_, id)| *id)
    };
    let ways = study.paths.iter().map(|(_, nodes)| {
        let pairs = nodes.windows(2);
        let forward = pairs.clone().filter_map(|pair| between(pair[0], pair[1])).collect();
        let back = pairs.rev().filter_map(|pair| between(pair[1], pair[0])).collect();
        Way { forward, back }
    });
    let ways: Vec<Way> = ways.collect();
    if study.hold_sender {
        ways.iter().filter_map(|way| way.forward.first()).for_each(|link| simulation.hold_senders(*link));
    }
    (simulation, ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyKind;
    use crate::study::Preset;

    #[test]
    fn advice_names_no_subflow_that_shares_a_link_between_switches_with_an_earlier_one() {
        let preset: Preset = "vanderpol-convergence".parse().unwrap();
        let Ok(StudyKind::Convergence(study)) = preset.study() else { panic!("another kind") };
        assert_eq!(unwanted(&study), [2, 3]);
        let interfaces = Study { paths: vec![study.paths[0].clone(), study.paths[2].clone()], ..study };
        assert!(unwanted(&interfaces).is_empty(), "hosts' own interfaces are shared anyway");
    }
}
