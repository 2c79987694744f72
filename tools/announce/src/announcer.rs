//! Placement of a command's connections on assigned paths, and release of the assignments.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_assign::DealBy;
use braid_types::FiveTuple;
use serde_json::{Value, json};

/// A controller's HTTP API.
pub trait Controller {
    /// The error of a request.
    type Error;

    /// Sends `body` with this method to `name`, relative to the API's root, and returns the response.
    ///
    /// # Errors
    ///
    /// The controller cannot be reached, or refuses the request.
    fn send(&self, method: &str, name: &str, body: &Value) -> Result<Value, Self::Error>;
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
        deal: DealBy,
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
        let body = self.with_owner(connection_body(&tuple));
        self.controller.send("POST", &format!("assignments/{id}/streams"), &body)?;
        self.placed.retain(|(_, known)| *known != tuple);
        self.placed.push((id, tuple));
        Ok(())
    }

    /// Releases the assignments created here.
    pub fn release(&self) {
        // An assignment that cannot be released now expires at the controller.
        for (id, tuple) in &self.placed {
            let body = self.with_owner(connection_body(tuple));
            drop(self.controller.send("DELETE", &format!("assignments/{id}/streams"), &body));
        }
        for id in self.made.values().flatten() {
            drop(self.controller.send("DELETE", &format!("assignments/{id}"), &self.with_owner(json!({}))));
        }
    }

    fn assignment(&mut self, tuple: &FiveTuple) -> Result<Option<String>, C::Error> {
        let (paths, streams, deal) = match &self.assigning {
            Assigning::Given(id) => return Ok(Some(id.clone())),
            Assigning::ByHost { paths, streams, deal } => (*paths, *streams, *deal),
        };
        let hosts = (tuple.src, tuple.dst);
        if let Some(known) = self.made.get(&hosts) {
            return Ok(known.clone());
        }
        let mut body = json!({ "src": tuple.src, "dst": tuple.dst, "paths": paths, "deal": deal });
        if let Some(streams) = streams {
            body["streams"] = json!(streams);
        }
        let made = self.controller.send("POST", "assignments", &self.with_owner(body));
        let id = |answer: &Value| answer["assignment"]["id"].as_str().map(str::to_owned);
        self.made.insert(hosts, made.as_ref().ok().and_then(id));
        made.map(|answer| id(&answer))
    }

    fn with_owner(&self, mut body: Value) -> Value {
        if let Some(owner) = &self.owner {
            body["owner"] = json!(owner);
        }
        body
    }
}

fn connection_body(tuple: &FiveTuple) -> Value {
    json!({ "src": tuple.src, "src_port": tuple.src_port, "dst": tuple.dst, "dst_port": tuple.dst_port })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Answers with the number of the question, and refuses what it is to.
    #[derive(Default)]
    struct Fake {
        asked: RefCell<Vec<String>>,
        refused: &'static str,
    }

    impl Controller for Fake {
        type Error = String;

        fn send(&self, method: &str, name: &str, body: &Value) -> Result<Value, String> {
            let number = self.asked.borrow().len();
            self.asked
                .borrow_mut()
                .push(format!("{method} {name} {}", body["owner"].as_str().unwrap_or("-")));
            if name == self.refused {
                Err("no".into())
            } else {
                Ok(json!({ "assignment": { "id": number.to_string() } }))
            }
        }
    }

    fn by_host(refused: &'static str) -> Announcer<Fake> {
        let assigning = Assigning::ByHost { paths: 2, streams: Some(3), deal: DealBy::Weight };
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
        let streams = |method| ["0", "0", "3"].map(|id| format!("{method} assignments/{id}/streams me"));
        let [one, two, three] = streams("POST");
        let made = "POST assignments me";
        let ended = streams("DELETE").join("\n");
        let released = "DELETE assignments/0 me\nDELETE assignments/3 me";
        assert_eq!(asked, format!("{made}\n{one}\n{two}\n{made}\n{three}\n{ended}\n{released}"));
    }

    #[test]
    fn a_refused_assignment_is_asked_for_once() {
        let mut announcer = by_host("assignments");
        assert_eq!(announcer.announce(connection(2, 1_000)), Err("no".to_owned()));
        assert_eq!(announcer.announce(connection(2, 1_001)), Ok(()));
        assert_eq!((announcer.placed().count(), announcer.controller().asked.borrow().len()), (0, 1));
    }

    #[test]
    fn connections_that_were_not_placed_are_not_given_back() {
        let assigning = Assigning::Given("7".to_owned());
        let mut announcer =
            Announcer::new(Fake { refused: "assignments/7/streams", ..Fake::default() }, assigning, None);
        assert!(announcer.announce(connection(2, 1_000)).is_err());
        announcer.release();
        assert_eq!(*announcer.controller().asked.borrow(), ["POST assignments/7/streams -"]);
    }
}
