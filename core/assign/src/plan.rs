use std::time::Duration;

use braid_types::{BitsPerSec, SwitchPort};

use crate::deal::next_path;
use crate::model::StreamModel;
use crate::share::{Carrier, fair_rates};

/// A path that streams may be dealt to.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Its links, by the ports that they leave, and what each has to give.
    pub links: Vec<(SwitchPort, BitsPerSec)>,
    /// The time to the other end and back.
    pub round_trip: Duration,
    /// How many streams it can use.
    pub model: StreamModel,
}

/// In which proportion streams are dealt over some paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// By path, the number of streams that it can use beside the others; zero for those that are left out.
    pub weights: Vec<f64>,
    /// By path, what it can carry beside the others, in bits a second.
    pub rates: Vec<f64>,
}

/// A path more must promise so much more, or it is left out.
const WORTH: f64 = 1.01;
/// More streams than these are dealt as if there were no end of them.
const MAX_EXPECTED: usize = 1_024;

/// Says how to deal streams over paths, which are given shortest first.
///
/// Where it is known how many streams will come and they are fewer than the paths can use, only those paths are dealt to
/// on which so many carry most. That is never less than on any one path: the best one is where the search begins.
/// O(p²) predictions for p paths, each of which deals all streams.
pub fn plan(candidates: &[Candidate], expected: Option<usize>) -> Plan {
    let all: Vec<usize> = (0..candidates.len()).collect();
    let every = weigh(candidates, &all);
    let enough: f64 = every.weights.iter().map(|weight| weight.ceil()).sum();
    match expected {
        Some(streams) if (streams as f64) < enough => {
            weigh(candidates, &best_paths(candidates, streams.clamp(1, MAX_EXPECTED)))
        }
        _ => every,
    }
}

/// The paths on which so many streams carry most: the best one, and others as long as each is worth it.
fn best_paths(candidates: &[Candidate], streams: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut promised = 0.0;
    loop {
        let more = (0..candidates.len()).filter(|index| !chosen.contains(index)).map(|index| {
            let mut with = chosen.clone();
            with.push(index);
            with.sort_unstable();
            (promise(candidates, &with, streams), with)
        });
        // Among equals the shorter path.
        let best = more.reduce(|best, it| if it.0 > best.0 * (1.0 + 1e-9) { it } else { best });
        match best {
            Some((rate, paths)) if rate > promised * WORTH || chosen.is_empty() => {
                (promised, chosen) = (rate, paths);
            }
            _ => return chosen,
        }
    }
}

/// What `streams` carry together, in bits a second, when they are dealt over these paths.
fn promise(candidates: &[Candidate], paths: &[usize], streams: usize) -> f64 {
    let Plan { weights, rates } = weigh(candidates, paths);
    let mut held = vec![0; candidates.len()];
    for _ in 0..streams {
        if let Some(index) = next_path(&weights, &held) {
            held[index] += 1;
        }
    }
    let carried =
        |index: &usize| rates[*index] * candidates[*index].model.efficiency(held[*index], weights[*index]);
    paths.iter().map(carried).sum()
}

/// How many streams each of these paths can use beside the others.
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
        let model = StreamModel { a: 0.001, lack: 0.1 };
        let shared = [candidate(model, 100, &[(1, 100)]), candidate(model, 100, &[(1, 100), (2, 100)])];
        assert_eq!(plan(&shared, None).weights, [5.0, 5.0]);
    }

    #[test]
    fn one_stream_takes_the_path_on_which_it_carries_most() {
        let lossy = StreamModel { a: 0.001_495, lack: 1.0 };
        assert_eq!(used(&plan(&topology_b(lossy), Some(1))), [1], "a short path");
        let clean = StreamModel { a: 0.001_495, lack: 0.1 };
        assert_eq!(used(&plan(&topology_b(clean), Some(1))), [0], "the wide path");
    }

    #[test]
    fn paths_that_add_nothing_are_left_out_while_streams_are_few() {
        let model = StreamModel { a: 0.001, lack: 1.0 };
        let paths = [candidate(model, 100, &[(1, 100)]), candidate(model, 150, &[(1, 100), (2, 100)])];
        assert_eq!(used(&plan(&paths, Some(4))), [0]);
        assert_eq!(used(&plan(&paths, None)), [0, 1]);
    }

    #[test]
    fn few_streams_are_never_promised_less_than_one_path_gives() {
        for lack in [0.0, 0.1, 0.5, 1.0] {
            let candidates = topology_b(StreamModel { a: 0.001_495, lack });
            for streams in 1..40 {
                let chosen = used(&plan(&candidates, Some(streams)));
                let ours = promise(&candidates, &chosen, streams);
                let alone = (0..3).map(|index| promise(&candidates, &[index], streams)).fold(0.0, f64::max);
                assert!(ours >= alone, "{streams} streams, {lack}: {ours} on {chosen:?}, {alone} on one");
            }
        }
    }

    #[test]
    fn without_paths_there_is_no_plan() {
        assert_eq!(plan(&[], Some(3)).weights, Vec::<f64>::new());
    }
}
