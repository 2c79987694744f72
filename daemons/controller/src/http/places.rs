//! Places for connections of API clients, by address and network. Clients that have shown no right to anything give way to
//! newer ones.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::peer_limit::{PeerCounts, PeerLimits};

/// Connections of clients that were not given anything yet.
const UNPROVEN: PeerLimits = PeerLimits { address: 64, prefix: 256, loopback: 1_024, total: 1_024 };
/// Connections of clients that were. One more than that can still be closed for a newer one.
const PROVEN: PeerLimits = PeerLimits { address: 256, prefix: 512, loopback: 1_024, total: 2_048 };

/// The places of all listeners.
#[derive(Clone, Debug)]
pub(super) struct Places(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    unproven: PeerCounts,
    proven: PeerCounts,
    /// How to end connections without proof, by address and in the order in which they began.
    waiting: BTreeMap<(IpAddr, u64), oneshot::Sender<()>>,
    /// The others, which nobody ends.
    kept: BTreeMap<u64, oneshot::Sender<()>>,
    /// The number of each connection.
    numbers: BTreeMap<SocketAddr, u64>,
    last: u64,
}

/// The place of one connection, free once it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    peer: SocketAddr,
    number: u64,
    evicted: oneshot::Receiver<()>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            unproven: PeerCounts::new(UNPROVEN),
            proven: PeerCounts::new(PROVEN),
            waiting: BTreeMap::new(),
            kept: BTreeMap::new(),
            numbers: BTreeMap::new(),
            last: 0,
        })))
    }

    /// A place for a new connection. If all are taken, the oldest connection without proof ends, of whoever has most of them.
    pub(super) fn take(&self, peer: SocketAddr) -> Place {
        let address = peer.ip().to_canonical();
        let (evict, evicted) = oneshot::channel();
        let mut state = self.lock();
        state.make_room(address);
        state.last += 1;
        let number = state.last;
        state.unproven.add(address);
        state.waiting.insert((address, number), evict);
        state.numbers.insert(peer, number);
        drop(state);
        Place { places: self.clone(), peer, number, evicted }
    }

    /// The client at the other end was given what it asked for: its connection gives way to nobody from now on.
    pub(super) fn prove(&self, peer: SocketAddr) {
        self.lock().prove(peer);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn make_room(&mut self, address: IpAddr) {
        let Err(error) = self.unproven.check(address) else { return };
        let Some(heaviest) = self.unproven.heaviest(address, error) else { return };
        let oldest = self.waiting.range((heaviest, 0)..).next().map(|(key, _)| *key);
        if let Some(evict) = oldest.and_then(|key| self.waiting.remove(&key)) {
            self.unproven.remove(heaviest);
            // The connection may be closing already.
            let _ = evict.send(());
        }
    }

    fn prove(&mut self, peer: SocketAddr) {
        let address = peer.ip().to_canonical();
        let Some(number) = self.numbers.get(&peer).copied() else { return };
        if self.proven.check(address).is_err() {
            return;
        }
        if let Some(evict) = self.waiting.remove(&(address, number)) {
            self.unproven.remove(address);
            self.proven.add(address);
            self.kept.insert(number, evict);
        }
    }

    fn leave(&mut self, peer: SocketAddr, number: u64) {
        let address = peer.ip().to_canonical();
        if self.waiting.remove(&(address, number)).is_some() {
            self.unproven.remove(address);
        } else if self.kept.remove(&number).is_some() {
            self.proven.remove(address);
        }
        // A new connection may have the same socket address by now.
        if self.numbers.get(&peer) == Some(&number) {
            self.numbers.remove(&peer);
        }
    }
}

impl Place {
    /// Ready once the connection has to end.
    pub(super) fn poll_evicted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.evicted).poll(context).map(|_| ())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().leave(self.peer, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(host: u32, port: usize) -> SocketAddr {
        SocketAddr::new(IpAddr::V4((0x0a00_0000 + host).into()), port as u16)
    }

    fn is_evicted(place: &mut Place) -> bool {
        place.evicted.try_recv().is_ok()
    }

    #[test]
    fn the_oldest_connection_of_an_address_gives_way_unless_it_is_proven() {
        let places = Places::new();
        let mut all: Vec<_> = (0..UNPROVEN.address).map(|port| places.take(peer(1, port))).collect();
        places.prove(peer(1, 0));
        all.push(places.take(peer(1, 100)));
        assert!(!all.iter_mut().any(is_evicted), "the proven one has left its place");
        all.push(places.take(peer(1, 101)));
        let evicted: Vec<_> = all.iter_mut().map(is_evicted).collect();
        assert_eq!(evicted.iter().position(|it| *it), Some(1));
        assert_eq!(evicted.iter().filter(|it| **it).count(), 1);
    }

    #[test]
    fn a_flood_from_many_networks_leaves_those_that_have_few() {
        let places = Places::new();
        let mut honest = places.take(peer(9, 1));
        let flood: Vec<_> =
            (0..4_000).map(|it| places.take(peer(0x1_0000 + it / 60 * 256, it as usize))).collect();
        assert!(!is_evicted(&mut honest));
        let state = places.lock();
        assert!(state.waiting.len() <= UNPROVEN.total);
        drop(state);
        drop(flood);
    }

    #[test]
    fn places_are_free_again_after_their_connections() {
        let places = Places::new();
        for port in 0..10_000 {
            let place = places.take(peer(1, port));
            if port % 2 == 0 {
                places.prove(peer(1, port));
            }
            drop(place);
        }
        let state = places.lock();
        assert!(state.waiting.is_empty() && state.kept.is_empty() && state.numbers.is_empty());
        assert!(state.unproven.check(peer(1, 1).ip()).is_ok() && state.proven.check(peer(1, 1).ip()).is_ok());
    }
}
