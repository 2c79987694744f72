//! Which peers go on when a site gets another list of peers, and where they are in it.

use braid_types::Time;

use super::{Endpoint, Event, PathRef, Peer};
use crate::keys::PublicKey;

/// Another list of peers, and which of them go on.
#[derive(Debug)]
pub(crate) struct Renumbering<'a> {
    /// Each peer, with its place before if it goes on.
    peers: Vec<(&'a Peer, Option<usize>)>,
}

impl<'a> Renumbering<'a> {
    /// A peer with the key and the dials of one before goes on, unless `anew` has its key.
    pub(crate) fn new(before: &[Peer], after: &'a [Peer], anew: &[PublicKey]) -> Self {
        let goes_on = |peer: &Peer| !anew.contains(&peer.key);
        let place = |peer: &Peer| before.iter().position(|it| it == peer).filter(|_| goes_on(peer));
        Self { peers: after.iter().map(|peer| (peer, place(peer))).collect() }
    }

    /// What belongs to the peers, in their new order; it is made for those that begin anew.
    pub(crate) fn apply<T>(&self, items: Vec<T>, mut make: impl FnMut(&Peer) -> T) -> Vec<T> {
        let mut items: Vec<_> = items.into_iter().map(Some).collect();
        let item = |(peer, before): &(&Peer, Option<usize>)| {
            let kept = before.and_then(|before| items.get_mut(before)?.take());
            kept.unwrap_or_else(|| make(peer))
        };
        self.peers.iter().map(item).collect()
    }

    /// Where a path is now; `None` if its peer is gone or begins anew.
    pub(crate) fn path(&self, at: PathRef) -> Option<PathRef> {
        let place = self.peers.iter().position(|(_, before)| *before == Some(usize::from(at.peer)))?;
        Some(PathRef { peer: u16::try_from(place).ok()?, ..at })
    }

    /// Whether an event concerns a peer that goes on; then it names the peer's new place.
    pub(crate) fn follow(&self, event: &mut Event) -> bool {
        let (Event::Up(at)
        | Event::Down(at)
        | Event::Roamed(at, _)
        | Event::KeyConflict(at, _)
        | Event::Content(at, _)) = event;
        let now = self.path(*at);
        now.into_iter().for_each(|now| *at = now);
        now.is_some()
    }

    fn has_new(&self) -> bool {
        self.peers.iter().any(|(_, before)| before.is_none())
    }
}

impl Endpoint {
    /// Goes on with other peers. Sessions of peers that do not go on are forgotten.
    pub(crate) fn renumber(&mut self, now: Time, renumbering: &Renumbering<'_>) {
        self.peers.renumber(now, renumbering);
        self.events.retain_mut(|event| renumbering.follow(event));
        if renumbering.has_new() {
            // A path that begins anew does not know which initiations it has accepted: none from before may count.
            self.guard.forget_cookies();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Dial;

    fn peer(key: u8, uplink: u8) -> Peer {
        Peer { key: PublicKey([key; 32]), dials: vec![Dial { uplink, address: None }] }
    }

    #[test]
    fn peers_with_the_same_key_and_dials_go_on_wherever_they_are() {
        let before = [peer(1, 0), peer(2, 0), peer(3, 0), peer(4, 0)];
        let after = [peer(5, 0), peer(4, 0), peer(2, 1), peer(1, 0), peer(3, 0)];
        let renumbering = Renumbering::new(&before, &after, &[PublicKey([3; 32])]);
        let items = renumbering.apply(vec![10, 20, 30, 40], |peer| peer.key.0[0]);
        assert_eq!(items, [5, 40, 2, 10, 3]);
        let now = |peer| renumbering.path(PathRef { peer, path: 7 });
        let at = |peer| Some(PathRef { peer, path: 7 });
        assert_eq!([0, 1, 2, 3, 4].map(now), [at(3), None, None, at(1), None]);
        let (mut kept, mut gone) = (Event::Up(at(3).unwrap()), Event::Up(at(1).unwrap()));
        assert!(renumbering.follow(&mut kept) && !renumbering.follow(&mut gone));
        assert_eq!(kept, Event::Up(at(1).unwrap()));
        assert!(renumbering.has_new() && !Renumbering::new(&before, &before, &[]).has_new());
    }
}
