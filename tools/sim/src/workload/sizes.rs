//! Distributions of flow sizes: web search (DCTCP) and data mining (VL2).

use std::fmt;
use std::str::FromStr;

use braid_types::{SplitMix64, choice_schema, with_schema};

/// A distribution of the sizes of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// A web search cluster: Alizadeh et al., Data Center TCP, 2010, with the points that simulations of pFabric have of it.
    WebSearch,
    /// A data mining cluster: Greenberg et al., VL2, 2009, the same way.
    DataMining,
}

/// Text that names no distribution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no distribution of sizes: web-search or data-mining")]
pub struct UnknownSizes(String);

/// Sizes in packets of this many bytes, and the share of flows that are no larger.
const PACKET: f64 = 1_460.0;
type Points = [(f64, f64)];

const WEB_SEARCH: &Points = &[
    (6.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1_333.0, 0.8),
    (3_333.0, 0.9),
    (6_667.0, 0.97),
    (20_000.0, 1.0),
];
const DATA_MINING: &Points = &[
    (1.0, 0.0),
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2_107.0, 0.95),
    (66_667.0, 0.99),
    (666_667.0, 1.0),
];

impl Sizes {
    const ALL: [Self; 2] = [Self::WebSearch, Self::DataMining];

    const fn points(self) -> &'static Points {
        match self {
            Self::WebSearch => WEB_SEARCH,
            Self::DataMining => DATA_MINING,
        }
    }

    /// The mean in bytes.
    pub fn mean(self) -> f64 {
        let part = |pair: &Points| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0;
        self.points().windows(2).map(part).sum::<f64>() * PACKET
    }

    /// One of them, in bytes: between two points all are as likely.
    pub fn draw(self, random: &mut SplitMix64) -> u64 {
        let share = random.next_f64();
        let points = self.points();
        let above = points.partition_point(|(_, below)| *below <= share).clamp(1, points.len() - 1);
        let [(less, from), (more, to)] = [points[above - 1], points[above]];
        let packets = less + (more - less) * (share - from) / (to - from);
        (packets * PACKET).round() as u64
    }

    const fn name(self) -> &'static str {
        match self {
            Self::WebSearch => "web-search",
            Self::DataMining => "data-mining",
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

with_schema!(Sizes, choice_schema(Sizes::ALL.map(Sizes::name)));

impl FromStr for Sizes {
    type Err = UnknownSizes;

    fn from_str(text: &str) -> Result<Self, UnknownSizes> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| UnknownSizes(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_points_and_have_the_mean() {
        for sizes in Sizes::ALL {
            let mut random = SplitMix64::new(1);
            let mut drawn: Vec<_> = (0..400_000).map(|_| sizes.draw(&mut random) as f64).collect();
            drawn.sort_by(f64::total_cmp);
            for (packets, share) in sizes.points().iter().filter(|(_, share)| *share > 0.0) {
                let below = drawn.partition_point(|it| *it <= packets * PACKET + 1.0) as f64 / 4e5;
                assert!((below - share).abs() < 0.005, "{sizes}: {below} of {share}");
            }
            let mean = drawn.iter().sum::<f64>() / 4e5;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.05, "{sizes}: {mean}");
            assert_eq!(sizes.to_string().parse(), Ok(sizes));
        }
        assert!("uniform".parse::<Sizes>().unwrap_err().to_string().contains("web-search"));
    }
}
