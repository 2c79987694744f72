//! Switches that leave while the controller runs and while it stops.

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
