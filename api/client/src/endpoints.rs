//! Requests that change something, and single values.

use std::collections::BTreeMap;

use braid_api::{
    Advice, AdviceRequest, Assigned, Assignment, Cluster, Connection, Done, Ended, HandOver, NewAssignment,
    NewLeader, Placed, PlacedStream, PortParameters, Requester, RulesParameters, TakeOver,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{Client, Error};

/// # Errors
///
/// Of each: there is no answer, or the controller refuses.
impl Client {
    /// Begins to measure the capacity of a link; when it began, on the controller's clock.
    pub fn measure(&self, port: &PortParameters) -> Result<Done, Error> {
        let PortParameters { dpid, port } = port;
        self.parse(&self.send("POST", &format!("/api/v1/links/measure?dpid={dpid}&port={}", port.0), "")?)
    }

    /// Claims the role of master of every connected switch.
    pub fn take_over(&self) -> Result<TakeOver, Error> {
        self.parse(&self.send("POST", "/api/v1/switches/take-over", "")?)
    }

    /// The rules in a switch, by its name or datapath id, or those of one table; a [`Rules`](braid_api::Rules) as text.
    pub fn rules_text(&self, switch: &str, parameters: &RulesParameters) -> Result<String, Error> {
        let switch = utf8_percent_encode(switch, NON_ALPHANUMERIC);
        self.get_text(&format!("switches/{switch}/rules"), parameters)
    }

    /// The cluster that the controller is a member of, as it sees it.
    pub fn cluster(&self) -> Result<Cluster, Error> {
        self.get("cluster", &())
    }

    /// Asks the leader of a cluster to hand over to a standby.
    pub fn hand_over(&self, wanted: &NewLeader) -> Result<HandOver, Error> {
        self.submit("POST", "cluster/hand-over", wanted)
    }

    /// Replaces the policy by the text of a policy file; the answer as text.
    pub fn set_policy(&self, text: &str) -> Result<String, Error> {
        self.send("PUT", "/api/v1/policy", text)
    }

    /// Sets paths aside.
    pub fn assign(&self, wanted: &NewAssignment) -> Result<Assignment, Error> {
        self.submit("POST", "assignments", wanted).map(|it: Assigned| it.assignment)
    }

    /// Releases an assignment.
    pub fn release(&self, assignment: &str, requester: &Requester) -> Result<Assignment, Error> {
        let answer = self.submit("DELETE", &format!("assignments/{assignment}"), requester);
        answer.map(|it: Assigned| it.assignment)
    }

    /// Places a connection that is about to open; its rules are in place then.
    pub fn place(&self, assignment: &str, connection: &Connection) -> Result<PlacedStream, Error> {
        let answer = self.submit("POST", &format!("assignments/{assignment}/streams"), connection);
        answer.map(|it: Placed| it.stream)
    }

    /// Ends a connection of an assignment.
    pub fn end(&self, assignment: &str, connection: &Connection) -> Result<(), Error> {
        let answer = self.submit("DELETE", &format!("assignments/{assignment}/streams"), connection);
        answer.map(|_: Ended| ())
    }

    /// Asks which subflows a connection of this host shall have; their rules are in place then.
    pub fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error> {
        self.submit("POST", "advice", request)
    }

    /// The metrics without labels, by name.
    pub fn totals(&self) -> Result<BTreeMap<String, f64>, Error> {
        let text = self.send("GET", "/metrics?totals=true", "")?;
        let values = text.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ').filter(|(name, _)| !name.contains(['{', '#']))?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        });
        Ok(values.collect())
    }

    /// The value of a metric without labels; `None` if there is no such metric.
    pub fn metric(&self, name: &str) -> Result<Option<f64>, Error> {
        let text = self.send("GET", "/metrics", "")?;
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(values.next().and_then(|value| value.trim().parse().ok()))
    }
}
