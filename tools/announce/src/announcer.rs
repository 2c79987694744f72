//! Placement of a command's connections on assigned paths, and release of the assignments.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_api::{Assignment, Connection, NewAssignment, Requester};
use braid_assign::Distribution;
use braid_types::FiveTuple;

/// A controller that assigns paths.
pub trait Controller {
    /// The error of a request.
    type Error;

    /// Assigns paths.
    ///
    /// # Errors
    ///
    /// The controller cannot be reached, or refuses the request.
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

/// The assignment whose paths connections take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assigning {
    /// An existing assignment.
    Given(String),
    /// A new assignment for each pair of hosts.
    ByHost {
        /// Number of paths of each assignment.
        paths: u8,
        /// Number of connections that will open, if known.
        streams: Option<u16>,
        /// How connections are distributed over the paths.
        distribution: Distribution,
    },
}

/// Announces connections to a controller before they open.
#[derive(Debug)]
pub struct Announcer<C> {
    controller: C,
    assigning: Assigning,
    owner: Option<String>,
    /// Assignments created here; `None` where creation failed.
    made: BTreeMap<(IpAddr, IpAddr), Option<String>>,
    placed: Vec<(String, FiveTuple)>,
}

impl<C: Controller> Announcer<C> {
    /// An announcer without announcements; `owner` is the owner of its assignments.
    pub const fn new(controller: C, assigning: Assigning, owner: Option<String>) -> Self {
        Self { controller, assigning, owner, made: BTreeMap::new(), placed: Vec::new() }
    }

    /// The connections with a path.
    pub fn placed(&self) -> impl Iterator<Item = &FiveTuple> {
        self.placed.iter().map(|(_, tuple)| tuple)
    }

    /// The controller.
    pub const fn controller(&self) -> &C {
        &self.controller
    }

    /// Has a connection placed. Without success it takes the default path.
    ///
    /// # Errors
    ///
    /// The controller cannot be reached, or refuses. A failed assignment is requested only once.
    pub fn announce(&mut self, tuple: FiveTuple) -> Result<(), C::Error> {
        let Some(id) = self.assignment(&tuple)? else { return Ok(()) };
        self.controller.place(&id, &Connection::new(&tuple, self.owner.clone()))?;
        self.placed.retain(|(_, known)| *known != tuple);
        self.placed.push((id, tuple));
        Ok(())
    }

    /// Releases the assignments created here.
    pub fn release(&self) {
        // An assignment that cannot be released now expires at the controller.
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
