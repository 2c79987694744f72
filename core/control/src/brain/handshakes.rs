//! Subflows become established, or are refused: what was placed while that was not known is put right.
//!
//! A host may try to open a subflow in vain, a server to its client above all (RFC 8684 has no way to say that nobody
//! listens). Such an attempt must not keep a path from a subflow that carries data.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_steering::{Opening, Stream, StreamId, TransferId};
use braid_types::{FiveTuple, Time, Token};

use super::Brain;
use crate::command::Commands;

/// How long the streams of a transfer must have neither come nor gone before they are looked at: several open at once.
const SETTLE: Duration = Duration::from_millis(200);

/// How long a host has to answer a call back, and how many are remembered.
const CALL_BACK_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_CALL_BACKS: usize = 4_096;

/// Handshakes that are not complete, and what follows from those that are.
#[derive(Debug, Default)]
pub(super) struct Handshakes {
    /// Transfers whose streams may share links though there are paths that would keep them apart.
    unsettled: BTreeMap<TransferId, Time>,
    /// Subflows that answering hosts try to open, with their tokens: they get a path when they are accepted.
    call_backs: BTreeMap<FiveTuple, (Time, Token)>,
}

impl Handshakes {
    /// The streams of a transfer are to be looked at.
    pub(super) fn unsettle(&mut self, now: Time, transfer: TransferId) {
        self.unsettled.insert(transfer, now);
    }

    /// An answering host tries to open a subflow.
    pub(super) fn call_back(&mut self, now: Time, tuple: FiveTuple, token: Token) {
        if self.call_backs.len() < MAX_CALL_BACKS {
            self.call_backs.insert(tuple, (now, token));
        }
    }

    fn take_settled(&mut self, now: Time) -> Vec<TransferId> {
        self.call_backs.retain(|_, (at, _)| now.since(*at) < CALL_BACK_TIMEOUT);
        let settled = self.unsettled.extract_if(.., |_, since| now.since(*since) >= SETTLE);
        settled.map(|(transfer, _)| transfer).collect()
    }
}

impl Brain {
    /// The answering host has accepted a subflow.
    pub(super) fn establish_join(&mut self, now: Time, id: StreamId) {
        if !self.streams.establish(id) {
            return;
        }
        let Some(stream) = self.streams.stream(id) else { return };
        let path = stream.route.as_ref().map(|route| &route.forward);
        if path.is_some_and(|path| self.shared(stream, path) > 0) {
            self.handshakes.unsettle(now, stream.transfer);
        }
    }

    /// The opening host has accepted a subflow of the answering one, which took the default path so far.
    pub(super) fn establish_call_back(&mut self, now: Time, tuple: FiveTuple, out: &mut Commands) {
        let Some((_, token)) = self.handshakes.call_backs.remove(&tuple) else { return };
        if let Some(id) = self.open_stream(now, tuple, Opening::Join(token), out) {
            self.establish_join(now, id);
            self.spread(now, &[id], out);
        }
    }

    /// One end of a subflow has refused it or given it up: its place is free.
    pub(super) fn on_reset(&mut self, now: Time, tuple: &FiveTuple, out: &mut Commands) {
        self.handshakes.call_backs.remove(&tuple.reversed());
        let known = self.streams.by_tuple(tuple).or_else(|| self.streams.by_tuple(&tuple.reversed()));
        let Some(Stream { id, transfer, .. }) = known.filter(|stream| is_subflow(stream.opening)).cloned()
        else {
            return;
        };
        self.end_stream(id, out);
        self.handshakes.unsettle(now, transfer);
    }

    /// Has the streams of transfers that have settled take paths of their own; called once a tick.
    pub(super) fn settle_transfers(&mut self, now: Time, out: &mut Commands) {
        if self.found.is_settling() {
            return;
        }
        for transfer in self.handshakes.take_settled(now) {
            let streams = self.streams.transfer(transfer).map(|it| it.streams.clone()).unwrap_or_default();
            // The last ones first: the first have the shortest paths.
            for id in streams.into_iter().rev() {
                if let Some(path) = self.better_path(now, id) {
                    self.move_stream(now, id, &path, out);
                }
            }
        }
    }
}

const fn is_subflow(opening: Opening) -> bool {
    matches!(opening, Opening::Capable | Opening::Join(_) | Opening::Advised | Opening::Unseen)
}
