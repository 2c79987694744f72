//! Switches that leave while the controller runs and while it stops.

use braid_control::SwitchPorts;

use super::*;

#[test]
fn switches_that_leave_because_the_controller_stops_keep_their_rules() {
    let mut engine = Engine::new(Clock::start(), Settings::default(), None);
    for dpid in [DatapathId(1), DatapathId(2)] {
        let (ports, description) = (Vec::new(), String::new());
        let outbox = Outbox::new(0, &Rc::default());
        engine.join(dpid, SocketAddr::from(([127, 0, 0, 1], 1)), &outbox).expect("a new switch");
        let switch = SwitchPorts {
            dpid,
            tables: 254,
            description,
            ports,
            failover_groups: 0,
            select_groups: 0,
            installed: None,
        };
        engine.handle(engine.now(), &Event::SwitchUp(switch));
    }
    engine.leave(DatapathId(1));
    assert_eq!(engine.brain().switches().len(), 1, "the brain hears of it while the controller runs");
    engine.stop();
    engine.leave(DatapathId(2));
    assert_eq!(engine.brain().switches().len(), 1, "but not while it stops");
    assert!(engine.switches().is_empty());
}
