//! The tree of paths found so far: common links are kept once.

use std::cmp::Ordering;

use braid_topology::EdgeIndex;

/// The place of a path in the order in which they were found.
pub(super) type Branch = u32;

/// The place where two paths part (Yen's deviation): they share so many links with this path, and then differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    pub(super) branch: Branch,
    pub(super) links: u32,
    pub(super) edge: EdgeIndex,
}

/// Found paths by [`Branch`]. The first is its own parent and deviates before its first link.
///
/// Invariant: any other deviates from its parent after the parent itself deviated, or is a child of the first.
#[derive(Debug, Default)]
pub(super) struct Tree {
    paths: Vec<FoundPath>,
    // The links that the paths do not share with their parents, from their deviations to the egress.
    edges: Vec<EdgeIndex>,
}

#[derive(Debug)]
struct FoundPath {
    deviation: Deviation,
    /// The index of its first link in `edges`.
    own: usize,
    /// The path that deviated there before it; the parent if none did.
    sibling: Branch,
}

impl Tree {
    /// A path that ends with these links, after its deviation from a path.
    pub(super) fn add(&mut self, deviation: Deviation, sibling: Branch, rest: &[EdgeIndex]) -> Branch {
        let branch = self.paths.len() as Branch;
        self.paths.push(FoundPath { deviation, own: self.edges.len(), sibling });
        self.edges.extend_from_slice(rest);
        branch
    }

    /// Sets `route` to the links before the deviation.
    pub(super) fn trace(&self, deviation: Deviation, route: &mut Vec<EdgeIndex>) {
        route.clear();
        let (mut branch, mut end) = (deviation.branch, deviation.links);
        while end > 0 {
            let path = self.path(branch);
            let own = &self.edges[path.own..][..(end - path.deviation.links) as usize];
            route.extend(own.iter().rev());
            (branch, end) = (path.deviation.branch, path.deviation.links);
        }
        route.reverse();
    }

    /// Sets `taken` to the links that paths take at the deviation, in the order of their ports; the last belongs to the
    /// path `sibling`.
    pub(super) fn taken(&self, deviation: Deviation, mut sibling: Branch, taken: &mut Vec<EdgeIndex>) {
        taken.clear();
        if self.paths.is_empty() {
            return;
        }
        taken.push(self.edge(deviation.branch, deviation.links));
        while sibling != deviation.branch {
            let path = self.path(sibling);
            taken.push(path.deviation.edge);
            sibling = path.sibling;
        }
        taken.sort_unstable();
    }

    /// The order of paths of the same length: by the ports, from the ingress on, where they part.
    pub(super) fn order(&self, mut a: Deviation, mut b: Deviation) -> Ordering {
        while a.branch != b.branch {
            let later = if a.branch > b.branch { &mut a } else { &mut b };
            *later = self.path(later.branch).deviation;
        }
        match a.links.cmp(&b.links) {
            Ordering::Less => a.edge.cmp(&self.edge(a.branch, a.links)),
            Ordering::Equal => a.edge.cmp(&b.edge),
            Ordering::Greater => self.edge(b.branch, b.links).cmp(&b.edge),
        }
    }

    fn path(&self, branch: Branch) -> &FoundPath {
        &self.paths[branch as usize]
    }

    /// The link of a path after so many links; not before its deviation.
    fn edge(&self, branch: Branch, links: u32) -> EdgeIndex {
        let path = self.path(branch);
        self.edges[path.own + (links - path.deviation.links) as usize]
    }
}
