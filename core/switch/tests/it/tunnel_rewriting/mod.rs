//! TCP through tunnels with the tunnels' addresses: two edges agree on it, and packets come out as they went in.

mod agreement;
mod failures;

use std::time::Duration;

use braid_packet::{TcpFlags, build};
use braid_switch::{Arrival, Packet, Uplinks};
use braid_types::{FiveTuple, Time};

use crate::bench::{NOW, tuple};
use crate::uplinks::{PORT, rewriting};

/// Two edges, and the frames between them.
struct Pair {
    near: Uplinks,
    far: Uplinks,
    now: Time,
    /// What goes to this port is lost on the way unless it is in GRE.
    firewall: Option<u16>,
    /// The frames of the near edge that reached the other, and what came out there.
    crossed: Vec<Packet>,
    out: Vec<Packet>,
}

impl Pair {
    fn new(near: Uplinks, far: Uplinks) -> Self {
        Self { near, far, now: NOW, firewall: None, crossed: Vec::new(), out: Vec::new() }
    }

    /// Two edges that know of each other that they rewrite.
    fn agreed(v6: bool) -> Self {
        let mut pair = Self::new(rewriting(v6, false), rewriting(v6, true));
        pair.later(Duration::ZERO);
        pair
    }

    fn later(&mut self, time: Duration) {
        self.now = self.now + time;
        self.near.handle_timeout(self.now);
        self.far.handle_timeout(self.now);
        self.exchange();
    }

    /// Sends a packet from the near edge; what came out of the far one.
    fn send(&mut self, packet: Packet) -> Vec<Packet> {
        self.crossed.clear();
        self.out.clear();
        assert!(self.near.send(self.now, PORT, packet));
        self.exchange();
        std::mem::take(&mut self.out)
    }

    fn exchange(&mut self) {
        loop {
            let there: Vec<_> = self.near.poll_packets().map(|(_, packet)| packet).collect();
            let back: Vec<_> = self.far.poll_packets().map(|(_, packet)| packet).collect();
            if there.is_empty() && back.is_empty() {
                return;
            }
            let passes = |it: &Packet| is_gre(it) || self.firewall.is_none_or(|port| !goes_to(it, port));
            for packet in there.into_iter().filter(passes) {
                self.crossed.push(packet.clone());
                if let Arrival::Inner(PORT, inner) = self.far.handle_packet(self.now, 0, packet) {
                    self.out.push(inner);
                }
            }
            for packet in back {
                self.near.handle_packet(self.now, 0, packet);
            }
        }
    }

    /// Whether the last packet crossed in GRE, as notices do.
    fn was_in_gre(&self) -> bool {
        self.crossed.iter().all(is_gre)
    }

    /// Sends a packet 100 ms later; whether it came out as it went in.
    fn passes(&mut self, packet: &Packet) -> bool {
        self.now = self.now + Duration::from_millis(100);
        self.send(packet.clone()) == std::slice::from_ref(packet)
    }
}

fn is_gre(packet: &Packet) -> bool {
    let at = if packet.data[12..14] == [8, 0] { 23 } else { 20 };
    packet.data[at] == 47
}

/// Whether a packet of TCP over IPv4 goes to a port.
fn goes_to(packet: &Packet, port: u16) -> bool {
    packet.data[12..14] == [8, 0] && packet.data[36..38] == port.to_be_bytes()
}

fn connection(v6: bool) -> FiveTuple {
    if v6 { tuple("fd00::1", "fd00::2") } else { tuple("10.0.0.1", "10.0.0.2") }
}

fn segment(tuple: FiveTuple, seq: u32, payload: usize) -> Packet {
    let frame = build::tcp(tuple).flags(TcpFlags::ACK).numbers(seq, 1);
    Packet::complete(frame.payload(&vec![seq as u8; payload]).frame())
}

fn syn(tuple: FiveTuple, mss: u16) -> Packet {
    let [high, low] = mss.to_be_bytes();
    Packet::complete(build::tcp(tuple).flags(TcpFlags::SYN).options(&[2, 4, high, low]).frame())
}
