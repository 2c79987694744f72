//! Equal-cost paths for flows without a path of their own: which of them, and which flows take which.

use std::collections::BTreeMap;

use braid_paths::Path;
use braid_topology::{Graph, Link};
use braid_types::BitsPerSec;

/// The buckets of a group. More would follow capacities more exactly and cost longer messages.
pub const ECMP_BUCKETS: usize = 32;

/// At most `limit` of several equally short paths, those of `kept` that are among them first; then, one after
/// another, the path whose links carry the fewest of the chosen ones.
///
/// # Complexity
/// O(limit n h log h) for n paths of h links, or O(n) if all fit.
#[must_use]
pub fn ecmp_paths(paths: &[Path], kept: &[Path], limit: usize) -> Vec<Path> {
    let is_kept = |path: &Path| kept.contains(path);
    let mut chosen: Vec<_> = paths.iter().filter(|path| is_kept(path)).take(limit).cloned().collect();
    let mut rest: Vec<_> = paths.iter().filter(|path| !is_kept(path)).collect();
    if chosen.len() + rest.len() <= limit {
        chosen.extend(rest.into_iter().cloned());
        return chosen;
    }
    let mut users: BTreeMap<Link, usize> = BTreeMap::new();
    chosen.iter().for_each(|path| note_links(&mut users, path));
    while chosen.len() < limit {
        let Some(next) = (0..rest.len()).min_by_key(|index| rest.get(*index).map(|it| crowd(&users, it)))
        else {
            break;
        };
        let path = rest.remove(next);
        note_links(&mut users, path);
        chosen.push(path.clone());
    }
    chosen
}

fn note_links(users: &mut BTreeMap<Link, usize>, path: &Path) {
    path.links().iter().for_each(|link| *users.entry(*link).or_default() += 1);
}

/// How many chosen paths use the links of a path, all in all.
fn crowd(users: &BTreeMap<Link, usize>, path: &Path) -> usize {
    path.links().iter().filter_map(|link| users.get(link)).sum()
}

/// The capacity of a path, which is that of its slowest link; 0 if a link is unknown.
#[must_use]
pub fn ecmp_rate(graph: &Graph, path: &Path) -> BitsPerSec {
    let capacity =
        |link: &Link| graph.edge(link.src).map_or(BitsPerSec(0), |edge| graph.state(edge).capacity);
    path.links().iter().map(capacity).min().unwrap_or_default()
}

/// The path of each bucket, by its index in `rates`: as many buckets for each path as its share of the rates.
///
/// `before` has the path of each bucket so far, `None` where it is gone. As few buckets as possible change, and with
/// each only the flows that are hashed to it. No path's share is off by a whole bucket (largest remainders).
///
/// Empty if there is no path. If no rate is known, all paths get the same share.
#[must_use]
pub fn ecmp_buckets(before: &[Option<usize>], rates: &[BitsPerSec]) -> Vec<usize> {
    let mut room = shares(rates);
    let mut buckets: Vec<_> = (0..ECMP_BUCKETS).map(|bucket| before.get(bucket).copied().flatten()).collect();
    for bucket in &mut buckets {
        *bucket = bucket.filter(|path| room.get_mut(*path).is_some_and(take_one));
    }
    let fill = |bucket: Option<usize>| bucket.or_else(|| take_from_greatest(&mut room));
    buckets.into_iter().filter_map(fill).collect()
}

fn take_one(room: &mut usize) -> bool {
    let has_room = *room > 0;
    *room = room.saturating_sub(1);
    has_room
}

fn take_from_greatest(room: &mut [usize]) -> Option<usize> {
    let (path, room) = room.iter_mut().enumerate().rev().max_by_key(|(_, room)| **room)?;
    take_one(room).then_some(path)
}

/// The number of buckets of each path.
fn shares(rates: &[BitsPerSec]) -> Vec<usize> {
    let is_known = rates.iter().any(|rate| rate.0 > 0);
    let weights: Vec<_> = rates.iter().map(|rate| if is_known { u128::from(rate.0) } else { 1 }).collect();
    let total = weights.iter().sum::<u128>().max(1);
    let parts: Vec<_> = weights.iter().map(|weight| weight * ECMP_BUCKETS as u128).collect();
    let mut shares: Vec<_> = parts.iter().map(|part| (part / total) as usize).collect();
    let mut by_remainder: Vec<_> =
        (0..).zip(&parts).map(|(path, part)| (u128::MAX - part % total, path)).collect();
    by_remainder.sort_unstable();
    let missing = ECMP_BUCKETS.saturating_sub(shares.iter().sum());
    for (_, path) in by_remainder.into_iter().take(missing) {
        let path: usize = path;
        shares.get_mut(path).into_iter().for_each(|share| *share += 1);
    }
    shares
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use braid_paths::PathFinder;
    use braid_topology::generate::{Links, Spec};
    use proptest::prelude::*;

    use super::*;

    /// The 16 paths between two pods of a FatTree, by way of 4 switches each of which leads to 4 others.
    fn between_pods() -> (Arc<Graph>, Vec<Path>) {
        let spec: Spec = "fattree:8".parse().expect("a network");
        let graph = Arc::new(spec.generate(Links::default()).expect("small").graph());
        let mut finder = PathFinder::by_hops(graph.clone());
        let last = graph.nodes().map(|node| graph.dpid(node)).max().expect("switches");
        let sets = graph.nodes().map(|node| finder.all_shortest(graph.dpid(node), last, 64));
        let paths = sets.into_iter().find(|paths| paths.len() == 16).expect("such switches");
        (graph, paths)
    }

    fn counts(buckets: &[usize], paths: usize) -> Vec<usize> {
        (0..paths).map(|path| buckets.iter().filter(|bucket| **bucket == path).count()).collect()
    }

    #[test]
    fn buckets_are_shared_out_by_capacity() {
        let of = |rates: &[u64]| {
            let rates: Vec<_> = rates.iter().map(|rate| BitsPerSec(*rate)).collect();
            counts(&ecmp_buckets(&[], &rates), rates.len())
        };
        assert_eq!(of(&[10, 10, 10, 10]), [8, 8, 8, 8]);
        assert_eq!(of(&[100, 100, 100]), [11, 11, 10]);
        assert_eq!(of(&[30, 10]), [24, 8]);
        assert_eq!(of(&[0, 0]), [16, 16]);
        assert_eq!(of(&[1_000, 1]), [32, 0]);
        assert_eq!(of(&[u64::MAX, u64::MAX]), [16, 16]);
        assert!(ecmp_buckets(&[], &[]).is_empty());
    }

    #[test]
    fn of_many_paths_those_are_taken_that_share_the_fewest_links() {
        let (_, all) = between_pods();
        let chosen = ecmp_paths(&all, &[], 4);
        let first: std::collections::BTreeSet<_> = chosen.iter().map(|path| path.links()[0]).collect();
        assert_eq!(first.len(), 4);
    }

    #[test]
    fn paths_in_use_are_kept() {
        let (graph, all) = between_pods();
        let kept = [all[3].clone(), all[2].clone(), all[1].clone()];
        let chosen = ecmp_paths(&all, &kept, 4);
        assert!(kept.iter().all(|path| chosen.contains(path)) && chosen.len() == 4);
        assert!(chosen.iter().all(|path| ecmp_rate(&graph, path).0 > 0));
        let without: Vec<_> = all.iter().filter(|path| **path != kept[0]).cloned().collect();
        assert!(!ecmp_paths(&without, &kept, 4).contains(&kept[0]));
    }

    proptest! {
        #[test]
        fn only_the_flows_of_a_lost_path_move(rates in prop::collection::vec(1..100_u64, 2..9), lost: prop::sample::Index) {
            let rates: Vec<_> = rates.into_iter().map(BitsPerSec).collect();
            let before = ecmp_buckets(&[], &rates);
            let lost = lost.index(rates.len());
            let held = counts(&before, rates.len());
            // The rest keep their shares in proportion to what they hold.
            let left: Vec<_> = (0..rates.len()).map(|path| if path == lost { 0 } else { held[path] as u64 }).collect();
            prop_assume!(left.iter().any(|share| *share > 0));
            let gone: Vec<_> = before.iter().map(|path| Some(*path).filter(|path| *path != lost)).collect();
            let after = ecmp_buckets(&gone, &left.into_iter().map(BitsPerSec).collect::<Vec<_>>());
            prop_assert_eq!(after.len(), ECMP_BUCKETS);
            prop_assert!(before.iter().zip(&after).all(|(before, after)| *before == lost || before == after));
            prop_assert!(!after.contains(&lost));
        }

        #[test]
        fn a_path_more_takes_its_share_and_no_other_flow_moves(paths in 1..8_usize) {
            let rates = vec![BitsPerSec(10); paths];
            let before = ecmp_buckets(&[], &rates);
            let known: Vec<_> = before.iter().copied().map(Some).collect();
            let after = ecmp_buckets(&known, &vec![BitsPerSec(10); paths + 1]);
            let moved = before.iter().zip(&after).filter(|(before, after)| before != after);
            prop_assert!(moved.clone().all(|(_, after)| *after == paths));
            prop_assert!(moved.count().abs_diff(ECMP_BUCKETS / (paths + 1)) <= 1);
        }
    }
}
