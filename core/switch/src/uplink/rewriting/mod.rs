//! TCP through a tunnel without GRE around it: packets cross with the tunnel's own addresses, as Banfi et al. (2016) do it.
//!
//! The two edges agree on it for each connection, since its ports are all that tells its packets from those of others on the
//! way. The sending edge **offers** a connection: its ports, and the headers that its packets have outside the tunnel. Once the
//! other edge has **accepted**, packets cross with the tunnel's addresses, and the other edge restores the headers. Until then,
//! and whenever the two do not agree, packets are in GRE as without rewriting.

mod headers;
mod notice;

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{RateLimit, Time};

use super::frame::Around;
use crate::packets::Packet;
use headers::{Headers, Ports, Segment};
use notice::{Notice, Offered};

/// The greatest number of connections in each direction of a tunnel.
const MAX_CONNECTIONS: usize = 4_096;
/// The interval of searches for connections that are no more, where there is no room for another.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
const HELLO_INTERVAL: Duration = Duration::from_secs(10);
/// Without a welcome for so long, the other end counts as one that does not rewrite.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(35);
/// Offers of a connection are repeated, so that both ends know what arrives.
const OFFER_INTERVAL: Duration = Duration::from_millis(500);
/// An acceptance holds for so long at the sender, and the headers at the receiver for twice that.
const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(30);
const HEADERS_TIMEOUT: Duration = Duration::from_secs(60);
/// Ports belong to a connection until it has been silent for so long: packets of the old one may still be under way.
const REUSE_TIMEOUT: Duration = Duration::from_secs(2);
/// So many packets do not get lost by chance, all of them.
const MIN_LOST: u32 = 8;
/// A tunnel that does not let rewritten packets pass is tried again after so long, then after twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const MAX_PAUSE: Duration = Duration::from_secs(3_600);
/// Refusals a second.
const MAX_REFUSALS: u32 = 10;

/// What one end of a tunnel knows of the connections that cross it.
#[derive(Debug, Default)]
pub(super) struct Rewriting {
    /// Those whose packets this end sends.
    offers: BTreeMap<Ports, Offer>,
    /// Those whose packets the other end sends.
    accepted: BTreeMap<Ports, Accepted>,
    /// Until when the other end counts as one that rewrites.
    welcome_until: Time,
    next_hello: Time,
    /// Until when nothing is rewritten, and how long that is.
    pause: Option<(Time, Duration)>,
    last_number: u32,
    swept: Time,
    refusals: RateLimit,
    notices: Vec<Notice>,
}

#[derive(Debug)]
struct Offer {
    number: u32,
    headers: Headers,
    used: Time,
    offered: Option<Time>,
    accepted_until: Time,
    sent: u32,
    /// What had been sent and had arrived by the last acceptance that showed progress.
    progress: (u32, u32),
    /// What had been sent by the first acceptance after it that should have shown some.
    suspected: Option<u32>,
}

#[derive(Debug)]
struct Accepted {
    number: u32,
    headers: Headers,
    offered: Time,
    arrived: u32,
}

/// What becomes of a packet that came between the ends of a tunnel without GRE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Restored {
    /// It has its own headers again.
    Yes,
    /// Its connection is unknown.
    Refused,
    /// It is no TCP.
    Other,
}

impl Rewriting {
    /// Gives a packet that leaves by the tunnel the tunnel's headers, if the other end knows its own; whether it has them.
    pub(super) fn send(&mut self, now: Time, around: &Around, packet: &mut Packet) -> bool {
        if !self.is_agreed(now) {
            return false;
        }
        let Some(segment) = Segment::read(packet).filter(|segment| segment.travels_well(packet)) else {
            return false;
        };
        let is_same_family = segment.headers.ends.src.is_ipv4() == around.ends.src.is_ipv4();
        if !is_same_family || !self.passes(now, segment.ports, segment.headers) {
            return false;
        }
        segment.rewrite(packet, &Headers::across(around));
        true
    }

    /// Gives a packet that came between the ends of the tunnel its own headers.
    pub(super) fn receive(&mut self, now: Time, packet: &mut Packet) -> Restored {
        let Some(segment) = Segment::read(packet) else { return Restored::Other };
        let known = self.accepted.get_mut(&segment.ports);
        let Some(known) = known.filter(|known| now.since(known.offered) < HEADERS_TIMEOUT) else {
            if self.refusals.take(now, MAX_REFUSALS, Duration::from_secs(1)) {
                self.notices.push(Notice::Refusal(segment.ports));
            }
            return Restored::Refused;
        };
        known.arrived = known.arrived.wrapping_add(1);
        segment.rewrite(packet, &known.headers);
        Restored::Yes
    }

    /// Whether both ends rewrite, and what is rewritten arrives.
    pub(super) fn is_agreed(&self, now: Time) -> bool {
        now < self.welcome_until && self.pause.is_none_or(|(until, _)| until <= now)
    }

    /// Whether a packet of a connection may be rewritten, which is offered where it is new.
    fn passes(&mut self, now: Time, ports: Ports, headers: Headers) -> bool {
        if !self.offers.contains_key(&ports) && !self.has_room(now) {
            return false;
        }
        let number = self.last_number.wrapping_add(1);
        let offer = self.offers.entry(ports).or_insert_with(|| Offer::new(number, headers, now));
        if offer.headers != headers {
            if now.since(offer.used) < REUSE_TIMEOUT {
                return false;
            }
            *offer = Offer::new(number, headers, now);
        }
        self.last_number = self.last_number.max(offer.number);
        offer.used = now;
        if offer.is_due(now) {
            let Offer { number, headers, sent, .. } = *offer;
            offer.offered = Some(now);
            self.notices.push(Notice::Offer(Offered { ports, number, sent, headers }));
        }
        let passes = now < offer.accepted_until;
        offer.sent = offer.sent.wrapping_add(u32::from(passes));
        passes
    }

    /// Whether there is room for another connection.
    fn has_room(&mut self, now: Time) -> bool {
        let is_full = |all: usize| all >= MAX_CONNECTIONS;
        if (is_full(self.offers.len()) || is_full(self.accepted.len()))
            && now.since(self.swept) >= SWEEP_INTERVAL
        {
            self.swept = now;
            self.offers.retain(|_, offer| now.since(offer.used) < HEADERS_TIMEOUT);
            self.accepted.retain(|_, known| now.since(known.offered) < HEADERS_TIMEOUT);
        }
        !is_full(self.offers.len()) && !is_full(self.accepted.len())
    }
}

/// Notices.
impl Rewriting {
    /// A notice of the other end has come.
    pub(super) fn handle_notice(&mut self, now: Time, bytes: &[u8]) {
        match Notice::decode(bytes) {
            Some(Notice::Hello) => self.notices.push(Notice::Welcome),
            Some(Notice::Welcome) => self.welcome_until = now + WELCOME_TIMEOUT,
            Some(Notice::Offer(offered)) => self.accept(now, &offered),
            Some(Notice::Acceptance { ports, number, sent, arrived }) => {
                let offer = self.offers.get_mut(&ports).filter(|offer| offer.number == number);
                if offer.is_some_and(|offer| !offer.accepted(now, sent, arrived)) {
                    self.pause(now);
                }
            }
            Some(Notice::Refusal(ports)) => _ = self.offers.remove(&ports),
            None => {}
        }
    }

    fn accept(&mut self, now: Time, offered: &Offered) {
        let Offered { ports, number, sent, headers } = *offered;
        if !self.accepted.contains_key(&ports) && !self.has_room(now) {
            return;
        }
        let new = || Accepted { number, headers, offered: now, arrived: 0 };
        let known = self.accepted.entry(ports).or_insert_with(new);
        if (known.number, known.headers) != (number, headers) {
            *known = new();
        }
        known.offered = now;
        let arrived = known.arrived;
        self.notices.push(Notice::Acceptance { ports, number, sent, arrived });
    }

    /// What is rewritten does not arrive: a firewall may be on the way that knows no such connections.
    fn pause(&mut self, now: Time) {
        let length = self.pause.map_or(FIRST_PAUSE, |(_, last)| (last * 2).min(MAX_PAUSE));
        self.pause = Some((now + length, length));
        self.offers.clear();
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

impl Offer {
    const fn new(number: u32, headers: Headers, now: Time) -> Self {
        let (offered, accepted_until, sent) = (None, Time::ZERO, 0);
        Self { number, headers, used: now, offered, accepted_until, sent, progress: (0, 0), suspected: None }
    }

    fn is_due(&self, now: Time) -> bool {
        self.offered.is_none_or(|offered| now.since(offered) >= OFFER_INTERVAL)
    }

    /// The other end has so many of the packets that were sent; whether some of the last ones arrived.
    ///
    /// While the whole tunnel is interrupted, packets are lost, too. So it counts only once more were lost while offers arrived.
    fn accepted(&mut self, now: Time, sent: u32, arrived: u32) -> bool {
        let (sent_before, arrived_before) = self.progress;
        if arrived != arrived_before {
            (self.progress, self.suspected) = ((sent, arrived), None);
        } else if self.suspected.is_some_and(|suspected| suspected != sent) {
            return false;
        } else if sent.wrapping_sub(sent_before) >= MIN_LOST {
            self.suspected = Some(sent);
        }
        self.accepted_until = now + ACCEPTANCE_TIMEOUT;
        true
    }
}
