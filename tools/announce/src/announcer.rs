//! Has connections placed on paths that are set aside, and gives the paths back.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_api::{Assignment, Connection, NewAssignment, Requester};
use braid_assign::Distribution;
use braid_types::FiveTuple;

/// A controller that sets paths aside.
pub trait Controller {
    /// Why it did not do what it was asked for.
    type Error;

    /// Sets paths aside.
    ///
    /// # Errors
    ///
    /// The controller cannot be reached, or refuses; as of the other methods.
    fn assign(&self, wanted: &NewAssignment) -> Result<Assignment, Self::Error>;

    /// Places a connection of an assignment on a path.
    ///
    /// # Errors
    ///
    /// As of [`assign`](Self::assign).
    fn place(&self, assignment: &str, connection: &Connection) -> Result<(), Self::Error>;

    /// Ends a connection of an assignment.
    ///
    /// # Errors
    ///
    /// As of [`assign`](Self::assign).
    fn end(&self, assignment: &str, connection: &Connection) -> Result<(), Self::Error>;

    /// Releases an assignment.
    ///
    /// # Errors
    ///
    /// As of [`assign`](Self::assign).
    fn release(&self, assignment: &str, requester: &Requester) -> Result<(), Self::Error>;
}

/// Whose paths connections take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assigning {
    /// This assignment's.
    Given(String),
    /// Those of an assignment that is made for each pair of hosts.
    ByHost {
        /// How many paths each has.
        paths: u8,
        /// How many connections will open, if that is known.
        streams: Option<u16>,
        /// How they are distributed over the paths.
        distribution: Distribution,
    },
}

/// Tells a controller of connections before they open.
#[derive(Debug)]
pub struct Announcer<C> {
    controller: C,
    assigning: Assigning,
    owner: Option<String>,
    /// Assignments that were made here; `None` where there could not be one.
    made: BTreeMap<(IpAddr, IpAddr), Option<String>>,
    placed: Vec<(String, FiveTuple)>,
}

impl<C: Controller> Announcer<C> {
    /// Nothing is announced yet; `owner` is whose the assignments are.
    pub const fn new(controller: C, assigning: Assigning, owner: Option<String>) -> Self {
        Self { controller, assigning, owner, made: BTreeMap::new(), placed: Vec::new() }
    }

    /// The connections that have a path.
    pub fn placed(&self) -> impl Iterator<Item = &FiveTuple> {
        self.placed.iter().map(|(_, tuple)| tuple)
    }

    /// Who is told.
    pub const fn controller(&self) -> &C {
        &self.controller
    }

    /// Has a connection placed; without success it goes the way of all others.
    ///
    /// # Errors
    ///
    /// The controller could not be asked, or refused. An assignment that could not be made is asked for once.
    pub fn announce(&mut self, tuple: FiveTuple) -> Result<(), C::Error> {
        let Some(id) = self.assignment(&tuple)? else { return Ok(()) };
        self.controller.place(&id, &Connection::new(&tuple, self.owner.clone()))?;
        self.placed.retain(|(_, known)| *known != tuple);
        self.placed.push((id, tuple));
        Ok(())
    }

    /// Gives back what was set aside here.
    pub fn release(&self) {
        // What does not reach the controller now ends there by itself.
        for (id, tuple) in &self.placed {
            drop(self.controller.end(id, &Connection::new(tuple, self.owner.clone())));
        }
        for id in self.made.values().flatten() {
            drop(self.controller.release(id, &Requester { owner: self.owner.clone() }));
        }
    }

    fn assignment(&mut self, tuple: &FiveTuple) -> Result<Option<String>, C::Error> {
        let (paths, streams, distribution) = match &self.assigning {
            Assigning::Given(id) => return Ok(Some(id.clone())),
            Assigning::ByHost { paths, streams, distribution } => (*paths, *streams, *distribution),
        };
        let hosts = (tuple.src, tuple.dst);
        if let Some(known) = self.made.get(&hosts) {
            return Ok(known.clone());
        }
        let wanted = NewAssignment {
            streams: streams.map(usize::from),
            owner: self.owner.clone(),
            distribution: Some(distribution.to_string()),
            ..NewAssignment::between(tuple.src, tuple.dst, paths.into())
        };
        let made = self.controller.assign(&wanted).map(|assignment| assignment.id);
        self.made.insert(hosts, made.as_ref().ok().cloned());
        made.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use braid_types::Time;

    use super::*;

    /// Answers with the number of the question, and refuses what it is to.
    #[derive(Default)]
    struct Fake {
        asked: RefCell<Vec<String>>,
        refused: &'static str,
    }

    impl Fake {
        fn ask(&self, question: &str, owner: Option<&str>) -> Result<usize, String> {
            let number = self.asked.borrow().len();
            self.asked.borrow_mut().push(format!("{question} {}", owner.unwrap_or("-")));
            if question == self.refused { Err("no".into()) } else { Ok(number) }
        }
    }

    impl Controller for Fake {
        type Error = String;

        fn assign(&self, wanted: &NewAssignment) -> Result<Assignment, String> {
            let number = self.ask("assign", wanted.owner.as_deref())?;
            Ok(Assignment {
                id: number.to_string(),
                owner: String::new(),
                src: wanted.src,
                dst: wanted.dst,
                requested_paths: wanted.paths,
                expected_streams: wanted.streams,
                distribution: String::new(),
                opened_at: Time::ZERO,
                expires_at: Time::ZERO,
                placed_streams: 0,
                paths: Vec::new(),
            })
        }

        fn place(&self, assignment: &str, connection: &Connection) -> Result<(), String> {
            self.ask(&format!("place {assignment}"), connection.owner.as_deref()).map(drop)
        }

        fn end(&self, assignment: &str, connection: &Connection) -> Result<(), String> {
            self.ask(&format!("end {assignment}"), connection.owner.as_deref()).map(drop)
        }

        fn release(&self, assignment: &str, requester: &Requester) -> Result<(), String> {
            self.ask(&format!("release {assignment}"), requester.owner.as_deref()).map(drop)
        }
    }

    fn by_host(refused: &'static str) -> Announcer<Fake> {
        let assigning = Assigning::ByHost { paths: 2, streams: Some(3), distribution: Distribution::Weight };
        Announcer::new(Fake { refused, ..Fake::default() }, assigning, Some("me".to_owned()))
    }

    fn connection(dst: u8, src_port: u16) -> FiveTuple {
        FiveTuple { src: [10, 0, 0, 1].into(), dst: [10, 0, 0, dst].into(), src_port, dst_port: 21 }
    }

    #[test]
    fn connections_of_a_pair_of_hosts_share_an_assignment_and_all_is_given_back() {
        let mut announcer = by_host("");
        for tuple in [connection(2, 1_000), connection(2, 1_001), connection(3, 1_002)] {
            announcer.announce(tuple).unwrap();
        }
        assert_eq!(announcer.placed().count(), 3);
        announcer.release();
        let asked = announcer.controller().asked.borrow().join("\n");
        let streams = |method| ["0", "0", "3"].map(|id| format!("{method} {id} me"));
        let [one, two, three] = streams("place");
        let made = "assign me";
        let ended = streams("end").join("\n");
        let released = "release 0 me\nrelease 3 me";
        assert_eq!(asked, format!("{made}\n{one}\n{two}\n{made}\n{three}\n{ended}\n{released}"));
    }

    #[test]
    fn a_refused_assignment_is_asked_for_once() {
        let mut announcer = by_host("assign");
        assert_eq!(announcer.announce(connection(2, 1_000)), Err("no".to_owned()));
        assert_eq!(announcer.announce(connection(2, 1_001)), Ok(()));
        assert_eq!((announcer.placed().count(), announcer.controller().asked.borrow().len()), (0, 1));
    }

    #[test]
    fn connections_that_were_not_placed_are_not_given_back() {
        let assigning = Assigning::Given("7".to_owned());
        let mut announcer = Announcer::new(Fake { refused: "place 7", ..Fake::default() }, assigning, None);
        assert!(announcer.announce(connection(2, 1_000)).is_err());
        announcer.release();
        assert_eq!(*announcer.controller().asked.borrow(), ["place 7 -"]);
    }
}
