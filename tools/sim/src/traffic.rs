//! Traffic patterns: the pairs of sender and receiver.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use braid_types::SplitMix64;

/// A pattern of long transfers that begin together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Every host sends to one and receives from one: PT of Zannettou et al. (2016).
    Permutation,
    /// Every host sends to one that is drawn at random, whoever else sends there: UT of the same.
    ///
    /// That paper draws as many pairs as there are hosts. Were the senders drawn too, 1 - 1/e of the hosts would send,
    /// and no more than 63 % of the optimum could be reached; it reports up to 67 %.
    Unconstrained,
    /// Every host sends to every other.
    AllToAll,
    /// So many hosts, drawn at random, send to one.
    Incast(usize),
    /// Who is listed, under a name.
    Listed(Arc<Listed>),
}

/// Transfers that somebody has written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// What they are called.
    pub name: String,
    /// The sender and receiver of each, by their places among the hosts, from 0.
    pub pairs: Vec<(usize, usize)>,
}

/// Text that is not a pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no traffic: permutation, unconstrained, all-to-all or incast:SENDERS")]
pub struct UnknownPattern(String);

impl Pattern {
    /// The sender and receiver of each transfer, among at least two hosts.
    pub fn pairs(&self, hosts: usize, random: &mut SplitMix64) -> Vec<(usize, usize)> {
        match self {
            Self::Listed(listed) => listed.pairs.clone(),
            Self::Permutation => permutation(hosts, random),
            Self::Unconstrained => (0..hosts).map(|from| (from, another(from, hosts, random))).collect(),
            Self::AllToAll => (0..hosts)
                .flat_map(|from| (0..hosts).filter(move |to| *to != from).map(move |to| (from, to)))
                .collect(),
            Self::Incast(senders) => {
                let mut all: Vec<_> = (0..hosts).collect();
                random.shuffle(&mut all);
                let to = all.pop().unwrap_or(0);
                all.truncate(*senders);
                all.into_iter().map(|from| (from, to)).collect()
            }
        }
    }
}

impl Listed {
    /// A pair that there cannot be among so many hosts.
    pub fn impossible(&self, hosts: usize) -> Option<(usize, usize)> {
        self.pairs.iter().copied().find(|(from, to)| from == to || *from >= hosts || *to >= hosts)
    }
}

/// Of all permutations in which no host sends to itself, each is as likely: others are drawn again.
fn permutation(hosts: usize, random: &mut SplitMix64) -> Vec<(usize, usize)> {
    let mut to: Vec<_> = (0..hosts).collect();
    loop {
        random.shuffle(&mut to);
        if to.iter().enumerate().all(|(from, to)| from != *to) {
            return to.into_iter().enumerate().collect();
        }
    }
}

fn another(host: usize, hosts: usize, random: &mut SplitMix64) -> usize {
    (host + 1 + random.below(hosts - 1)) % hosts
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permutation => f.write_str("permutation"),
            Self::Unconstrained => f.write_str("unconstrained"),
            Self::AllToAll => f.write_str("all-to-all"),
            Self::Incast(senders) => write!(f, "incast:{senders}"),
            Self::Listed(listed) => f.write_str(&listed.name),
        }
    }
}

impl FromStr for Pattern {
    type Err = UnknownPattern;

    fn from_str(text: &str) -> Result<Self, UnknownPattern> {
        let incast =
            || text.strip_prefix("incast:")?.parse().ok().filter(|senders| *senders > 0).map(Self::Incast);
        match text {
            "permutation" => Ok(Self::Permutation),
            "unconstrained" => Ok(Self::Unconstrained),
            "all-to-all" => Ok(Self::AllToAll),
            _ => incast().ok_or_else(|| UnknownPattern(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_what_their_names_say() {
        let mut random = SplitMix64::new(1);
        for hosts in [2, 3, 16] {
            let count = |pairs: &[(usize, usize)], host| pairs.iter().filter(|(_, to)| *to == host).count();
            let permutation = Pattern::Permutation.pairs(hosts, &mut random);
            assert!((0..hosts).all(|host| permutation[host].0 == host && count(&permutation, host) == 1));
            assert_eq!(Pattern::Unconstrained.pairs(hosts, &mut random).len(), hosts);
            assert_eq!(Pattern::AllToAll.pairs(hosts, &mut random).len(), hosts * (hosts - 1));
            let incast = Pattern::Incast(5).pairs(hosts, &mut random);
            assert_eq!((incast.len(), count(&incast, incast[0].1)), (5.min(hosts - 1), 5.min(hosts - 1)));
            for pattern in
                [Pattern::Permutation, Pattern::Unconstrained, Pattern::AllToAll, Pattern::Incast(9)]
            {
                assert!(pattern.pairs(hosts, &mut random).iter().all(|(from, to)| from != to && *to < hosts));
                assert_eq!(pattern.to_string().parse(), Ok(pattern));
            }
        }
        assert!(
            ["", "incast", "incast:0", "incast:x", "ring"].iter().all(|it| it.parse::<Pattern>().is_err())
        );
    }
}
