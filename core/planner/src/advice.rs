//! Subflow plans: the subflows that a host is advised to keep and to open, and the path of each.

use std::cmp::Reverse;

use braid_paths::Path;
use braid_steering::{Policy, SubflowEnds};
use braid_types::common_prefix;

use crate::EffectivePolicy;

/// A path for a subflow between two addresses.
#[derive(Clone, PartialEq, Debug)]
pub struct SubflowCandidate {
    /// Its addresses and ports; the local port is 0 where any will do.
    pub ends: SubflowEnds,
    /// Its path from the requesting host's switch to the peer's.
    pub path: Path,
}

/// The subflows that stay of those a host has opened, in the order of opening: `most` of them, which share no link
/// with the connection's first subflow or with each other, unless the policy sets their number.
///
/// `first` is the path of the first subflow, if it has one. A subflow of `opened` without a path of its own is
/// `None`, and does not stay. The result has an item for each of `opened`. O(n²·h²) for n subflows of h hops.
pub fn kept_subflows<'a>(
    policy: &EffectivePolicy,
    most: usize,
    first: Option<&'a Path>,
    opened: impl IntoIterator<Item = Option<&'a Path>>,
) -> Vec<bool> {
    let mut used: Vec<&Path> = first.into_iter().collect();
    let (most, mut count) = (policy.more_subflows(most), 0);
    let mut keep = |path: Option<&'a Path>| {
        let free = path.filter(|path| policy.may_share() || is_apart(path, used.iter().copied()));
        let stays = free.is_some() && count < most;
        used.extend(free.filter(|_| stays));
        count += usize::from(stays);
        stays
    };
    opened.into_iter().map(&mut keep).collect()
}

/// The choice of further subflows: one for each path that shares no link with those of others, or as many as the policy
/// sets, spread over the paths.
#[derive(Clone, PartialEq, Debug)]
pub struct SubflowPlan {
    policy: EffectivePolicy,
    most: usize,
    /// The connection.
    connection: SubflowEnds,
    named: Vec<SubflowEnds>,
    /// The paths whose links must not be shared.
    used: Vec<Path>,
    candidates: Vec<SubflowCandidate>,
}

impl SubflowPlan {
    /// A plan that holds only the subflows that stay: `kept`. The host opens at most `most` subflows beside the first.
    ///
    /// `used` are the paths of the connection's established subflows.
    pub fn new(
        policy: EffectivePolicy,
        most: usize,
        connection: SubflowEnds,
        kept: impl IntoIterator<Item = SubflowEnds>,
        used: Vec<Path>,
    ) -> Self {
        let used = if policy.may_share() { Vec::new() } else { used };
        let (most, named) = (policy.more_subflows(most), kept.into_iter().collect());
        Self { policy, most, connection, named, used, candidates: Vec::new() }
    }

    /// Adds the paths that a subflow between two addresses may take: those with links, none of which must not be shared.
    pub fn offer<'a>(&mut self, ends: SubflowEnds, paths: impl IntoIterator<Item = &'a Path>) {
        let used = &self.used;
        let free = paths.into_iter().filter(|path| !path.links().is_empty() && is_apart(path, used));
        self.candidates.extend(free.map(|path| SubflowCandidate { ends, path: path.clone() }));
    }

    /// The best candidate for the next subflow: one that the host has already opened; then the least used address pair;
    /// then the pair of the most similar addresses. `place` chooses among equals, by index among their paths,
    /// shortest first. `None` if there are enough subflows, or no candidate is left.
    ///
    /// [Name](Self::name) or [reject](Self::reject) it before the next.
    pub fn next(
        &mut self,
        place: impl FnOnce(&SubflowEnds, &[&Path], Policy) -> Option<usize>,
    ) -> Option<SubflowCandidate> {
        if self.named.len() >= self.most {
            return None;
        }
        let opened: Vec<_> = self.named.iter().chain([&self.connection]).copied().collect();
        self.candidates.sort_by_cached_key(|it| (Rank::of(&it.ends, &opened), it.path.hops()));
        let first = self.candidates.first()?;
        let best = Rank::of(&first.ends, &opened);
        let equal = self.candidates.iter().take_while(|it| Rank::of(&it.ends, &opened) == best);
        let paths: Vec<_> = equal.map(|it| &it.path).collect();
        let index = place(&first.ends, &paths, self.policy.placement)?;
        self.candidates.get(index).cloned()
    }

    /// Makes the candidate a subflow with these ends, which have a local port.
    pub fn name(&mut self, candidate: &SubflowCandidate, ends: SubflowEnds) {
        let may_share = self.policy.may_share();
        self.candidates
            .retain(|it| it.ends != ends && (may_share || it.path.shared_links(&candidate.path) == 0));
        self.named.push(ends);
    }

    /// Rejects the candidate, which cannot become a subflow.
    pub fn reject(&mut self, candidate: &SubflowCandidate) {
        if let Some(index) = self.candidates.iter().position(|it| it == candidate) {
            self.candidates.remove(index);
        }
    }
}

/// The rank of one more subflow between two addresses; the least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Rank {
    is_new: bool,
    uses: usize,
    alike: Reverse<u8>,
}

impl Rank {
    fn of(ends: &SubflowEnds, opened: &[SubflowEnds]) -> Self {
        let (local, remote) = (ends.local.ip(), ends.remote.ip());
        let shares = |it: &&SubflowEnds| it.local.ip() == local || it.remote.ip() == remote;
        Self {
            is_new: ends.local.port() == 0,
            uses: opened.iter().filter(shares).count(),
            alike: Reverse(common_prefix(local, remote)),
        }
    }
}

fn is_apart<'a>(path: &Path, used: impl IntoIterator<Item = &'a Path>) -> bool {
    used.into_iter().all(|it| it.shared_links(path) == 0)
}

#[cfg(test)]
mod tests {
    use braid_steering::Steering;
    use braid_topology::Link;
    use braid_types::{DatapathId, PortNo, SwitchPort};

    use super::*;
    use crate::PolicyDefaults;

    fn policy(subflows: Option<usize>) -> EffectivePolicy {
        let steering = Steering { subflows, ..Steering::default() };
        EffectivePolicy::new(steering, &PolicyDefaults::default())
    }

    /// A path past these switches; port `b` of switch `a` leads to switch `b`.
    fn path(switches: &[u64]) -> Path {
        let port = |a: u64, b: u64| SwitchPort::new(DatapathId(a), PortNo(b as u32));
        let link = |pair: &[u64]| Link { src: port(pair[0], pair[1]), dst: port(pair[1], pair[0]) };
        Path::over(&switches.windows(2).map(link).collect::<Vec<_>>()).expect("a path")
    }

    fn ends(local: &str, remote: &str) -> SubflowEnds {
        SubflowEnds { local: local.parse().expect("an end"), remote: remote.parse().expect("an end") }
    }

    fn connection() -> SubflowEnds {
        ends("10.0.0.1:1000", "10.0.0.9:5201")
    }

    /// The paths of the subflows that a plan names, if the first of equal candidates is taken.
    fn named(mut plan: SubflowPlan) -> Vec<Path> {
        let (mut port, mut paths) = (61_000, Vec::new());
        while let Some(it) = plan.next(|_, _, _| Some(0)) {
            let mut ends = it.ends;
            ends.local.set_port(port);
            port += 1;
            plan.name(&it, ends);
            paths.push(it.path);
        }
        paths
    }

    #[test]
    fn subflows_that_share_a_link_with_earlier_ones_do_not_stay() {
        let [first, one, two, three] = [&[1, 2, 9][..], &[1, 3, 9], &[1, 3, 4, 9], &[1, 4, 9]].map(path);
        let opened = [Some(&one), None, Some(&two), Some(&three)];
        assert_eq!(kept_subflows(&policy(None), 9, Some(&first), opened), [true, false, false, true]);
        assert_eq!(kept_subflows(&policy(None), 1, Some(&first), opened), [true, false, false, false]);
        assert_eq!(kept_subflows(&policy(Some(3)), 9, Some(&first), opened), [true, false, true, false]);
    }

    #[test]
    fn a_subflow_is_named_for_each_path_that_shares_no_link() {
        let paths = [path(&[1, 2, 9]), path(&[1, 3, 9]), path(&[1, 3, 4, 9]), path(&[1, 4, 9])];
        let mut plan = SubflowPlan::new(policy(None), 9, connection(), [], vec![paths[0].clone()]);
        plan.offer(ends("10.0.0.1:0", "10.0.0.9:5201"), &paths);
        assert_eq!(named(plan), [paths[1].clone(), paths[3].clone()]);
    }

    #[test]
    fn a_policy_that_counts_subflows_has_so_many_whatever_they_share() {
        let paths = [path(&[1, 2, 9]), path(&[1, 3, 9])];
        let mut plan = SubflowPlan::new(policy(Some(4)), 9, connection(), [], vec![paths[0].clone()]);
        plan.offer(ends("10.0.0.1:0", "10.0.0.9:5201"), &paths);
        assert_eq!(named(plan).len(), 3);
    }

    #[test]
    fn addresses_that_are_used_least_come_first_and_opened_subflows_before_them() {
        let paths = [path(&[1, 2, 9]), path(&[1, 3, 9])];
        let mut plan = SubflowPlan::new(policy(None), 9, connection(), [], Vec::new());
        let [own, other] = [connection(), ends("10.0.1.1:0", "10.0.1.9:5201")];
        plan.offer(SubflowEnds { local: (own.local.ip(), 0).into(), ..own }, &paths);
        plan.offer(other, &paths);
        assert_eq!(
            plan.next(|_, _, _| Some(1)).expect("a candidate"),
            SubflowCandidate { ends: other, path: paths[1].clone() }
        );
        let opened = ends("10.0.0.1:2000", "10.0.0.9:5201");
        plan.offer(opened, &paths[..1]);
        assert_eq!(plan.next(|_, _, _| Some(0)).expect("a candidate").ends, opened);
    }

    #[test]
    fn a_candidate_that_is_rejected_is_not_chosen_again() {
        let paths = [path(&[1, 2, 9]), path(&[1, 3, 9])];
        let mut plan = SubflowPlan::new(policy(None), 9, connection(), [], Vec::new());
        plan.offer(ends("10.0.0.1:0", "10.0.0.9:5201"), &paths);
        let it = plan.next(|_, _, _| Some(0)).expect("a candidate");
        plan.reject(&it);
        assert_eq!(plan.next(|_, _, _| Some(0)).expect("a candidate").path, paths[1]);
    }
}
