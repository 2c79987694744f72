//! The peers of an endpoint, their paths, and the names of sessions.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::Time;

use super::{Dial, MAX_PATHS, PathRef, Peer, Renumbering};
use crate::cookie;
use crate::keys::PublicKey;
use crate::path::Path;

/// All peers, and which path each session that the other ends name belongs to.
pub(super) struct Peers {
    own: PublicKey,
    states: Vec<PeerState>,
    names: BTreeMap<u32, PathRef>,
}

struct PeerState {
    key: PublicKey,
    /// The key of what proves that an initiation is meant for the peer.
    greeting: [u8; 32],
    paths: Vec<Path>,
}

impl Peers {
    pub(super) fn new(now: Time, own: PublicKey, peers: &[Peer]) -> Self {
        Self {
            own,
            states: peers.iter().map(|peer| PeerState::new(now, peer)).collect(),
            names: BTreeMap::new(),
        }
    }

    /// Has other peers. Those that do not go on lose their paths, and sessions their names.
    pub(super) fn renumber(&mut self, now: Time, renumbering: &Renumbering<'_>) {
        self.states = renumbering.apply(std::mem::take(&mut self.states), |peer| PeerState::new(now, peer));
        let names = std::mem::take(&mut self.names).into_iter();
        self.names = names.filter_map(|(name, at)| Some((name, renumbering.path(at)?))).collect();
    }

    /// Every path of every peer.
    pub(super) fn all_paths(&self) -> Vec<PathRef> {
        let peers = (0..).zip(&self.states);
        let paths = |(peer, state): (u16, &PeerState)| {
            (0..).zip(&state.paths).map(move |(path, _)| PathRef { peer, path }).collect::<Vec<_>>()
        };
        peers.flat_map(paths).collect()
    }

    /// The paths by an uplink.
    pub(super) fn by_uplink(&mut self, uplink: u8) -> impl Iterator<Item = &mut Path> {
        let paths = self.states.iter_mut().flat_map(|peer| &mut peer.paths);
        paths.filter(move |path| path.uplink == uplink)
    }

    /// Whether some peer was last heard at this address.
    pub(super) fn are_at(&self, address: IpAddr) -> bool {
        let mut paths = self.states.iter().flat_map(|peer| &peer.paths);
        paths.any(|path| path.remote.is_some_and(|remote| remote.ip() == address))
    }

    /// The paths of a peer.
    pub(super) fn paths(&self, peer: u16) -> &[Path] {
        self.states.get(usize::from(peer)).map(|peer| peer.paths.as_slice()).unwrap_or_default()
    }

    pub(super) fn path(&self, at: PathRef) -> Option<&Path> {
        self.states.get(usize::from(at.peer))?.paths.get(usize::from(at.path))
    }

    pub(super) fn path_mut(&mut self, at: PathRef) -> Option<&mut Path> {
        self.states.get_mut(usize::from(at.peer))?.paths.get_mut(usize::from(at.path))
    }

    /// A path, with what its handshakes need of its peer: the key, and the greeting.
    pub(super) fn with_peer(&mut self, at: PathRef) -> Option<(&mut Path, PublicKey, [u8; 32])> {
        let peer = self.states.get_mut(usize::from(at.peer))?;
        Some((peer.paths.get_mut(usize::from(at.path))?, peer.key, peer.greeting))
    }

    /// The path with this number that `key` dials, which is made at its first handshake.
    pub(super) fn accepting_path(
        &mut self,
        now: Time,
        key: &PublicKey,
        number: u8,
        uplink: u8,
    ) -> Option<PathRef> {
        let place = self.states.iter().position(|peer| peer.key == *key)?;
        let paths = &mut self.states.get_mut(place)?.paths;
        let known = paths.iter().position(|path| !path.is_dialled_here && path.number == number);
        let path = match known {
            Some(path) => path,
            None if paths.len() < MAX_PATHS => {
                let new = paths.len();
                paths.push(Path::new(now, number, uplink));
                new
            }
            None => return None,
        };
        Some(PathRef { peer: u16::try_from(place).ok()?, path: u8::try_from(path).ok()? })
    }

    /// Where both ends dial, the one with the greater key stops as soon as it is reached.
    pub(super) fn may_dial(&self, at: PathRef) -> bool {
        let Some(peer) = self.states.get(usize::from(at.peer)) else { return false };
        let dials = peer.paths.get(usize::from(at.path)).is_some_and(|path| path.is_dialled_here);
        let is_reached = || peer.paths.iter().any(|path| !path.is_dialled_here && path.is_up());
        dials && !(self.own > peer.key && is_reached())
    }

    /// The path of the session with this name.
    pub(super) fn named(&self, name: u32) -> Option<PathRef> {
        self.names.get(&name).copied()
    }

    /// Names a session of a path; sessions that the path has no more lose their names.
    pub(super) fn set_name(&mut self, name: u32, at: PathRef) {
        self.names.insert(name, at);
        self.forget_names(at);
    }

    /// A path has dropped sessions.
    pub(super) fn forget_names(&mut self, at: PathRef) {
        let Some(path) = self.path(at) else { return };
        let live: Vec<u32> = path.names().collect();
        self.names.retain(|name, owner| *owner != at || live.contains(name));
    }

    /// A name that no session has, of those that `random` gives.
    pub(super) fn free_name(&self, mut random: impl FnMut() -> u32) -> u32 {
        loop {
            let name = random();
            if !self.names.contains_key(&name) {
                return name;
            }
        }
    }
}

impl PeerState {
    fn new(now: Time, peer: &Peer) -> Self {
        let dials = (0..).zip(peer.dials.iter().take(MAX_PATHS));
        let path = |(number, dial): (u8, &Dial)| Path::dialling(now, number, dial);
        Self { key: peer.key, greeting: cookie::greeting_key(&peer.key), paths: dials.map(path).collect() }
    }
}
