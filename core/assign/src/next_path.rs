//! The next path in a weighted distribution, kept as close as possible to the shares after every stream.

/// Rounding of sums of shares must not decide which path is next.
const EXACT: f64 = 1e-9;
/// The proportion is optimised up to this number of streams, the limit of a transfer.
const HORIZON: usize = 64;
const HALVINGS: usize = 16;

/// The path of the next stream, where `held[i]` streams are on path i and `weights[i]` are in proportion to what it
/// can use; `None` if no weight is positive.
///
/// While streams are only added, up to 64, each path always holds as nearly as possible its share of them. The greatest
/// deviation is the least possible one, found by bisection, and at most 1 − 1/(2n−2) for n paths (Tijdeman 1980, "The
/// chairman assignment problem"). A given bound sets the earliest and the latest moment of a path's next stream; of the
/// paths that may take one, the most urgent is next (Steiner and Yeomans 1993). After streams have ended, the paths that
/// lack them come first. Of equals, the first path is taken. O(n) and a constant of some thousands.
pub fn next_path(weights: &[f64], held: &[usize]) -> Option<usize> {
    let usable = |weight: &f64| weight.is_finite() && *weight > 0.0;
    let paths: Vec<usize> = (0..weights.len()).filter(|index| usable(&weights[*index])).collect();
    let total: f64 = paths.iter().map(|index| weights[*index]).sum();
    let shares: Vec<f64> = paths.iter().map(|index| weights[*index] / total).collect();
    let held: Vec<usize> = paths.iter().map(|index| held.get(*index).copied().unwrap_or_default()).collect();
    let next = if shares.len() < 2 { 0 } else { most_urgent(&shares, &held, least_bound(&shares)) };
    paths.get(next).copied()
}

/// The path, of those that may take a stream, that must take it soonest, so that none deviates by more than `bound`.
fn most_urgent(shares: &[f64], held: &[usize], bound: f64) -> usize {
    let next = held.iter().sum::<usize>() as f64 + 1.0;
    let lacks = |index: usize| next * shares[index] - held[index] as f64;
    let by = |index: usize| ((bound + held[index] as f64) / shares[index] + EXACT).floor();
    let sooner = |best: usize, it: usize| if by(it) < by(best) { it } else { best };
    let may = (0..shares.len()).filter(|index| lacks(*index) >= 1.0 - bound - EXACT);
    // After some streams have ended, possibly no path may take one.
    let neediest = |best: usize, it: usize| if lacks(it) > lacks(best) + EXACT { it } else { best };
    may.reduce(sooner).or_else(|| (0..shares.len()).reduce(neediest)).unwrap_or_default()
}

/// The least deviation that some order of streams achieves.
fn least_bound(shares: &[f64]) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - 1.0 / (2 * shares.len() - 2) as f64);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        *(if keeps_to(shares, middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

fn keeps_to(shares: &[f64], bound: f64) -> bool {
    let mut held = vec![0; shares.len()];
    (1..=HORIZON).all(|count| {
        let index = most_urgent(shares, &held, bound);
        held[index] += 1;
        let deviation = |(share, held): (&f64, &usize)| (count as f64 * share - *held as f64).abs();
        shares.iter().zip(&held).all(|it| deviation(it) <= bound + EXACT)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distribute(weights: &[f64], streams: usize) -> Vec<usize> {
        let mut held = vec![0; weights.len()];
        let mut distributed = Vec::new();
        for _ in 0..streams {
            let index = next_path(weights, &held).expect("a path");
            held[index] += 1;
            distributed.push(index);
        }
        distributed
    }

    fn deviation(weights: &[f64], distributed: &[usize]) -> f64 {
        let total: f64 = weights.iter().sum();
        let mut worst: f64 = 0.0;
        for count in 1..=distributed.len() {
            for (index, weight) in weights.iter().enumerate() {
                let held = distributed[..count].iter().filter(|it| **it == index).count();
                worst = worst.max((held as f64 - count as f64 * weight / total).abs());
            }
        }
        worst
    }

    /// The least deviation of all distributions of so many streams.
    fn best_deviation(weights: &[f64], streams: usize, distributed: &mut Vec<usize>) -> f64 {
        if distributed.len() == streams {
            return deviation(weights, distributed);
        }
        let mut best = f64::INFINITY;
        for index in 0..weights.len() {
            distributed.push(index);
            best = best.min(best_deviation(weights, streams, distributed));
            distributed.pop();
        }
        best
    }

    #[test]
    fn equal_paths_take_turns_from_the_first() {
        assert_eq!(distribute(&[1.0; 3], 7), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn two_two_and_eighteen_are_one_one_and_nine_of_eleven() {
        let distributed = distribute(&[2.0, 2.0, 18.0], 22);
        for half in distributed.chunks(11) {
            let held = [0, 1, 2].map(|index| half.iter().filter(|it| **it == index).count());
            assert_eq!(held, [1, 1, 9]);
        }
    }

    #[test]
    fn a_stream_that_ended_is_replaced_on_its_path() {
        assert_eq!(next_path(&[1.0, 1.0, 9.0], &[1, 0, 9]), Some(1));
        assert_eq!(next_path(&[1.0, 1.0, 9.0], &[1, 1, 2]), Some(2));
    }

    #[test]
    fn paths_without_weight_get_nothing() {
        assert_eq!(next_path(&[0.0, f64::NAN, -1.0], &[]), None);
        assert_eq!(next_path(&[], &[]), None);
        assert_eq!(distribute(&[0.0, 2.0], 3), [1, 1, 1]);
        assert_eq!(next_path(&[0.0, 1.0, 1.0], &[9, 1, 0]), Some(2), "what such paths hold does not count");
    }

    #[test]
    fn no_way_to_deal_is_better() {
        for weights in [[1.0, 1.0, 6.0], [3.0, 2.0, 1.0], [5.0, 3.0, 1.0], [1.0, 4.0, 2.0]] {
            let period = weights.iter().sum::<f64>() as usize;
            let best = best_deviation(&weights, period, &mut Vec::new());
            let ours = deviation(&weights, &distribute(&weights, 7 * period));
            assert!(ours <= best + 1e-3, "{weights:?}: {ours} and the best {best}");
        }
    }

    proptest! {
        #[test]
        fn every_prefix_is_within_the_bound(weights in prop::collection::vec(0.1f64..20.0, 2..9), streams in 1..=HORIZON) {
            let bound = 1.0 - 1.0 / (2 * weights.len() - 2) as f64;
            prop_assert!(deviation(&weights, &distribute(&weights, streams)) <= bound + 1e-6);
        }

        #[test]
        fn whatever_ended_the_next_goes_where_streams_lack(
            weights in prop::collection::vec(0.1f64..20.0, 1..9),
            held in prop::collection::vec(0usize..30, 9),
        ) {
            let index = next_path(&weights, &held).expect("a path");
            let total: f64 = weights.iter().sum();
            let next = held[..weights.len()].iter().sum::<usize>() as f64 + 1.0;
            prop_assert!(held[index] as f64 <= next * weights[index] / total + 1e-6);
        }
    }
}
