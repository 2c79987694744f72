//! Recognition of unannounced transfers: plain TCP connections between two hosts to one port.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_assign::{AssignmentId, Claim, Distribution};
use braid_types::{FiveTuple, SwitchPair};

use super::{ReservationDeps, Reservations, open_paths};
use crate::context::Context;

/// Assignments of recognised transfers, by client, server and server port.
#[derive(Debug, Default)]
pub(super) struct InferredTransfers(BTreeMap<(IpAddr, IpAddr, u16), AssignmentId>);

impl InferredTransfers {
    /// Forgets ended assignments.
    pub(super) fn retain(&mut self, is_there: impl Fn(AssignmentId) -> bool) {
        self.0.retain(|_, id| is_there(*id));
    }
}

/// A plain connection, and the number of paths that connections like it are spread over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainConnection<'a> {
    pub(crate) tuple: &'a FiveTuple,
    pub(crate) ends: SwitchPair,
    pub(crate) paths: usize,
}

impl Reservations {
    /// Whether an assignment belongs to a recognised transfer.
    pub(crate) fn is_inferred(&self, id: AssignmentId) -> bool {
        self.inferred.0.values().any(|it| *it == id)
    }

    /// The assignment of the transfer to which a plain connection belongs; `None` if it is not spread.
    pub(crate) fn infer(
        &mut self,
        cx: &mut Context<'_>,
        below: ReservationDeps<'_>,
        connection: PlainConnection<'_>,
    ) -> Option<AssignmentId> {
        let PlainConnection { tuple, ends, paths } = connection;
        if paths < 2 {
            return None;
        }
        let key = (tuple.src, tuple.dst, tuple.dst_port);
        let known = self.inferred.0.get(&key).copied();
        let renewed = known.filter(|id| self.assignments.renew(cx.now, *id, None).is_ok());
        let claim = claim(cx, tuple, paths)?;
        let id = renewed.or_else(|| self.open_unasked(cx, below, claim, ends))?;
        self.inferred.0.insert(key, id);
        Some(id)
    }

    fn open_unasked(
        &mut self,
        cx: &mut Context<'_>,
        ReservationDeps { fabric, streams }: ReservationDeps<'_>,
        claim: Claim,
        ends: SwitchPair,
    ) -> Option<AssignmentId> {
        self.assignments.check(&claim).ok()?;
        let paths = self.useful_paths(cx, streams, ends, &claim);
        // One path leaves nothing to spread over.
        if paths.len() < 2 {
            return None;
        }
        let made = self.assignments.open(cx.now, claim, paths).ok()?;
        open_paths(cx, fabric, &made.paths);
        Some(made.id)
    }
}

#[cfg(test)]
impl Reservations {
    /// Whether no transfer is recognised.
    pub(crate) fn has_no_inferred(&self) -> bool {
        self.inferred.0.is_empty()
    }
}

/// A claim for as long as there are connections, as if the client had made it.
fn claim(cx: &Context<'_>, tuple: &FiveTuple, paths: usize) -> Option<Claim> {
    Some(Claim {
        owner: tuple.src.to_string().parse().ok()?,
        src: tuple.src,
        dst: tuple.dst,
        paths,
        streams: None,
        lease: cx.settings.stream_idle * 2,
        distribution: Distribution::Weight,
        model: None,
    })
}
