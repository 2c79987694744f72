//! The store of all assignments: limits by owner, leases, renewal and expiry.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{SwitchPort, Time, following, mix};

use crate::assignment::{Assignment, AssignmentId, Claim, Owner};

/// Limits of assignments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Assignments in all.
    pub assignments: usize,
    /// Of one owner.
    pub per_owner: usize,
    /// Paths of one.
    pub paths: usize,
    /// The longest lease.
    pub lease: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { assignments: 1_024, per_owner: 256, paths: 16, lease: Duration::from_secs(24 * 3_600) }
    }
}

/// Why an assignment is not made, or cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AssignError {
    /// It does not exist, or has ended.
    #[error("there is no assignment {0}; it may have ended")]
    Unknown(AssignmentId),
    /// It belongs to another owner.
    #[error("assignment {0} is not yours")]
    Foreign(AssignmentId),
    /// The number of paths is out of bounds.
    #[error("{0} paths were asked for: 1 to {1} may be")]
    Paths(usize, usize),
    /// The lease is out of bounds.
    #[error("a lease of {} s was asked for: 1 s to {} s may be", .0.as_secs(), .1.as_secs())]
    Lease(Duration, Duration),
    /// There is no path at all.
    #[error("there is no path between these hosts through the network")]
    NoPath,
    /// The limit of assignments is reached.
    #[error("{0} assignments exist, which is the limit")]
    Full(usize),
    /// The limit of one owner is reached.
    #[error("{0} has {1} assignments, which is the limit for one owner")]
    OwnerFull(Owner, usize),
}

/// The assignments of all owners.
#[derive(Debug)]
pub struct Assignments {
    limits: Limits,
    seed: u64,
    made: u64,
    by_id: BTreeMap<AssignmentId, Assignment>,
    /// By link, the owners with assignments over it, and the number of each.
    owners: Owners,
}

type Owners = BTreeMap<SwitchPort, BTreeMap<Owner, usize>>;

impl Assignments {
    /// An empty store. Identifiers follow from `seed`, which must stay secret from anybody who must not guess them.
    pub const fn new(limits: Limits, seed: u64) -> Self {
        Self { limits, seed, made: 0, by_id: BTreeMap::new(), owners: BTreeMap::new() }
    }

    /// The number of assignments.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All of them, by identifier.
    pub fn iter(&self) -> impl Iterator<Item = &Assignment> {
        self.by_id.values()
    }

    /// Those after `id`, by identifier; all of them after `None`.
    pub fn after(&self, id: Option<AssignmentId>) -> impl Iterator<Item = &Assignment> {
        self.by_id.range(following(id)).map(|(_, assignment)| assignment)
    }

    /// The assignment `id`, of any owner.
    pub fn get(&self, id: AssignmentId) -> Option<&Assignment> {
        self.by_id.get(&id)
    }

    /// Whether a claim is within the limits.
    ///
    /// # Errors
    /// The request is out of bounds, or a limit is reached.
    pub fn check(&self, claim: &Claim) -> Result<(), AssignError> {
        let Limits { assignments, per_owner, paths, lease } = self.limits;
        if !(1..=paths).contains(&claim.paths) {
            return Err(AssignError::Paths(claim.paths, paths));
        }
        if !(Duration::from_secs(1)..=lease).contains(&claim.lease) {
            return Err(AssignError::Lease(claim.lease, lease));
        }
        if self.by_id.len() >= assignments {
            return Err(AssignError::Full(assignments));
        }
        if self.iter().filter(|other| other.claim.owner == claim.owner).count() >= per_owner {
            return Err(AssignError::OwnerFull(claim.owner.clone(), per_owner));
        }
        Ok(())
    }

    /// Sets paths aside, given shortest first.
    ///
    /// # Errors
    /// As [`check`](Self::check), or there is no path.
    pub fn open(&mut self, now: Time, claim: Claim, paths: Vec<Path>) -> Result<&Assignment, AssignError> {
        self.check(&claim)?;
        if paths.is_empty() {
            return Err(AssignError::NoPath);
        }
        let id = self.next_id();
        count(&mut self.owners, &paths, &claim.owner);
        let expires_at = now + claim.lease;
        let made = Assignment { id, claim, paths, opened_at: now, expires_at, placed: 0 };
        Ok(self.by_id.entry(id).or_insert(made))
    }

    /// Takes over an assignment that another controller has made: its lease begins anew, and it has no paths so far. Returns
    /// whether it is new; nothing changes if it is there, or if the limit is reached.
    pub fn restore(&mut self, now: Time, id: AssignmentId, claim: Claim) -> bool {
        if self.by_id.len() >= self.limits.assignments || self.by_id.contains_key(&id) {
            return false;
        }
        let (opened_at, expires_at, paths) = (now, now + claim.lease, Vec::new());
        self.by_id.insert(id, Assignment { id, claim, paths, opened_at, expires_at, placed: 0 });
        true
    }

    /// Gives paths to an assignment that has none so far.
    pub fn set_paths(&mut self, id: AssignmentId, paths: Vec<Path>) {
        let Some(assignment) = self.by_id.get_mut(&id).filter(|it| it.paths.is_empty()) else { return };
        count(&mut self.owners, &paths, &assignment.claim.owner);
        assignment.paths = paths;
    }

    /// Forgets an assignment, of any owner; returns it.
    pub fn remove(&mut self, id: AssignmentId) -> Option<Assignment> {
        self.forget(id)
    }

    /// Renews the lease of an assignment of `owner`: it is in use. Without an owner, the identifier alone is enough.
    ///
    /// # Errors
    /// It does not exist, or belongs to another owner.
    pub fn renew(
        &mut self,
        now: Time,
        id: AssignmentId,
        owner: Option<&Owner>,
    ) -> Result<&mut Assignment, AssignError> {
        let assignment = self.by_id.get_mut(&id).filter(|assignment| assignment.expires_at > now);
        let assignment = assignment.ok_or(AssignError::Unknown(id))?;
        if owner.is_some_and(|owner| assignment.claim.owner != *owner) {
            return Err(AssignError::Foreign(id));
        }
        assignment.expires_at = now + assignment.claim.lease;
        Ok(assignment)
    }

    /// Ends an assignment of `owner`.
    ///
    /// # Errors
    /// It does not exist, or belongs to another owner.
    pub fn end(
        &mut self,
        now: Time,
        id: AssignmentId,
        owner: Option<&Owner>,
    ) -> Result<Assignment, AssignError> {
        self.renew(now, id, owner)?;
        self.forget(id).ok_or(AssignError::Unknown(id))
    }

    /// Ends the assignments whose leases have expired; returns them.
    pub fn expire(&mut self, now: Time) -> Vec<Assignment> {
        let over: Vec<_> = self.iter().filter(|it| it.expires_at <= now).map(|it| it.id).collect();
        over.into_iter().filter_map(|id| self.forget(id)).collect()
    }

    /// The number of owners that share a link's rate if `owner` uses it.
    pub fn sharers(&self, link: &Link, owner: &Owner) -> usize {
        let owners = self.owners.get(&end_of(link));
        let others = owners.map_or(0, |owners| owners.keys().filter(|other| *other != owner).count());
        others + 1
    }

    fn forget(&mut self, id: AssignmentId) -> Option<Assignment> {
        let assignment = self.by_id.remove(&id)?;
        for end in ends_of(&assignment.paths) {
            let Some(owners) = self.owners.get_mut(&end) else { continue };
            if let Some(count) = owners.get_mut(&assignment.claim.owner) {
                *count -= 1;
                if *count == 0 {
                    owners.remove(&assignment.claim.owner);
                }
            }
            if owners.is_empty() {
                self.owners.remove(&end);
            }
        }
        Some(assignment)
    }

    fn next_id(&mut self) -> AssignmentId {
        loop {
            self.made = self.made.wrapping_add(1);
            let id = AssignmentId(mix(self.seed.wrapping_add(mix(self.made))));
            if !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }
}

/// Notes an assignment of this owner over the links of its paths.
fn count(owners: &mut Owners, paths: &[Path], owner: &Owner) {
    for end in ends_of(paths) {
        *owners.entry(end).or_default().entry(owner.clone()).or_default() += 1;
    }
}

/// The links of some paths, once for each path, by the lower of their ends.
fn ends_of(paths: &[Path]) -> impl Iterator<Item = SwitchPort> {
    paths.iter().flat_map(|path| path.links().iter().map(end_of))
}

fn end_of(link: &Link) -> SwitchPort {
    link.src.min(link.dst)
}
