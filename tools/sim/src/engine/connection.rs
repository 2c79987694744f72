//! Connections and subflows: what they carry, their routes, scheduler and state.

use std::collections::VecDeque;
use std::ops::Range;

use super::buffers::Buffers;
use super::write_queue::WriteQueue;
use super::{Arrivals, LinkId, Picos};
use crate::Control;
use crate::transport::{Governor, Receiver, Sender};

/// The amount of data of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// More than can be sent in the simulated time.
    Endless,
    /// So many bytes; 0 counts as 1.
    Bytes(u64),
}

/// The links of a subflow, from the sender's interface to the receiver's, and back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// For data; at least one.
    pub forward: Vec<LinkId>,
    /// For acknowledgements; at least one.
    pub back: Vec<LinkId>,
}

/// A connection to be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewConnection {
    /// The routes of the subflows, the first subflow's first, 1 to [`Self::MAX_SUBFLOWS`]; more than one make it MPTCP.
    pub ways: Vec<Way>,
    /// The amount of data.
    pub amount: Amount,
    /// The congestion control.
    pub control: Control,
    /// The controller's delay of a subflow's first packet.
    pub set_up: Picos,
    /// The greatest number of bytes in flight or out of order at the receiver.
    pub buffer: u64,
    /// The scheduler of MPTCP.
    pub scheduler: Scheduler,
    /// The longest packet, in bytes, up to [`Self::MAX_MTU`].
    pub mtu: u16,
}

/// The assignment of an MPTCP connection's data to subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// A segment is assigned when it leaves, to the subflow with the least round-trip time of those with room. Data
    /// in flight on a subflow that timed out is sent on another at once.
    #[default]
    LowestRtt,
    /// Linux (6.18): bursts of data are queued on subflows far ahead, and stay there; the receive buffer is autotuned.
    Linux,
}

/// The sizes of a segment and an acknowledgement on the wire, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) payload: u16,
    pub(crate) headers: u16,
    pub(crate) acknowledgement: u16,
}

/// A connection, both ends of it.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) subflows: Range<u32>,
    pub(crate) shape: Shape,
    /// The total number of segments, and the payload of the last one.
    pub(crate) total: u32,
    pub(crate) last_payload: u16,
    pub(crate) set_up: Picos,
    /// At the sender: the next segment to send, and the first without an acknowledgement.
    pub(crate) next: u32,
    pub(crate) una: u32,
    /// Segments beyond `una` that fit into the receive buffer.
    pub(crate) window: u32,
    /// Segments sent on a subflow that may be dead, to be sent on another.
    pub(crate) again: VecDeque<u32>,
    /// With [`Scheduler::Linux`], and when the event queue next looks at their deadline.
    pub(crate) buffers: Option<Box<Buffers>>,
    pub(crate) look: Picos,
    /// The receiver's.
    pub(crate) arrivals: Arrivals,
    pub(crate) finished: Option<Picos>,
}

/// One subflow, both ends of it.
#[derive(Clone, Debug)]
pub(crate) struct Subflow {
    pub(crate) connection: u32,
    pub(crate) status: Status,
    /// The indices of its routes in the table of routes.
    pub(crate) forward: u32,
    pub(crate) back: u32,
    pub(crate) sender: Sender,
    pub(crate) governor: Governor,
    pub(crate) receiver: Receiver,
    /// When the sender's interface has room again, if the sender waits for it.
    pub(crate) resume: Option<Picos>,
    /// With [`Scheduler::Linux`].
    pub(crate) queue: WriteQueue,
    /// When the event queue next looks at the deadlines of the sender, of the receiver and of the interface.
    pub(crate) looks: [Picos; 3],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Its first packet has not left.
    Waiting,
    /// It has left.
    Opening,
    /// The answer has arrived.
    Open,
    /// The host has ended it.
    Closed,
}

impl Shape {
    /// Ethernet, IPv4 and TCP with time stamps, at the usual MTU of 1,500; `data` comes with its sequence and acknowledgement.
    const TCP: Self = Self { payload: 1_448, headers: 66, acknowledgement: 66 };
    const MPTCP: Self = Self { payload: 1_428, headers: 86, acknowledgement: 78 };
    const ETHERNET: u16 = 14;
    /// The packet size that every host accepts: RFC 791.
    const LEAST_MTU: u16 = 576;
    /// What a block of SACK adds.
    pub(crate) const SACK: u16 = 12;
    /// A SYN or SYN/ACK with its options.
    pub(crate) const HANDSHAKE: u16 = 78;

    pub(crate) const fn of(subflows: usize) -> Self {
        if subflows > 1 { Self::MPTCP } else { Self::TCP }
    }

    /// With packets of another size.
    const fn with_mtu(self, mtu: u16) -> Self {
        let mtu = if mtu < Self::LEAST_MTU { Self::LEAST_MTU } else { mtu };
        Self { payload: mtu + Self::ETHERNET - self.headers, ..self }
    }
}

impl NewConnection {
    /// The most subflows of a connection.
    pub const MAX_SUBFLOWS: usize = 16;
    /// The default buffer: more than any window here.
    pub const BUFFER: u64 = 64 << 20;

    /// The default MTU.
    pub const MTU: u16 = 1_500;
    /// The greatest MTU.
    pub const MAX_MTU: u16 = 9_216;

    /// The part of a full frame that is data, in a connection with so many subflows.
    pub fn payload_share(subflows: usize) -> f64 {
        let Shape { payload, headers, .. } = Shape::of(subflows);
        f64::from(payload) / f64::from(payload + headers)
    }

    /// Plain TCP without a controller's delay.
    pub fn tcp(forward: Vec<LinkId>, back: Vec<LinkId>, amount: Amount, control: Control) -> Self {
        Self::mptcp(vec![Way { forward, back }], amount, control)
    }

    /// MPTCP over these routes, without a controller's delay.
    pub const fn mptcp(ways: Vec<Way>, amount: Amount, control: Control) -> Self {
        Self {
            ways,
            amount,
            control,
            set_up: Picos::ZERO,
            buffer: Self::BUFFER,
            scheduler: Scheduler::LowestRtt,
            mtu: Self::MTU,
        }
    }
}

impl NewConnection {
    fn shape(&self) -> Shape {
        Shape::of(self.ways.len()).with_mtu(self.mtu.min(Self::MAX_MTU))
    }

    fn buffers(&self) -> Option<Box<Buffers>> {
        let is_linux = self.scheduler == Scheduler::Linux && self.ways.len() > 1;
        is_linux.then(|| Box::new(Buffers::new(self.buffer, self.shape().payload)))
    }
}

impl Connection {
    pub(crate) fn new(new: &NewConnection, first: u32) -> Self {
        let shape = new.shape();
        let payload = u64::from(shape.payload);
        let (total, last) = match new.amount {
            Amount::Endless => (u32::MAX, shape.payload),
            Amount::Bytes(bytes) => {
                let bytes = bytes.max(1);
                let last = bytes - (bytes - 1) / payload * payload;
                (u32::try_from(bytes.div_ceil(payload)).unwrap_or(u32::MAX), last as u16)
            }
        };
        Self {
            subflows: first..first + new.ways.len() as u32,
            shape,
            total,
            last_payload: last,
            set_up: new.set_up,
            next: 0,
            una: 0,
            window: u32::try_from(new.buffer / payload).unwrap_or(u32::MAX).max(1),
            again: VecDeque::new(),
            buffers: new.buffers(),
            look: Picos::NEVER,
            arrivals: Arrivals::new(),
            finished: None,
        }
    }

    /// The size of the frame with a segment, in bytes.
    pub(crate) const fn frame(&self, dsn: u32) -> u16 {
        let payload = if dsn + 1 == self.total { self.last_payload } else { self.shape.payload };
        payload + self.shape.headers
    }

    /// The next data to send; if it may be lost, on another subflow than before.
    pub(crate) fn take_next(&mut self) -> Option<u32> {
        while let Some(dsn) = self.again.pop_front() {
            if dsn >= self.una {
                return Some(dsn);
            }
        }
        let fits = self.next < self.total && self.next - self.una < self.window;
        fits.then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Queues data of a subflow that may be dead for another one, as far as the receiver lacks it.
    pub(crate) fn send_elsewhere(&mut self, lost: impl Iterator<Item = u32>) {
        let mut again: Vec<_> = self.again.drain(..).chain(lost).filter(|dsn| *dsn >= self.una).collect();
        again.sort_unstable();
        again.dedup();
        self.again = again.into();
    }

    /// Whether data waits for room at the receiver.
    pub(crate) const fn is_blocked(&self) -> bool {
        self.next < self.total && self.next - self.una >= self.window
    }

    /// The bytes of data that the receiver has without a gap.
    pub(crate) fn delivered(&self) -> u64 {
        let segments = self.arrivals.next();
        let all = u64::from(segments) * u64::from(self.shape.payload);
        let short = u64::from(self.shape.payload - self.last_payload);
        if segments == self.total { all - short } else { all }
    }
}

impl Subflow {
    pub(crate) fn new(connection: u32, forward: u32, back: u32, new: &NewConnection) -> Self {
        Self {
            connection,
            status: Status::Waiting,
            forward,
            back,
            sender: Sender::default(),
            governor: new.control.governor(),
            receiver: Receiver::default(),
            resume: None,
            queue: WriteQueue::new(new.shape().payload),
            looks: [Picos::NEVER; 3],
        }
    }
}
