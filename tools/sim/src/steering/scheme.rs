//! Schemes as text: the path set of a subflow, and how its path is chosen from that.

use std::fmt;
use std::str::FromStr;

use braid_paths::{Kind, Request};
use braid_planner::{ECMP_BUCKETS, ecmp_buckets, ecmp_rate};
use braid_steering::{Placement, PlacementPolicy, PlacementRequest, Policy};
use braid_types::{SplitMix64, text_schema, with_schema};

/// Which paths a subflow may take, and which of them it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// The paths between two switches.
    pub kind: Kind,
    /// How many of them at most.
    pub k: usize,
    /// Which of them.
    pub choice: Chooser,
    /// Which of several path sets that are equally good.
    pub ties: Ties,
}

/// How a path of the set is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chooser {
    /// Each is as likely, as where routers hash: the paper's R.
    Random,
    /// The bucket of the flow's hash, among those of the controller's default paths.
    Hash,
    /// A policy of the controller's; the paper's M is [`Policy::Deterministic`].
    Policy(Policy),
}

/// Which of several sets a pair of hosts gets that have as many links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// The one that the controller takes.
    #[default]
    Shipped,
    /// One drawn anew for each pair.
    Shuffled,
}

/// Text that is not a scheme.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is no scheme such as disjoint:4/fewest-shared, shortest:16/random, ksp:8/least-loaded, \
     shortest:8/hash; \
     /shuffled after it draws one of several sets that are as good"
)]
pub struct UnknownScheme(String);

impl Chooser {
    /// What chooses, before it has chosen anything.
    pub(super) fn placement(self, random: &mut SplitMix64) -> Box<dyn PlacementPolicy> {
        match self {
            Self::Random => Box::new(AnyPath(random.fork())),
            Self::Hash => Box::new(Hashed(random.fork())),
            Self::Policy(policy) => policy.placement(),
        }
    }
}

/// Any of the candidates, each as likely.
#[derive(Debug)]
struct AnyPath(SplitMix64);

impl PlacementPolicy for AnyPath {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        let count = request.candidates.len();
        (count > 0).then(|| Placement { index: self.0.below(count), shared: 0, moves: Vec::new() })
    }
}

/// The controller's buckets over equal-cost paths. Every flow has a hash of its own, as its ports are any.
#[derive(Debug)]
struct Hashed(SplitMix64);

impl PlacementPolicy for Hashed {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        let rates: Vec<_> = request.candidates.iter().map(|path| ecmp_rate(request.graph, path)).collect();
        let index = *ecmp_buckets(&[], &rates).get(self.0.below(ECMP_BUCKETS))?;
        Some(Placement { index, shared: 0, moves: Vec::new() })
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choice = match self.choice {
            Chooser::Random => "random",
            Chooser::Hash => "hash",
            Chooser::Policy(policy) => policy.name(),
        };
        let ties = if self.ties == Ties::Shuffled { "/shuffled" } else { "" };
        write!(f, "{}:{}/{choice}{ties}", self.kind, self.k)
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(text: &str) -> Result<Self, UnknownScheme> {
        parse(text).ok_or_else(|| UnknownScheme(text.to_owned()))
    }
}

with_schema!(
    Scheme,
    text_schema("a scheme, such as disjoint:4/fewest-shared or shortest:16/random", &scheme_pattern())
);

fn scheme_pattern() -> String {
    let kinds = Kind::catalog().map(|it| it.name.to_owned() + it.parameter.map_or("", |_| r":\d+"));
    let kinds = kinds.collect::<Vec<_>>().join("|");
    let choices = Policy::ALL.map(Policy::name).join("|");
    format!(r"(?:{kinds}):\d+/(?:random|hash|{choices})(?:/shuffled)?")
}

fn parse(text: &str) -> Option<Scheme> {
    let (paths, rest) = text.split_once('/')?;
    let (kind, k) = paths.rsplit_once(':')?;
    let (choice, ties) = match rest.split_once('/') {
        None => (rest, Ties::Shipped),
        Some((choice, "shuffled")) => (choice, Ties::Shuffled),
        Some(_) => return None,
    };
    let choice = match choice {
        "random" => Chooser::Random,
        "hash" => Chooser::Hash,
        policy => Chooser::Policy(policy.parse().ok()?),
    };
    let scheme = Scheme { kind: kind.parse().ok()?, k: k.parse().ok()?, choice, ties };
    // Default paths are the shortest ones, with a bucket each at least.
    let has_groups = scheme.kind == Kind::Shortest && ties == Ties::Shipped && scheme.k <= ECMP_BUCKETS;
    let is_possible = choice != Chooser::Hash || has_groups;
    (is_possible && Request::new(scheme.kind, scheme.k).check().is_ok()).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_written_as_they_are_read() {
        for text in [
            "disjoint:4/fewest-shared",
            "shortest:16/random",
            "ksp:8/least-loaded/shuffled",
            "shortest:8/hash",
        ] {
            assert_eq!(text.parse::<Scheme>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "disjoint",
            "disjoint:4",
            "disjoint:0/random",
            "disjoint:4/ecmp",
            "x:4/random",
            "disjoint:4/hash",
            "shortest:4/hash/shuffled",
            "ksp:1/random/last",
        ] {
            assert!(text.parse::<Scheme>().is_err(), "{text}");
        }
    }
}
