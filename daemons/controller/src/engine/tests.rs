//! Switches that leave while the controller runs and while it stops.

use braid_cluster::{MemberId, TermStamp};
use braid_control::SwitchPorts;

use super::*;

/// A switch without ports and groups, whose rules cannot be read.
pub(crate) fn blank_switch(dpid: DatapathId) -> SwitchPorts {
    SwitchPorts {
        dpid,
        tables: 254,
        description: String::new(),
        ports: Vec::new(),
        failover_groups: 0,
        select_groups: 0,
        installed: None,
    }
}

impl Engine {
    /// A blank switch connects and joins.
    pub(crate) fn join_blank(&mut self, dpid: DatapathId) {
        let (address, outbox) = (SocketAddr::from(([127, 0, 0, 1], 1)), Outbox::new(0, &Rc::default()));
        self.join(dpid, address, &outbox).expect("a new switch");
        self.handle(self.now(), &Event::SwitchUp(blank_switch(dpid)));
    }

    fn leave_blank(&mut self, dpid: DatapathId) {
        let outbox = self.switches.outbox(dpid).cloned().expect("it is there");
        self.leave(dpid, &outbox, false);
    }
}

#[test]
fn switches_that_leave_because_the_controller_stops_keep_their_rules() {
    let mut engine = Engine::new(Clock::start(), Settings::default(), None);
    for dpid in [DatapathId(1), DatapathId(2)] {
        engine.join_blank(dpid);
    }
    engine.leave_blank(DatapathId(1));
    assert_eq!(engine.brain().switches().len(), 1, "the brain hears of it while the controller runs");
    engine.stop();
    engine.leave_blank(DatapathId(2));
    assert_eq!(engine.brain().switches().len(), 1, "but not while it stops");
    assert!(engine.switches().is_empty());
}

#[test]
fn a_member_that_a_switch_leaves_for_another_one_writes_to_no_switch() {
    let mut engine = Engine::new(Clock::start(), Settings::default(), None);
    let [own, other] = ["a", "b"].map(|name| TermStamp::new("default", &MemberId::new(name)));
    engine.switches_mut().stand_by(own);
    let term = own.above(Term(7));
    engine.switches_mut().lead(term);
    for dpid in [DatapathId(1), DatapathId(2)] {
        engine.join_blank(dpid);
    }
    let mut lose = |newest| {
        let refusal = RoleRefusal { claimed: Some(term), newest: Some(newest) };
        let outbox = engine.switches.outbox(DatapathId(1)).cloned().expect("it is there");
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        engine.lose_role(DatapathId(1), address, &outbox, refusal).expect("it is known");
        engine.brain().switches().len()
    };
    assert_eq!(lose(term), 1, "it is the switch's own loss");
    assert_eq!(lose(other.above(term)), 0, "the other member claims all of them");
    assert_eq!(engine.switches().mastered().count(), 0);
}
