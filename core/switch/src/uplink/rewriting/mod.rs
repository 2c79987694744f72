//! TCP through a tunnel without GRE around it: packets cross with the tunnel's own addresses, as Banfi et al. (2016) do it.
//!
//! The two edges agree on it for each connection, since its ports are all that tells its packets from those of others on the
//! way. The sending edge **offers** a connection: its ports, and the headers that its packets have outside the tunnel. Once the
//! other edge has **accepted**, packets cross with the tunnel's addresses, and the other edge restores the headers. Until then,
//! and whenever the two do not agree, packets are in GRE as without rewriting.

mod accepted;
mod headers;
mod notice;
mod offer;
mod table;

use std::time::Duration;

use braid_types::{Backoff, RateLimit, Time};

use super::frame::Around;
use crate::packets::Packet;
use accepted::AcceptedConnections;
use headers::{Headers, Segment};
use notice::Notice;
use offer::{Offers, Progress};

/// Ports belong to a connection until it has been silent for so long: packets of the old one may still be under way.
const REUSE_TIMEOUT: Duration = Duration::from_secs(2);
const HELLO_INTERVAL: Duration = Duration::from_secs(10);
/// Without a welcome for so long, the other end counts as one that does not rewrite.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(35);
/// If of so many connections in a row nothing arrives, nothing is rewritten for a while: first for [`PAUSE`], then for twice as long.
const MAX_FAILED: u32 = 3;
const PAUSE: Backoff = Backoff::between(Duration::from_secs(60), Duration::from_secs(3_600));
/// Refusals a second.
const MAX_REFUSALS: u32 = 10;

/// What one end of a tunnel knows of the connections that cross it.
#[derive(Debug, Default)]
pub(super) struct Rewriting {
    /// Those whose packets this end sends.
    offers: Offers,
    /// Those whose packets the other end sends.
    accepted: AcceptedConnections,
    /// Until when the other end counts as one that rewrites.
    welcome_until: Time,
    /// Whether the other end rewrites nothing for now.
    is_other_paused: bool,
    next_hello: Time,
    /// The connections in a row of which nothing arrived.
    failed: u32,
    /// Until when nothing is rewritten, and how long that is.
    pause: Option<(Time, Duration)>,
    refusals: RateLimit,
    notices: Vec<Notice>,
}

/// What becomes of a packet that came between the ends of a tunnel without GRE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Restored {
    /// It has its own headers again.
    Yes,
    /// Its connection is unknown, or it resets one: such a packet is of somebody on the way.
    Refused,
    /// It is no TCP.
    Other,
}

impl Rewriting {
    /// Gives a packet that leaves by the tunnel the tunnel's headers, if the other end knows its own; whether it has them.
    pub(super) fn send(&mut self, now: Time, around: &Around, packet: &mut Packet) -> bool {
        if !self.is_welcome(now) || self.is_paused(now) {
            return false;
        }
        let Some(segment) = Segment::read(packet).filter(|segment| segment.travels_well(packet)) else {
            return false;
        };
        let is_same_family = segment.headers.ends.src.is_ipv4() == around.ends.src.is_ipv4();
        if !is_same_family {
            return false;
        }
        let (passes, offered) =
            self.offers.passes(now, (segment.ports, segment.headers), !segment.is_opening());
        self.notices.extend(offered.map(Notice::Offer));
        if passes {
            segment.rewrite(packet, &Headers::across(around));
        }
        passes
    }

    /// Gives a packet that came between the ends of the tunnel its own headers.
    pub(super) fn receive(&mut self, now: Time, packet: &mut Packet) -> Restored {
        let Some(segment) = Segment::read(packet) else { return Restored::Other };
        if segment.is_reset() {
            return Restored::Refused;
        }
        let Some(headers) = self.accepted.arrived(now, segment.ports) else {
            if self.refusals.take(now, MAX_REFUSALS, Duration::from_secs(1)) {
                self.notices.push(Notice::Refusal(segment.ports));
            }
            return Restored::Refused;
        };
        segment.rewrite(packet, &headers);
        Restored::Yes
    }

    /// Whether packets of a connection have left rewritten.
    pub(super) fn sends(&self, ports: (u16, u16)) -> bool {
        self.offers.has_sent(ports)
    }

    /// Whether the other end rewrites, too.
    pub(super) fn is_welcome(&self, now: Time) -> bool {
        now < self.welcome_until
    }

    /// Whether what the other end sends is rewritten.
    pub(super) fn is_used_by_other_end(&self, now: Time) -> bool {
        self.is_welcome(now) && !self.is_other_paused
    }

    /// Whether what this end sends is rewritten.
    pub(super) fn is_used(&self, now: Time) -> bool {
        self.is_welcome(now) && !self.is_paused(now)
    }

    fn is_paused(&self, now: Time) -> bool {
        self.pause.is_some_and(|(until, _)| now < until)
    }
}

/// Notices.
impl Rewriting {
    /// A notice of the other end has come.
    pub(super) fn handle_notice(&mut self, now: Time, bytes: &[u8]) {
        match Notice::decode(bytes) {
            Some(Notice::Hello) => self.notices.push(Notice::Welcome { is_paused: self.is_paused(now) }),
            Some(Notice::Welcome { is_paused }) => {
                self.welcome_until = now + WELCOME_TIMEOUT;
                self.is_other_paused = is_paused;
            }
            Some(Notice::Offer(offered)) => self.notices.extend(self.accepted.accept(now, &offered)),
            Some(Notice::Acceptance { ports, number, sent, arrived }) => {
                match self.offers.accepted(now, (ports, number), (sent, arrived)) {
                    Progress::Unknown => {}
                    Progress::Some => (self.failed, self.pause) = (0, None),
                    Progress::None => self.count_failed(now),
                }
            }
            Some(Notice::Refusal(ports)) => self.offers.remove(ports),
            None => {}
        }
    }

    /// What is rewritten does not arrive: a firewall may be on the way that knows no such connections.
    fn count_failed(&mut self, now: Time) {
        self.failed += 1;
        if self.failed >= MAX_FAILED {
            let length = PAUSE.after(self.pause.map(|(_, last)| last));
            self.pause = Some((now + length, length));
            self.failed = 0;
            self.offers = Offers::default();
        }
    }

    /// The notices that are to be sent.
    pub(super) fn poll_notices(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.notices.drain(..).map(|notice| notice.encode())
    }

    /// When to call [`Self::handle_timeout`].
    pub(super) const fn poll_timeout(&self) -> Time {
        self.next_hello
    }

    /// Asks whether the other end rewrites.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.next_hello <= now {
            self.next_hello = now + HELLO_INTERVAL;
            self.notices.push(Notice::Hello);
        }
    }
}
