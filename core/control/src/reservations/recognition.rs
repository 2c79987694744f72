//! Plain TCP connections between two hosts to one port carry one transfer, though nobody says so.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_assign::{AssignmentId, Claim, Distribution};
use braid_types::FiveTuple;

use super::{Below, Reservations, open_paths};
use crate::context::Context;
use crate::switch_pair::SwitchPair;

/// The assignments that are made for what was recognised, by who opens connections, to whom, and to which port.
#[derive(Debug, Default)]
pub(super) struct Recognised(BTreeMap<(IpAddr, IpAddr, u16), AssignmentId>);

impl Recognised {
    /// Forgets what has ended.
    pub(super) fn retain(&mut self, is_there: impl Fn(AssignmentId) -> bool) {
        self.0.retain(|_, id| is_there(*id));
    }
}

/// A plain connection, and over how many paths those like it are to be spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainConnection<'a> {
    pub(crate) tuple: &'a FiveTuple,
    pub(crate) ends: SwitchPair,
    pub(crate) paths: usize,
}

impl Reservations {
    /// Whether an assignment was made for what was recognised.
    pub(crate) fn is_recognised(&self, id: AssignmentId) -> bool {
        self.recognised.0.values().any(|it| *it == id)
    }

    /// Whether nothing is recognised.
    #[cfg(test)]
    pub(crate) fn is_unrecognised(&self) -> bool {
        self.recognised.0.is_empty()
    }

    /// What a plain connection belongs to that is one of several.
    pub(crate) fn recognise(
        &mut self,
        cx: &mut Context<'_>,
        below: Below<'_>,
        connection: PlainConnection<'_>,
    ) -> Option<AssignmentId> {
        let PlainConnection { tuple, ends, paths } = connection;
        if paths < 2 {
            return None;
        }
        let key = (tuple.src, tuple.dst, tuple.dst_port);
        let known = self.recognised.0.get(&key).copied();
        let renewed = known.filter(|id| self.assignments.renew(cx.now, *id, None).is_ok());
        let claim = claim(cx, tuple, paths)?;
        let id = renewed.or_else(|| self.open_unasked(cx, below, claim, ends))?;
        self.recognised.0.insert(key, id);
        Some(id)
    }

    fn open_unasked(
        &mut self,
        cx: &mut Context<'_>,
        Below { fabric, streams }: Below<'_>,
        claim: Claim,
        ends: SwitchPair,
    ) -> Option<AssignmentId> {
        self.assignments.check(&claim).ok()?;
        let paths = self.useful_paths(cx, streams, ends, &claim);
        // Nothing to spread over.
        if paths.len() < 2 {
            return None;
        }
        let made = self.assignments.open(cx.now, claim, paths).ok()?;
        open_paths(cx, fabric, &made.paths);
        Some(made.id)
    }
}

/// Paths for as long as there are connections, as if the opening host had asked for them.
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
