//! Greedy selection of the paths that add capacity; paths that add less than 1 % are dropped.

use braid_types::{BitsPerSec, SwitchPort};

use crate::share::{Carrier, fair_rates};

/// The number of shortest paths examined for each requested one.
pub const CANDIDATES: usize = 4;

/// A path is useful if the total capacity with it is this much greater.
const OF_USE: f64 = 1.01;

/// Up to `wanted` of the paths with these links, shortest first: the first, and then always the one that adds most to the
/// total capacity. Paths that add less than 1 % are dropped.
///
/// Links are named by the ports that they leave, with the available rate of each. O(w²·p) sharings for w of p paths.
pub fn useful(paths: &[Vec<(SwitchPort, BitsPerSec)>], wanted: usize) -> Vec<usize> {
    let carried = |chosen: &[usize]| -> f64 {
        let carriers: Vec<_> = chosen.iter().map(|index| lone_stream(&paths[*index])).collect();
        fair_rates(&carriers).iter().sum()
    };
    let mut chosen: Vec<usize> = (0..paths.len().min(1)).collect();
    while chosen.len() < wanted {
        let others = (0..paths.len()).filter(|index| !chosen.contains(index));
        let with = others.map(|index| (carried(&[chosen.as_slice(), &[index]].concat()), index));
        let best = with.reduce(|best, it| if it.0 > best.0 { it } else { best });
        match best.filter(|(rate, _)| *rate > carried(&chosen) * OF_USE) {
            Some((_, index)) => chosen.push(index),
            None => break,
        }
    }
    chosen.sort_unstable();
    chosen
}

fn lone_stream(links: &[(SwitchPort, BitsPerSec)]) -> Carrier<'_> {
    Carrier { links, streams: 1, demand: f64::MAX }
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;

    fn path(links: &[(u64, u64)]) -> Vec<(SwitchPort, BitsPerSec)> {
        let link =
            |(name, rate): &(u64, u64)| (SwitchPort::new(DatapathId(*name), PortNo(1)), BitsPerSec(*rate));
        links.iter().map(link).collect()
    }

    #[test]
    fn paths_that_add_nothing_are_left_out_and_those_that_add_most_come_first() {
        let paths = [path(&[(1, 10)]), path(&[(1, 10), (2, 90)]), path(&[(3, 5)]), path(&[(4, 70)])];
        assert_eq!(useful(&paths, 9), [0, 2, 3]);
        assert_eq!(useful(&paths, 2), [0, 3]);
        assert_eq!(useful(&paths, 1), [0]);
        assert!(useful(&[], 4).is_empty());
    }
}
