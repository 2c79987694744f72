//! Connections and subflows: what they carry, their routes, scheduler and state.

use std::collections::VecDeque;
use std::ops::Range;

use super::buffers::Buffers;
use super::write_queue::WriteQueue;
use super::{Arrivals, LinkId, Picos};
use crate::Control;
use crate::transport::{Governor, Receiver, Sender};

/// How much a connection carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// More than there is time for.
    Endless,
    /// So many bytes; none are as good as one.
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
    /// The way of each subflow, the first one's first, 1 to [`Self::MAX_SUBFLOWS`]; more than one make it MPTCP.
    pub ways: Vec<Way>,
    /// What it carries.
    pub amount: Amount,
    /// How the windows change.
    pub control: Control,
    /// How long a subflow's first packet waits for the controller.
    pub set_up: Picos,
    /// The most that may be under way or wait for its turn at the receiver, in bytes.
    pub buffer: u64,
    /// How MPTCP chooses subflows.
    pub scheduler: Scheduler,
    /// The longest packet, in bytes, up to [`Self::MOST_MTU`].
    pub mtu: u16,
}

/// How an MPTCP connection gives its data to subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// A segment belongs to no subflow before it leaves, on the one with the least round-trip time of those with room. What was
    /// under way on a subflow that timed out goes out on another at once.
    #[default]
    LowestRtt,
    /// Linux (6.18): subflows get bursts of data into queues of their own, far ahead, and keep it; an autotuned receive buffer.
    Linux,
}

/// What a segment and an acknowledgement look like on the wire, in bytes.
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
    /// Segments in all, and the payload of the last one.
    pub(crate) total: u32,
    pub(crate) last_payload: u16,
    pub(crate) set_up: Picos,
    /// The sender's: the next that has not been sent, and the first that is not acknowledged.
    pub(crate) next: u32,
    pub(crate) una: u32,
    /// Segments that the receiver has room for beyond `una`.
    pub(crate) window: u32,
    /// Sent on a subflow that may be dead: to be sent on another.
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
    /// The places of its ways in the table of routes.
    pub(crate) forward: u32,
    pub(crate) back: u32,
    pub(crate) sender: Sender,
    pub(crate) governor: Governor,
    pub(crate) receiver: Receiver,
    /// When the sender's interface has room again, if it waits for that.
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
    /// The answer has come.
    Open,
    /// The host has ended it.
    Closed,
}

impl Shape {
    /// Ethernet, IPv4 and TCP with time stamps, at the usual MTU of 1,500; `data` comes with its sequence and acknowledgement.
    const TCP: Self = Self { payload: 1_448, headers: 66, acknowledgement: 66 };
    const MPTCP: Self = Self { payload: 1_428, headers: 86, acknowledgement: 78 };
    const ETHERNET: u16 = 14;
    /// What every host takes: RFC 791.
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
    /// The buffer where nothing else is said: more than any window gets here.
    pub const BUFFER: u64 = 64 << 20;

    /// The longest packet where nothing else is said.
    pub const MTU: u16 = 1_500;
    /// The longest packet that there may be.
    pub const MOST_MTU: u16 = 9_216;

    /// The data in a full frame of a connection with so many subflows, of the whole frame.
    pub fn payload_share(subflows: usize) -> f64 {
        let Shape { payload, headers, .. } = Shape::of(subflows);
        f64::from(payload) / f64::from(payload + headers)
    }

    /// Plain TCP, which no controller delays.
    pub fn tcp(forward: Vec<LinkId>, back: Vec<LinkId>, amount: Amount, control: Control) -> Self {
        Self::mptcp(vec![Way { forward, back }], amount, control)
    }

    /// MPTCP over these ways, which no controller delays.
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
        Shape::of(self.ways.len()).with_mtu(self.mtu.min(Self::MOST_MTU))
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

    /// Bytes of the frame that carries a segment.
    pub(crate) const fn frame(&self, dsn: u32) -> u16 {
        let payload = if dsn + 1 == self.total { self.last_payload } else { self.shape.payload };
        payload + self.shape.headers
    }

    /// The next data to send, on another subflow than before if it may be lost.
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

    /// Data that was sent on a subflow that may be dead: another one is to carry what the receiver still lacks.
    pub(crate) fn send_elsewhere(&mut self, lost: impl Iterator<Item = u32>) {
        let mut again: Vec<_> = self.again.drain(..).chain(lost).filter(|dsn| *dsn >= self.una).collect();
        again.sort_unstable();
        again.dedup();
        self.again = again.into();
    }

    /// Whether there is data that may not be sent before the receiver has room.
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
