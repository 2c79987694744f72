//! Max-min fair rates of paths that share links.

use std::collections::BTreeMap;

use braid_types::{BitsPerSec, SwitchPort};

/// A path as a set of links with available rates, and its number of streams.
#[derive(Clone, PartialEq, Debug)]
pub struct Carrier<'a> {
    /// Its links, by the ports that they leave, with the available rate of each.
    pub links: &'a [(SwitchPort, BitsPerSec)],
    /// Its streams, which share links equally with those of others.
    pub streams: usize,
    /// The rate that they can use together, in bits a second.
    pub demand: f64,
}

/// The max-min fair rate of each path, in bits a second: all streams on a link get equal parts until they have enough.
///
/// The rate of a link of two paths is the one that the first path gives. O(p²·h·log p) for p paths of h links.
pub fn fair_rates(carriers: &[Carrier<'_>]) -> Vec<f64> {
    let mut room = BTreeMap::new();
    let links = carriers.iter().flat_map(|carrier| carrier.links);
    links.for_each(|(link, rate)| _ = room.entry(*link).or_insert(rate.as_f64()));
    let mut rates = vec![0.0; carriers.len()];
    let mut open: Vec<usize> =
        (0..carriers.len()).filter(|at| carriers[*at].streams > 0 && carriers[*at].demand > 0.0).collect();
    while !open.is_empty() {
        let usage = streams_by_link(open.iter().map(|at| &carriers[*at]));
        let by_link = usage.iter().map(|(link, streams)| room[link] / *streams as f64);
        let by_demand =
            open.iter().map(|at| (carriers[*at].demand - rates[*at]) / carriers[*at].streams as f64);
        let step = by_link.chain(by_demand).fold(f64::INFINITY, f64::min).max(0.0);
        for at in &open {
            rates[*at] += step * carriers[*at].streams as f64;
        }
        for (link, streams) in &usage {
            room.entry(*link).and_modify(|rate| *rate -= step * *streams as f64);
        }
        let before = open.len();
        open.retain(|at| {
            let carrier = &carriers[*at];
            let full = carrier.links.iter().any(|(link, _)| room[link] <= 1.0);
            !full && rates[*at] < carrier.demand - 1.0
        });
        if open.len() == before {
            break;
        }
    }
    rates
}

/// The number of streams on each link.
fn streams_by_link<'a>(carriers: impl Iterator<Item = &'a Carrier<'a>>) -> BTreeMap<SwitchPort, usize> {
    let mut streams = BTreeMap::new();
    for carrier in carriers {
        for (link, _) in carrier.links {
            *streams.entry(*link).or_default() += carrier.streams;
        }
    }
    streams
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;

    fn link(number: u64, rate: u64) -> (SwitchPort, BitsPerSec) {
        (SwitchPort::new(DatapathId(number), PortNo(1)), BitsPerSec(rate))
    }

    type Links<'a> = &'a [(SwitchPort, BitsPerSec)];

    fn rates(paths: &[(Links<'_>, usize, f64)]) -> Vec<f64> {
        let carriers: Vec<_> = paths
            .iter()
            .map(|(links, streams, demand)| Carrier { links, streams: *streams, demand: *demand })
            .collect();
        fair_rates(&carriers).into_iter().map(f64::round).collect()
    }

    #[test]
    fn paths_apart_carry_what_they_can() {
        let (one, two) = ([link(1, 100_000)], [link(2, 50_000)]);
        assert_eq!(rates(&[(&one, 1, 1e9), (&two, 3, 1e9)]), [100_000.0, 50_000.0]);
        assert_eq!(rates(&[(&one, 1, 30_000.0), (&two, 0, 1e9)]), [30_000.0, 0.0]);
    }

    #[test]
    fn streams_on_a_common_link_have_equal_parts_of_it() {
        let (one, two) = ([link(1, 90_000), link(2, 80_000)], [link(1, 90_000), link(3, 20_000)]);
        assert_eq!(rates(&[(&one, 1, 1e9), (&two, 2, 1e9)]), [70_000.0, 20_000.0]);
        assert_eq!(rates(&[(&one[..1], 1, 1e9), (&two[..1], 2, 1e9)]), [30_000.0, 60_000.0]);
    }

    #[test]
    fn links_without_room_carry_nothing() {
        let one = [link(1, 0)];
        assert_eq!(rates(&[(&one, 4, 1e9)]), [0.0]);
    }
}
