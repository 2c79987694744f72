//! The rate limits of each port.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::arp::ArpOp;
use braid_packet::nd::NdMessage;
use braid_packet::{Frame, Ip, Payload, TcpFlags, Transport};
use braid_types::{DatapathId, PortNo, RateLimit, SwitchPort};

use crate::context::Context;

/// Unused allowance of most limits accumulates for this long.
const BURST_TIME: Duration = Duration::from_secs(1);
/// That of streams accumulates for longer: a transfer opens many at once, then none for a long time.
const STREAM_BURST_TIME: Duration = Duration::from_secs(10);

/// The limits of the ports that are up.
#[derive(Debug, Default)]
pub(super) struct Limits(BTreeMap<SwitchPort, PortLimits>);

/// The limits of one port.
#[derive(Debug, Default)]
struct PortLimits {
    /// New addresses, address conflicts and lookups.
    addresses: RateLimit,
    /// Connections that get their own paths.
    streams: RateLimit,
    /// Packets to the controller, except answers.
    packets: RateLimit,
    /// Answers, see [`is_answer`].
    answers: RateLimit,
}

impl Limits {
    pub(super) fn add(&mut self, at: SwitchPort) {
        self.0.insert(at, PortLimits::default());
    }

    pub(super) fn forget(&mut self, at: SwitchPort) {
        self.0.remove(&at);
    }

    pub(super) fn forget_switch(&mut self, dpid: DatapathId) {
        self.0.extract_if(SwitchPort::all_of(dpid), |_, _| true).for_each(drop);
    }

    /// Whether a packet is within the limit of its port; `None` for a port that is not known. The controller's own
    /// packets always are.
    pub(super) fn take_packet(
        &mut self,
        cx: &Context<'_>,
        at: SwitchPort,
        frame: &Frame<'_>,
    ) -> Option<bool> {
        let Some(shares) = self.0.get_mut(&at) else {
            return (at.port == PortNo::CONTROLLER).then_some(true);
        };
        let rate = if is_answer(frame) { &mut shares.answers } else { &mut shares.packets };
        Some(rate.take(cx.now, cx.settings.punt_rate, BURST_TIME))
    }

    /// Whether one more stream is within the limit of its port.
    pub(super) fn take_stream(&mut self, cx: &Context<'_>, at: SwitchPort) -> bool {
        let limit = cx.settings.new_streams;
        self.0.get_mut(&at).is_none_or(|shares| shares.streams.take(cx.now, limit, STREAM_BURST_TIME))
    }

    /// Whether one more address is within the limit of its port; `None` for a port that is not known.
    pub(super) fn take_address(&mut self, cx: &Context<'_>, at: SwitchPort) -> Option<bool> {
        let shares = self.0.get_mut(&at)?;
        Some(shares.addresses.take(cx.now, cx.settings.new_addresses, BURST_TIME))
    }
}

/// Whether a packet is an answer. A server does not control how many connections it must answer.
fn is_answer(frame: &Frame<'_>) -> bool {
    match &frame.payload {
        Payload::Arp(arp) => arp.op == ArpOp::Reply,
        Payload::Ip(Ip { transport: Transport::Icmpv6(NdMessage::Advertisement(_)), .. }) => true,
        _ => frame.tcp().is_some_and(|tcp| tcp.flags.is_syn_ack() || tcp.flags.contains(TcpFlags::RST)),
    }
}
