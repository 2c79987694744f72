//! Host names of peers. They are resolved while a path that needs them is down: at first, and when its peer may have moved.
//!
//! The system's resolver waits, so it has a thread of its own.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use braid_tunnel::PathRef;
use braid_types::{Backoff, Time};

use crate::config::{Destination, PeerConfig};
use crate::error::SiteError;

/// The waits between two questions for a name whose paths stay down.
const WAITS: Backoff = Backoff::between(Duration::from_secs(5), Duration::from_secs(60));

type Resolver = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// The names of all peers, and the questions that are open.
pub(crate) struct Names {
    names: Vec<Name>,
    questions: SyncSender<Question>,
    answers: Receiver<Answer>,
}

/// A name, and the paths that lead there.
struct Name {
    host: String,
    port: u16,
    paths: Vec<PathRef>,
    is_asked: bool,
    next: Time,
    /// The last wait; `None` before the first question since a path was up.
    wait: Option<Duration>,
    /// How often there was an answer: of several addresses, each has its turn.
    turn: usize,
    last: Option<SocketAddr>,
}

struct Question {
    name: usize,
    host: String,
    port: u16,
}

struct Answer {
    name: usize,
    addresses: io::Result<Vec<SocketAddr>>,
}

impl Names {
    pub(crate) fn new(peers: &[PeerConfig]) -> Result<Self, SiteError> {
        Self::with(peers, |host, port| (host, port).to_socket_addrs().map(Iterator::collect))
    }

    fn with(peers: &[PeerConfig], resolver: Resolver) -> Result<Self, SiteError> {
        let names = names_of(peers);
        let (questions, asked) = sync_channel(names.len().max(1));
        let (answered, answers) = sync_channel(names.len().max(1));
        if !names.is_empty() {
            let thread = std::thread::Builder::new().name("names".to_owned());
            let spawned = thread.spawn(move || answer(resolver, &asked, &answered));
            spawned.map_err(|error| SiteError::system("beginning the thread that resolves names", error))?;
        }
        Ok(Self { names, questions, answers })
    }

    /// Asks for names whose paths are down, and gives the addresses that have come for such paths.
    pub(crate) fn look(&mut self, now: Time, is_up: impl Fn(PathRef) -> bool) -> Vec<(PathRef, SocketAddr)> {
        let mut found = Vec::new();
        while let Ok(Answer { name, addresses }) = self.answers.try_recv() {
            let Some(name) = self.names.get_mut(name) else { continue };
            if let Some(address) = name.handle_answer(addresses) {
                let down = name.paths.iter().filter(|at| !is_up(**at));
                found.extend(down.map(|at| (*at, address)));
            }
        }
        for (number, name) in self.names.iter_mut().enumerate() {
            if name.paths.iter().all(|at| is_up(*at)) {
                (name.wait, name.next) = (None, now);
            } else if name.next <= now && !name.is_asked {
                let question = Question { name: number, host: name.host.clone(), port: name.port };
                name.is_asked = self.questions.try_send(question).is_ok();
                let wait = WAITS.after(name.wait);
                (name.wait, name.next) = (Some(wait), now + wait);
            }
        }
        found
    }
}

impl Name {
    /// The address to dial next.
    fn handle_answer(&mut self, addresses: io::Result<Vec<SocketAddr>>) -> Option<SocketAddr> {
        self.is_asked = false;
        let addresses = match addresses {
            Ok(addresses) => addresses,
            Err(error) => {
                tracing::warn!(host = self.host, %error, "this name of a peer leads nowhere; trying again");
                return None;
            }
        };
        let place = self.turn.checked_rem(addresses.len())?;
        self.turn = self.turn.wrapping_add(1);
        let address = addresses.get(place).copied()?;
        if self.last.replace(address) != Some(address) {
            tracing::info!(host = self.host, %address, "a peer's name leads to this address");
        }
        Some(address)
    }
}

/// Each name once, with all paths that lead there.
fn names_of(peers: &[PeerConfig]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for (peer, config) in (0..).zip(peers) {
        for (path, dial) in (0..).zip(&config.dials) {
            let Destination::Name { host, port } = &dial.to else { continue };
            let at = PathRef { peer, path };
            match names.iter_mut().find(|name| name.host == *host && name.port == *port) {
                Some(known) => known.paths.push(at),
                None => names.push(Name {
                    host: host.clone(),
                    port: *port,
                    paths: vec![at],
                    is_asked: false,
                    next: Time::ZERO,
                    wait: None,
                    turn: 0,
                    last: None,
                }),
            }
        }
    }
    names
}

/// Answers until nobody asks any more.
fn answer(resolver: Resolver, questions: &Receiver<Question>, answers: &SyncSender<Answer>) {
    while let Ok(Question { name, host, port }) = questions.recv() {
        let answer = Answer { name, addresses: resolver(&host, port) };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_tunnel::PrivateKey;

    use super::*;
    use crate::config::DialConfig;

    const FIRST: PathRef = PathRef { peer: 0, path: 0 };
    const SECOND: PathRef = PathRef { peer: 0, path: 2 };

    fn two() -> Vec<SocketAddr> {
        ["192.0.2.9:7", "[2001:db8::1]:7"].map(|it| it.parse().unwrap()).to_vec()
    }

    /// The names of a peer with two paths to a name and one to an address.
    fn names(resolver: Resolver) -> Names {
        let host = "box.example.org".to_owned();
        let named = |uplink| DialConfig { uplink, to: Destination::Name { host: host.clone(), port: 7 } };
        let known = DialConfig { uplink: 1, to: Destination::Address("192.0.2.1:7".parse().unwrap()) };
        let key = PrivateKey::new([1; 32]).public();
        let dials = vec![named(0), known, named(1)];
        Names::with(&[PeerConfig { name: "branch".to_owned(), key, dials, networks: vec![] }], resolver)
            .unwrap()
    }

    /// What a look at this second gives, once what it asks is answered; and whether it has asked.
    fn look(
        names: &mut Names,
        second: u64,
        is_up: impl Fn(PathRef) -> bool + Copy,
    ) -> (Vec<(PathRef, SocketAddr)>, bool) {
        let now = Time::from_millis(1_000 * second);
        let mut found = names.look(now, is_up);
        let has_asked = names.names[0].is_asked;
        while names.names[0].is_asked {
            found.extend(names.look(now, is_up));
            std::thread::yield_now();
        }
        (found, has_asked)
    }

    #[test]
    fn a_name_is_resolved_once_for_all_its_paths_and_again_only_while_one_is_down() {
        let mut names = names(|_, _| Ok(two()));
        assert_eq!(look(&mut names, 0, |_| false), (vec![(FIRST, two()[0]), (SECOND, two()[0])], true));
        assert!(!look(&mut names, 4, |_| false).1, "not so soon");
        assert!(!look(&mut names, 1_000, |_| true).1, "it is reached");
        let found = look(&mut names, 1_001, |at| at == FIRST);
        assert_eq!(found, (vec![(SECOND, two()[1])], true), "its other address has its turn");
    }

    #[test]
    fn a_name_that_leads_nowhere_is_asked_again_more_and_more_seldom() {
        let mut names = names(|_, _| Err(io::Error::other("no such name")));
        let asked: Vec<u64> = (0..300).filter(|second| look(&mut names, *second, |_| false).1).collect();
        assert_eq!(asked, [0, 5, 15, 35, 75, 135, 195, 255]);
        assert_eq!(names.names[0].handle_answer(Ok(vec![])), None);
    }
}
