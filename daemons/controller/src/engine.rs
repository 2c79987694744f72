//! The engine: the brain, the outboxes of all switches, and the requests that wait for replies.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use braid_control::pipeline::Encoder;
use braid_control::{Brain, Command, Commands, Event, Reply, Request, Settings, Ticket};
use braid_openflow::Xid;
use braid_types::{DatapathId, Time};
use tokio::sync::{Notify, oneshot};
use tracing::{error, warn};

use crate::channels::Outbox;
use crate::clock::Clock;
use crate::drawing::{Drawings, Drawn};
use crate::log;
use crate::notices::Teller;
use crate::record::Recorder;
use crate::written::Written;

/// The brain and the way out to every switch. All on one thread.
pub(crate) struct Engine {
    clock: Clock,
    brain: Brain,
    encoder: Encoder,
    switches: BTreeMap<DatapathId, Peer>,
    recorder: Option<Recorder>,
    teller: Option<Teller>,
    drawings: Drawings,
    commands: Commands,
    last_ticket: u64,
    /// Who waits for answers; the brain answers everybody in the end.
    asked: BTreeMap<Ticket, oneshot::Sender<Reply>>,
    last_xid: u32,
    refused: u64,
    /// When the brain wants to go on, as last told.
    wake_at: Option<Time>,
    woken: Rc<Notify>,
    /// The switches are to go on with the rules that they have.
    stopping: bool,
}

/// A switch that is connected.
struct Peer {
    address: SocketAddr,
    outbox: Rc<Outbox>,
    written: Written,
}

/// The engine as its tasks share it.
pub(crate) type Shared = Rc<RefCell<Engine>>;

/// A switch with this identity is connected already.
#[derive(Debug, thiserror::Error)]
#[error("datapath id {dpid} is in use by the switch at {other}: give each switch its own")]
pub(crate) struct Duplicate {
    dpid: DatapathId,
    other: SocketAddr,
}

impl Engine {
    pub(crate) fn new(clock: Clock, settings: Settings, recorder: Option<Recorder>) -> Self {
        Self {
            clock,
            encoder: Encoder::new(settings.stream_idle),
            brain: Brain::new(settings),
            switches: BTreeMap::new(),
            recorder,
            teller: None,
            drawings: Drawings::new(),
            commands: Commands::default(),
            last_ticket: 0,
            asked: BTreeMap::new(),
            last_xid: FIRST_XID,
            refused: 0,
            wake_at: None,
            woken: Rc::default(),
            stopping: false,
        }
    }

    /// Tells this one what happens, from now on.
    pub(crate) fn tell(&mut self, teller: Teller) {
        self.teller = Some(teller);
    }

    /// This is what is written down of switches.
    pub(crate) fn draw(&mut self, drawings: Drawings) {
        self.drawings = drawings;
    }

    pub(crate) fn drawn(&self, dpid: DatapathId) -> Drawn {
        self.drawings.get(&dpid).cloned().unwrap_or_default()
    }

    pub(crate) fn brain(&self) -> &Brain {
        &self.brain
    }

    /// For copies of what it shows.
    pub(crate) fn brain_mut(&mut self) -> &mut Brain {
        &mut self.brain
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Notified when the brain wants to go on sooner than [`until_wake`](Self::until_wake) last said.
    pub(crate) fn woken(&self) -> Rc<Notify> {
        self.woken.clone()
    }

    /// How long until the brain wants to go on, if it does before the next tick.
    pub(crate) fn until_wake(&self) -> Option<Duration> {
        self.wake_at.map(|at| at.since(self.now()))
    }

    /// Channels that were refused or broken off because the other end did not behave.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    pub(crate) fn note_refused(&mut self) {
        self.refused += 1;
    }

    pub(crate) fn address(&self, dpid: DatapathId) -> Option<SocketAddr> {
        self.switches.get(&dpid).map(|peer| peer.address)
    }

    /// A channel finished its handshake.
    pub(crate) fn join(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<(), Duplicate> {
        if let Some(peer) = self.switches.get(&dpid) {
            return Err(Duplicate { dpid, other: peer.address });
        }
        let outbox = outbox.clone();
        self.switches.insert(dpid, Peer { address, outbox, written: Written::default() });
        Ok(())
    }

    /// The channel of a switch that joined is gone.
    pub(crate) fn leave(&mut self, dpid: DatapathId) {
        self.switches.remove(&dpid);
        self.handle(self.now(), &Event::SwitchDown { dpid });
    }

    /// A switch refused a transaction: the brain is told which rule that was.
    pub(crate) fn refused_by(&mut self, now: Time, dpid: DatapathId, xid: Xid, reason: String) {
        let rule = self.switches.get(&dpid).and_then(|peer| peer.written.rule(xid, dpid, &self.brain));
        self.handle(now, &Event::Refused { dpid, rule, reason });
    }

    /// Tells the brain what happened at `now` and passes its commands on; not any more once it stops.
    ///
    /// What came from a switch happened when its bytes were read: what is measured depends on it.
    pub(crate) fn handle(&mut self, now: Time, event: &Event<'_>) {
        if self.stopping {
            return;
        }
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.write(now, event)
        {
            error!(%error, "the recording cannot be written and ends here");
            self.recorder = None;
        }
        let mut commands = std::mem::take(&mut self.commands);
        self.brain.handle(now, event, &mut commands);
        commands.notices().iter().for_each(log::notice);
        if let Some(teller) = &self.teller {
            commands.notices().iter().for_each(|notice| teller.tell(now, notice));
        }
        self.dispatch(&commands);
        for (ticket, answer) in commands.take_replies() {
            // Who asked may have gone.
            if let Some(asked) = self.asked.remove(&ticket) {
                drop(asked.send(answer));
            }
        }
        commands.clear();
        self.commands = commands;
        let wake_at = self.brain.wake_at();
        if wake_at != std::mem::replace(&mut self.wake_at, wake_at) && wake_at.is_some() {
            self.woken.notify_one();
        }
    }

    /// Tells the brain what somebody asks for; `asked` hears the answer, at once or later, or that there will be none.
    pub(crate) fn ask(&mut self, request: Request, asked: oneshot::Sender<Reply>) {
        if self.stopping {
            return;
        }
        self.asked.retain(|_, waiting| !waiting.is_closed());
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        self.asked.insert(ticket, asked);
        self.handle(self.now(), &Event::Request { ticket, request });
    }

    /// Ends the recording and closes every channel once it is empty.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
        self.asked.clear();
        if let Some(recorder) = self.recorder.take()
            && let Err(error) = recorder.finish()
        {
            error!(%error, "the end of the recording cannot be written");
        }
        self.switches.values().for_each(|peer| peer.outbox.close());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    fn dispatch(&mut self, commands: &Commands) {
        for command in commands {
            let Some(peer) = self.switches.get_mut(&command.dpid()) else { continue };
            self.last_xid = self.last_xid.checked_add(1).unwrap_or(FIRST_XID);
            let xid = Xid(self.last_xid);
            if let Command::Add { rule, .. } = command {
                peer.written.note(xid, rule);
            }
            if let Some(kind) = command.multipart_type() {
                peer.outbox.note_request((xid, kind));
            }
            peer.outbox.append(|out| {
                let start = out.len();
                if let Err(error) = self.encoder.encode(command, commands, xid, out) {
                    out.truncate(start);
                    warn!(dpid = %command.dpid(), %error, "a command does not fit into a message");
                }
            });
        }
    }
}

/// Barriers carry the brain's tokens, which are lower.
const FIRST_XID: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use braid_control::SwitchPorts;

    use super::*;

    #[test]
    fn switches_that_leave_because_the_controller_stops_keep_their_rules() {
        let mut engine = Engine::new(Clock::start(), Settings::default(), None);
        for dpid in [DatapathId(1), DatapathId(2)] {
            let (ports, description) = (Vec::new(), String::new());
            let outbox = Outbox::new(0, &Rc::default());
            engine.join(dpid, SocketAddr::from(([127, 0, 0, 1], 1)), &outbox).expect("a new switch");
            let switch =
                SwitchPorts { dpid, tables: 254, description, ports, failover_groups: 0, installed: None };
            engine.handle(engine.now(), &Event::SwitchUp(switch));
        }
        engine.leave(DatapathId(1));
        assert_eq!(engine.brain().switches().len(), 1, "the brain is told while the controller runs");
        engine.stop();
        engine.leave(DatapathId(2));
        assert_eq!(engine.brain().switches().len(), 1, "and not any more");
        assert!(engine.is_empty());
    }
}
