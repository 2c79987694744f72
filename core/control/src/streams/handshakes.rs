//! Handshakes of subflows: once they are accepted or refused, placements made before are corrected.
//!
//! An attempt to open a subflow may fail, above all a server's to its client (RFC 8684 has no way to say that
//! nobody listens). Such an attempt must not keep a path from a subflow that carries data.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::Frame;
use braid_steering::{Opening, Stream, StreamId, TransferId};
use braid_types::{FiveTuple, Time, Token};

use super::call_backs::{CallBack, CallBacks, Join};
use super::migration::shared;
use super::setup::Syn;
use super::{StreamDeps, Streams};
use crate::routing::RouteKey;

/// The time without new or ended streams after which a transfer is reviewed, since several open at once.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Incomplete handshakes, and transfers to review after completed ones.
#[derive(Debug, Default)]
pub(crate) struct Handshakes {
    /// Transfers whose streams may share links although disjoint paths exist.
    unsettled: BTreeMap<TransferId, Time>,
    /// Subflows that answering hosts try to open. They get a path when they are accepted.
    pub(crate) call_backs: CallBacks,
}

impl Handshakes {
    /// Schedules a review of a transfer.
    pub(super) fn unsettle(&mut self, now: Time, transfer: TransferId) {
        self.unsettled.insert(transfer, now);
    }

    fn take_settled(&mut self, now: Time) -> Vec<TransferId> {
        let settled = self.unsettled.extract_if(.., |_, since| now.since(*since) >= SETTLE_TIME);
        settled.map(|(transfer, _)| transfer).collect()
    }
}

impl Streams {
    /// The answering host has accepted a subflow.
    pub(super) fn establish_join(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) {
        if !deps.transfers.establish(id) {
            return;
        }
        let Some(stream) = deps.transfers.stream(id) else { return };
        let path = stream.route.as_ref().map(|route| &route.forward);
        if path.is_some_and(|path| shared(deps.transfers, stream, path) > 0) {
            self.handshakes.unsettle(deps.cx.now, stream.transfer);
        }
    }

    /// Handles a subflow's SYN if it is a call-back or must wait for call-backs; returns whether it was
    /// handled.
    pub(super) fn classify_join(&mut self, deps: &mut StreamDeps<'_>, syn: Syn<'_>, token: Token) -> bool {
        if deps.transfers.by_tuple(&syn.tuple).is_some() || deps.cx.policy_of(&syn.tuple).is_single() {
            return false;
        }
        let Some(answers) = deps.cx.topology.host_with_address(syn.tuple.dst) else { return false };
        if let Some(transfer) = deps.transfers.call_back(token, &syn.tuple, &answers.addresses) {
            self.send_call_back(deps, syn, CallBack { transfer, token, at: deps.cx.now });
            return true;
        }
        let transfer = deps.transfers.joined(token, &syn.tuple);
        let waits = self.handshakes.call_backs.must_wait(&syn.tuple, transfer, answers.mac);
        if waits {
            let join = Join { transfer, dpid: syn.dpid, answers: answers.mac, frame: syn.bytes.to_vec() };
            self.handshakes.call_backs.hold(deps.cx.now, syn.tuple, join);
        }
        waits
    }

    /// Forwards a call-back by the default path. Most are refused, and until then they take the place of the
    /// opener's own subflows. The reply also has a default path ready.
    fn send_call_back(&mut self, deps: &mut StreamDeps<'_>, syn: Syn<'_>, call_back: CallBack) {
        let Some(caller) = deps.cx.topology.host_with_address(syn.tuple.src).map(|host| host.mac) else {
            return;
        };
        self.handshakes.call_backs.insert(syn.tuple, caller, call_back);
        let keys =
            [RouteKey { dst: syn.tuple.dst, dpid: syn.dpid }, RouteKey { dst: syn.tuple.src, dpid: syn.dst }];
        deps.routing.forward(&mut deps.cx, deps.fabric, &keys, syn.bytes);
    }

    /// Continues the subflows that have waited for call-backs.
    pub(super) fn release_joins(&mut self, deps: &mut StreamDeps<'_>) {
        for Join { dpid, frame, .. } in self.handshakes.call_backs.take_due(deps.cx.now) {
            let Ok(parsed) = Frame::parse(&frame) else { continue };
            if let Some(syn) = Syn::new(&deps.cx, dpid, &parsed, &frame) {
                self.open(deps, syn);
            }
        }
    }

    /// The opening host has accepted a call-back, which used the default path so far.
    pub(super) fn establish_call_back(&mut self, deps: &mut StreamDeps<'_>, tuple: FiveTuple) {
        let Some(CallBack { transfer, token, .. }) = self.handshakes.call_backs.remove(deps.cx.now, &tuple)
        else {
            return;
        };
        deps.transfers.learn_opener_token(transfer, token);
        if let Ok(id) = self.open_stream(deps, tuple, Opening::Join(token)) {
            self.establish_join(deps, id);
            self.spread(deps, &[id]);
        }
    }

    /// One end has refused or closed a subflow: its place is free.
    pub(super) fn on_reset(&mut self, deps: &mut StreamDeps<'_>, tuple: &FiveTuple) {
        for attempt in [*tuple, tuple.reversed()] {
            self.handshakes.call_backs.remove(deps.cx.now, &attempt);
        }
        let known = deps.transfers.by_tuple(tuple).or_else(|| deps.transfers.by_tuple(&tuple.reversed()));
        let Some(Stream { id, transfer, .. }) = known.filter(|stream| is_subflow(stream.opening)).cloned()
        else {
            return;
        };
        self.end(deps, id);
        self.handshakes.unsettle(deps.cx.now, transfer);
    }

    /// Spreads the streams of settled transfers over separate paths. Called once a tick.
    pub(super) fn settle_transfers(&mut self, deps: &mut StreamDeps<'_>) {
        if deps.cx.out.installed.is_settling() {
            return;
        }
        for transfer in self.handshakes.take_settled(deps.cx.now) {
            let streams = deps.transfers.transfer(transfer).map(|it| it.streams.clone()).unwrap_or_default();
            // Last streams first: the first ones have the shortest paths.
            for id in streams.into_iter().rev() {
                if let Some(path) = self.better_path(deps, id) {
                    self.move_stream(deps, id, &path);
                }
            }
        }
    }
}

const fn is_subflow(opening: Opening) -> bool {
    matches!(opening, Opening::Capable | Opening::Join(_) | Opening::Advised | Opening::Unseen)
}
