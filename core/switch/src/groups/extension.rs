//! The settings of Braid's OpenFlow extension: groups that spray, resequence and encapsulate.

use braid_edge_protocol::extension::PathUpdate;
use braid_openflow::{BadRequestCode, ErrorCode, GroupId, GroupModFailedCode, GroupType};
use braid_spray::{FlowNumbers, PathWeight, Policy, Scheduler, Settings};
use braid_types::mix;

use super::group::weights;
use super::resequencing::GroupResequencer;
use super::{Groups, UNKNOWN, failed};
use crate::environment::Environment;
use crate::tunnel::{Ends, Tunnel};

/// The greatest number of bytes that all groups together may hold, to bound memory for any number of groups.
const MAX_HELD_BYTES: u64 = 512 << 20;

impl Groups {
    /// Makes a select group decide for each packet.
    pub(crate) fn set_spray(&mut self, id: GroupId, policy: Policy) -> Result<(), ErrorCode> {
        let group = self.all.get_mut(&id).ok_or(UNKNOWN)?;
        if group.kind != GroupType::Select {
            return Err(failed(GroupModFailedCode::BadType));
        }
        group.spray = Some(Scheduler::new(policy, &weights(group)));
        Ok(())
    }

    pub(crate) fn set_paths(&mut self, id: GroupId, updates: &[PathUpdate]) -> Result<(), ErrorCode> {
        let group = self.all.get_mut(&id).ok_or(UNKNOWN)?;
        let spray = group.spray.as_mut().ok_or(UNKNOWN)?;
        let known = |update: &PathUpdate| (update.bucket as usize) < spray.paths().len();
        if !updates.iter().all(known) {
            return Err(failed(GroupModFailedCode::BadBucket));
        }
        for update in updates {
            let PathUpdate { bucket, weight, rate, delay } = *update;
            spray.set(bucket as usize, PathWeight { weight, rate, delay });
        }
        let shares: Vec<_> = spray.paths().iter().map(|path| path.weight).collect();
        if let Some(probing) = &mut group.probing {
            probing.set_shares(&shares);
        }
        Ok(())
    }

    /// Makes an indirect group resequence, or changes its settings.
    pub(crate) fn set_resequencing(
        &mut self,
        id: GroupId,
        settings: Settings,
        seed: u64,
    ) -> Result<(), ErrorCode> {
        let others = self.all.iter().filter(|(other, _)| **other != id);
        let taken: u64 = others.filter_map(|(_, it)| Some(it.resequencer.as_ref()?.settings().bytes)).sum();
        self.check_resequencing(id)?;
        if settings.check().is_err() || taken.saturating_add(settings.bytes) > MAX_HELD_BYTES {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadLen));
        }
        let group = self.all.get_mut(&id).ok_or(UNKNOWN)?;
        match &mut group.resequencer {
            Some(resequencer) => resequencer.change(settings),
            None => group.resequencer = Some(Box::new(GroupResequencer::new(settings, seed))),
        }
        Ok(())
    }

    /// Checks whether a group may start or stop resequencing.
    pub(crate) fn check_resequencing(&self, id: GroupId) -> Result<(), ErrorCode> {
        match self.all.get(&id).ok_or(UNKNOWN)?.kind {
            GroupType::Indirect => Ok(()),
            _ => Err(failed(GroupModFailedCode::BadType)),
        }
    }

    pub(crate) fn stop_resequencing(&mut self, id: GroupId) {
        if let Some(group) = self.all.get_mut(&id) {
            group.resequencer = None;
        }
    }

    /// Makes a spraying group encapsulate, with ends for each bucket, or a resequencing group decapsulate what came between
    /// such ends.
    pub(crate) fn set_tunnel(
        &mut self,
        env: &Environment<'_>,
        id: GroupId,
        wanted: Option<&[Ends]>,
    ) -> Result<(), ErrorCode> {
        // A new seed each time: the far edge may remember the numbers of the one before.
        let seed = mix(env.identity.seed ^ env.now.as_nanos() ^ u64::from(id.0).rotate_left(32));
        let group = self.all.get_mut(&id).ok_or(UNKNOWN)?;
        group.tunnel = match wanted {
            None => None,
            // Without any word, numbered packets from anybody would be taken out.
            Some([]) => return Err(failed(GroupModFailedCode::BadBucket)),
            Some(ends) if group.resequencer.is_some() => {
                Some(Box::new(Tunnel::Leaves { ends: ends.to_vec() }))
            }
            Some(ends) if group.spray.is_some() && fits_buckets(ends, group.buckets.len()) => {
                let ends = ends.to_vec();
                Some(Box::new(Tunnel::Enters { ends, numbers: FlowNumbers::new(seed) }))
            }
            Some(_) if group.spray.is_some() => return Err(failed(GroupModFailedCode::BadBucket)),
            Some(_) => return Err(UNKNOWN),
        };
        Ok(())
    }
}

/// Whether each of so many buckets has ends of its own.
fn fits_buckets(ends: &[Ends], buckets: usize) -> bool {
    ends.len() == buckets && !ends.iter().any(Ends::is_any)
}
