//! Weights by which streams are distributed over candidate paths, for a known or unknown number of streams.

use std::time::Duration;

use braid_types::{BitsPerSec, SwitchPort};

use crate::model::StreamModel;
use crate::next_path::next_path;
use crate::share::{Carrier, fair_rates};

/// A candidate path for streams.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Its links, by the ports that they leave, with the available rate of each.
    pub links: Vec<(SwitchPort, BitsPerSec)>,
    /// The round-trip time.
    pub round_trip: Duration,
    /// The model of the streams that it can use.
    pub model: StreamModel,
}

/// The proportion in which streams are distributed over some paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// By path, the number of streams that it is to have beside the others; zero for paths that are not used.
    pub weights: Vec<f64>,
    /// By path, its rate beside the others, in bits a second.
    pub rates: Vec<f64>,
}

/// A further path is used only if it adds so much.
const WORTH: f64 = 1.01;
/// Greater numbers of streams are treated as unlimited.
const MAX_EXPECTED: usize = 1_024;

/// Plans the distribution of streams over paths, which are given shortest first.
///
/// By default, streams are distributed in proportion to what the paths can use. If a smaller number of streams is
/// expected, each is put where it adds most, on the set of paths with the greatest total by the model: never less
/// than on any one path, or than by any other distribution. O(p²·n) for p paths and n streams.
pub fn plan(candidates: &[Candidate], expected: Option<usize>) -> Plan {
    let all: Vec<usize> = (0..candidates.len()).collect();
    let every = weigh(candidates, &all);
    let enough: f64 = every.weights.iter().map(|weight| weight.ceil()).sum();
    match expected {
        Some(streams) if (streams as f64) < enough => few(candidates, streams.clamp(1, MAX_EXPECTED)),
        _ => every,
    }
}

/// The best plan for so few streams: on the best path, and on others as long as each is worth it.
fn few(candidates: &[Candidate], streams: usize) -> Plan {
    let (mut chosen, mut best) = (Vec::new(), None::<(f64, Plan)>);
    loop {
        let more = (0..candidates.len()).filter(|index| !chosen.contains(index)).map(|index| {
            let mut with = chosen.clone();
            with.push(index);
            with.sort_unstable();
            (promise(candidates, &with, streams), with)
        });
        // Of equals, the shorter path.
        let next = more.reduce(|best, it| if it.0.0 > best.0.0 * (1.0 + 1e-9) { it } else { best });
        let worth = best.as_ref().map_or(0.0, |(promised, _)| promised * WORTH);
        match next {
            Some((plan, paths)) if plan.0 > worth || best.is_none() => (best, chosen) = (Some(plan), paths),
            _ => return best.map_or_else(|| weigh(candidates, &chosen), |(_, plan)| plan),
        }
    }
}

/// The total rate of `streams`, in bits a second, when each is put on that of these paths where it adds most; and their
/// distribution.
///
/// A stream adds less to a path than the one before, so this is the greatest total.
fn promise(candidates: &[Candidate], paths: &[usize], streams: usize) -> (f64, Plan) {
    let Plan { weights, rates } = weigh(candidates, paths);
    let carried = |index: usize, streams: usize| {
        rates[index] * candidates[index].model.efficiency(streams, weights[index])
    };
    let mut held = vec![0; candidates.len()];
    let mut gains: Vec<f64> = paths.iter().map(|index| carried(*index, 1)).collect();
    for _ in 0..streams {
        let most = (0..paths.len()).reduce(|best, at| if gains[at] > gains[best] { at } else { best });
        match most.filter(|at| gains[*at] > 0.0) {
            Some(at) => {
                let index = paths[at];
                held[index] += 1;
                gains[at] = carried(index, held[index] + 1) - carried(index, held[index]);
            }
            // All paths have enough.
            None => next_path(&weights, &held).into_iter().for_each(|index| held[index] += 1),
        }
    }
    let promised = paths.iter().map(|index| carried(*index, held[*index])).sum();
    (promised, Plan { weights: held.into_iter().map(|streams| streams as f64).collect(), rates })
}

/// The number of streams that each of these paths can use beside the others.
fn weigh(candidates: &[Candidate], paths: &[usize]) -> Plan {
    let carriers: Vec<_> = paths
        .iter()
        .map(|index| Carrier { links: &candidates[*index].links, streams: 1, demand: f64::MAX })
        .collect();
    let beside = fair_rates(&carriers);
    let (mut weights, mut rates) = (vec![0.0; candidates.len()], vec![0.0; candidates.len()]);
    for (index, rate) in paths.iter().zip(beside) {
        let Candidate { round_trip, model, .. } = &candidates[*index];
        weights[*index] = model.streams(BitsPerSec(rate as u64), *round_trip);
        rates[*index] = rate;
    }
    Plan { weights, rates }
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;
    use crate::model::Growth;

    fn candidate(model: StreamModel, millis: u64, links: &[(u64, u64)]) -> Candidate {
        let link = |(port, mbits): &(u64, u64)| {
            (SwitchPort::new(DatapathId(*port), PortNo(1)), BitsPerSec(mbits * 1_000_000))
        };
        let links = links.iter().map(link).collect();
        Candidate { links, round_trip: Duration::from_millis(millis), model }
    }

    /// Topology B of Huang et al. (2017).
    fn topology_b(model: StreamModel) -> Vec<Candidate> {
        vec![
            candidate(model, 122, &[(15, 100), (56, 100)]),
            candidate(model, 28, &[(12, 100), (23, 50), (36, 50)]),
            candidate(model, 28, &[(12, 100), (24, 50), (46, 50)]),
        ]
    }

    fn used(plan: &Plan) -> Vec<usize> {
        (0..plan.weights.len()).filter(|index| plan.weights[*index] > 0.0).collect()
    }

    #[test]
    fn topology_b_is_dealt_eighteen_two_two() {
        let plan = plan(&topology_b(StreamModel::default()), None);
        assert_eq!(plan.weights.iter().map(|it| it.round()).collect::<Vec<_>>(), [18.0, 2.0, 2.0]);
    }

    #[test]
    fn a_link_of_two_paths_counts_once() {
        let model = StreamModel { a: 0.001, saturation_loss: 0.1, growth: Growth::Parabola };
        let shared = [candidate(model, 100, &[(1, 100)]), candidate(model, 100, &[(1, 100), (2, 100)])];
        assert_eq!(plan(&shared, None).weights, [5.0, 5.0]);
    }

    #[test]
    fn one_stream_takes_the_path_on_which_it_carries_most() {
        let lossy = StreamModel { a: 0.001_495, saturation_loss: 1.0, growth: Growth::Parabola };
        assert_eq!(used(&plan(&topology_b(lossy), Some(1))), [1], "a short path");
        let clean = StreamModel { a: 0.001_495, saturation_loss: 0.1, growth: Growth::Parabola };
        assert_eq!(used(&plan(&topology_b(clean), Some(1))), [0], "the wide path");
    }

    #[test]
    fn paths_that_add_nothing_are_left_out_while_streams_are_few() {
        let model = StreamModel { a: 0.001, saturation_loss: 1.0, growth: Growth::Parabola };
        let paths = [candidate(model, 100, &[(1, 100)]), candidate(model, 150, &[(1, 100), (2, 100)])];
        assert_eq!(used(&plan(&paths, Some(4))), [0]);
        assert_eq!(used(&plan(&paths, None)), [0, 1]);
    }

    /// The rate of a distribution, whatever made it.
    fn promised(candidates: &[Candidate], held: &[usize]) -> f64 {
        let paths: Vec<_> = (0..held.len()).filter(|index| held[*index] > 0).collect();
        let Plan { weights, rates } = weigh(candidates, &paths);
        let carried = |index: &usize| {
            rates[*index] * candidates[*index].model.efficiency(held[*index], weights[*index])
        };
        paths.iter().map(carried).sum()
    }

    fn distributed(plan: &Plan, streams: usize) -> Vec<usize> {
        let mut held = vec![0; plan.weights.len()];
        for _ in 0..streams {
            let next = next_path(&plan.weights, &held).expect("a path");
            held[next] += 1;
        }
        held
    }

    #[test]
    fn no_other_way_to_deal_few_streams_promises_more() {
        let losses = [0.0, 0.1, 0.5, 0.9, 1.0];
        let models = losses.iter().flat_map(|saturation_loss| {
            [Growth::Parabola, Growth::Line].map(|growth| (*saturation_loss, growth))
        });
        for (saturation_loss, growth) in models {
            let candidates = topology_b(StreamModel { a: 0.001_495, saturation_loss, growth });
            for streams in 1..=22 {
                let ours = promised(&candidates, &distributed(&plan(&candidates, Some(streams)), streams));
                let others = (0..=streams).flat_map(|one| (0..=streams - one).map(move |two| [one, two]));
                let best = others
                    .map(|[one, two]| promised(&candidates, &[one, two, streams - one - two]))
                    .fold(0.0, f64::max);
                assert!(
                    ours * WORTH.powi(2) >= best,
                    "{streams} streams, {saturation_loss}, {growth}: {ours}, and {best} can be had"
                );
            }
        }
    }

    #[test]
    fn the_first_stream_of_a_path_counts_most_where_one_fills_much() {
        let candidates =
            topology_b(StreamModel { a: 0.001_495, saturation_loss: 0.1, growth: Growth::Parabola });
        let counts = |streams| distributed(&plan(&candidates, Some(streams)), streams);
        assert_eq!([3, 12, 22].map(counts), [[1, 1, 1], [8, 2, 2], [18, 2, 2]]);
    }

    #[test]
    fn streams_that_windows_limit_go_where_answers_come_soonest_until_there_are_enough() {
        let candidates = topology_b(StreamModel { a: 0.001_495, saturation_loss: 1.0, growth: Growth::Line });
        let counts = |streams| distributed(&plan(&candidates, Some(streams)), streams);
        assert_eq!([2, 4, 12, 22].map(counts), [[0, 2, 0], [0, 2, 2], [8, 2, 2], [18, 2, 2]]);
    }

    #[test]
    fn without_paths_there_is_no_plan() {
        assert_eq!(plan(&[], Some(3)).weights, Vec::<f64>::new());
    }
}
