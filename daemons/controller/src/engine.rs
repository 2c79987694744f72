//! The engine: the brain, the outboxes of all switches, and the requests that wait for replies.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::Bound;
use std::rc::Rc;
use std::time::Duration;

use braid_control::pipeline::Encoder;
use braid_control::{Brain, Command, Commands, Event, Reply, Request, Settings, Threat, Ticket};
use braid_openflow::Xid;
use braid_types::{DatapathId, Term, Time};
use tokio::sync::{Notify, oneshot};
use tracing::{error, warn};

use crate::attention::{Attention, Mark, Stall};
use crate::channels::{Outbox, RoleWish};
use crate::clock::{self, Clock, time_on_processor};
use crate::log;
use crate::mastership::Mastership;
use crate::notices::NoticeSender;
use crate::outstanding_rules::OutstandingRules;
use crate::switch_access::{Roster, RosterError, SwitchAccess};
use crate::switch_metadata::{SwitchMetadata, SwitchMetadataMap};
use braid_recording::Recorder;

/// The brain, and the outbox of every switch. All on one thread.
pub(crate) struct Engine {
    clock: Clock,
    attention: Attention,
    brain: Brain,
    encoder: Encoder,
    switches: BTreeMap<DatapathId, Peer>,
    roster: Roster,
    mastership: Mastership,
    recorder: Option<Recorder>,
    notice_sender: Option<NoticeSender>,
    switch_metadata: SwitchMetadataMap,
    commands: Commands,
    last_ticket: u64,
    /// Requests that wait for a reply; the brain answers all of them eventually.
    asked: BTreeMap<Ticket, oneshot::Sender<Reply>>,
    last_xid: u32,
    refused: u64,
    /// The time at which the brain asked to be called next.
    wake_at: Option<Time>,
    woken: Rc<Notify>,
    /// Set at shutdown: switches keep the rules that they have.
    stopping: bool,
}

/// A connected switch.
struct Peer {
    address: SocketAddr,
    outbox: Rc<Outbox>,
    written: OutstandingRules,
    role: PeerRole,
}

/// What this controller is to a connected switch. It writes only where it is master.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PeerRole {
    Master,
    /// It has asked for the role in a newer term than the one that the switch refused.
    Claiming,
    /// Another controller is master.
    Slave,
}

/// The engine, shared by its tasks.
pub(crate) type Shared = Rc<RefCell<Engine>>;

/// A switch with the same datapath id is connected already.
#[derive(Debug, thiserror::Error)]
#[error("datapath id {dpid} is in use by the switch at {other}: give each switch its own")]
pub(crate) struct Duplicate {
    dpid: DatapathId,
    other: SocketAddr,
}

impl Duplicate {
    pub(crate) const fn threat(&self) -> Threat {
        Threat::DuplicateDatapathId { dpid: self.dpid, holder: self.other.ip() }
    }
}

/// The reason for which a switch cannot join.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    #[error(transparent)]
    Roster(#[from] RosterError),
}

impl Engine {
    pub(crate) fn new(clock: Clock, settings: Settings, recorder: Option<Recorder>) -> Self {
        Self {
            clock,
            attention: Attention::new(mark(clock)),
            encoder: Encoder::new(settings.stream_idle),
            brain: Brain::new(settings),
            switches: BTreeMap::new(),
            roster: Roster::new(&SwitchAccess::default()),
            mastership: Mastership::new(Term(clock::generation())),
            recorder,
            notice_sender: None,
            switch_metadata: SwitchMetadataMap::new(),
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

    /// Sends notices to this channel from now on.
    pub(crate) fn send_notices_to(&mut self, notice_sender: NoticeSender) {
        self.notice_sender = Some(notice_sender);
    }

    pub(crate) fn set_switch_metadata(&mut self, switch_metadata: SwitchMetadataMap) {
        self.switch_metadata = switch_metadata;
    }

    pub(crate) fn metadata(&self, dpid: DatapathId) -> SwitchMetadata {
        self.switch_metadata.get(&dpid).cloned().unwrap_or_default()
    }

    pub(crate) fn brain(&self) -> &Brain {
        &self.brain
    }

    /// For copies of its state.
    pub(crate) fn brain_mut(&mut self) -> &mut Brain {
        &mut self.brain
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// A round of reading begins. Tells the brain of delays before it sees what was delayed.
    pub(crate) fn begin_round(&mut self) -> Time {
        let now = self.now();
        self.report_stall(now);
        now
    }

    /// The round that began at this time has read what was there then.
    pub(crate) fn end_round(&mut self, began: Time) {
        let clock = self.clock;
        self.attention.note_round(began, || mark(clock));
    }

    /// The time so far in which the controller did not get to listen.
    pub(crate) const fn stalled(&self) -> Duration {
        self.attention.reported()
    }

    /// Lets the brain do what is due.
    pub(crate) fn tick(&mut self) {
        let now = self.now();
        self.report_stall(now);
        self.handle(now, &Event::Tick);
    }

    fn report_stall(&mut self, now: Time) {
        let clock = self.clock;
        if let Some(Stall { time, idle }) = self.attention.take_stall(now, || mark(clock)) {
            self.handle(now, &Event::Stalled { time, idle });
        }
    }

    /// Notified when the brain asks to be called sooner than [`until_wake`](Self::until_wake) last returned.
    pub(crate) fn woken(&self) -> Rc<Notify> {
        self.woken.clone()
    }

    /// The time until the brain asks to be called, if that is before the next tick.
    pub(crate) fn until_wake(&self) -> Option<Duration> {
        self.wake_at.map(|at| at.since(self.now()))
    }

    /// OpenFlow connections that were refused or closed because the peer misbehaved.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    pub(crate) fn note_refused(&mut self) {
        self.refused += 1;
    }

    pub(crate) fn address(&self, dpid: DatapathId) -> Option<SocketAddr> {
        self.switches.get(&dpid).map(|peer| peer.address)
    }

    /// Only these switches may join, and so many.
    pub(crate) fn restrict_switches(&mut self, access: &SwitchAccess) {
        self.roster = Roster::new(access);
    }

    /// Whether any switch may join from this address.
    pub(crate) fn check_address(&self, address: SocketAddr) -> Result<(), RosterError> {
        self.roster.check_address(address.ip())
    }

    /// Whether a switch with this datapath id may join from this address now, over the connection with this outbox.
    pub(crate) fn check_join(
        &self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<(), JoinError> {
        match self.switches.get(&dpid).filter(|peer| !Rc::ptr_eq(&peer.outbox, outbox)) {
            Some(peer) => Err(Duplicate { dpid, other: peer.address }.into()),
            None => Ok(self.roster.check(dpid, address.ip())?),
        }
    }

    /// An OpenFlow connection finished its handshake. Returns whether this controller is the switch's master.
    pub(crate) fn join(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<bool, JoinError> {
        if self.mastership.term().is_none() {
            // Another controller was elected during the handshake.
            self.connect(dpid, address, outbox, PeerRole::Slave)?;
            outbox.ask(RoleWish::Release(self.mastership.newest()));
            return Ok(false);
        }
        self.connect(dpid, address, outbox, PeerRole::Master)?;
        self.mastership.note_accepted();
        Ok(true)
    }

    /// Another controller is the switch's master, which refused the role in the term `claimed`. Claims it again if the
    /// controller has a newer term by now; otherwise nothing more is written to the switch.
    pub(crate) fn lose_role(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
        claimed: Option<Term>,
    ) -> Result<(), JoinError> {
        let newer = |term: &Term| claimed.is_none_or(|claimed| term.is_newer_than(claimed));
        let claims = self.mastership.term().filter(newer);
        let role = if claims.is_some() { PeerRole::Claiming } else { PeerRole::Slave };
        let before = self.connect(dpid, address, outbox, role)?;
        outbox.discard();
        if before == Some(PeerRole::Master) {
            self.handle(self.now(), &Event::SwitchDown { dpid });
        }
        if let Some(term) = claims {
            outbox.ask(RoleWish::Claim(term));
        } else if claimed.is_some() && before != Some(PeerRole::Slave) {
            self.raise_alarm(address.ip(), Threat::RoleLost { dpid }, 1);
        }
        Ok(())
    }

    /// Counts the switch as connected, with no outstanding rules. Returns its role before.
    fn connect(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
        role: PeerRole,
    ) -> Result<Option<PeerRole>, JoinError> {
        self.check_join(dpid, address, outbox)?;
        self.roster.join(self.now(), dpid, address.ip());
        let (outbox, written) = (outbox.clone(), OutstandingRules::default());
        let before = self.switches.insert(dpid, Peer { address, outbox, written, role });
        Ok(before.map(|peer| peer.role))
    }

    /// The term in which the role of master is claimed; `None` while another member of the cluster leads.
    pub(crate) const fn term(&self) -> Option<Term> {
        self.mastership.term()
    }

    /// A switch has seen this term.
    pub(crate) const fn note_term(&mut self, term: Term) {
        self.mastership.note_seen(term);
    }

    /// Claims the role of master of every connected switch, in a new term.
    pub(crate) fn take_over(&mut self) -> Term {
        let term = self.mastership.take_over();
        self.claim(term);
        term
    }

    /// Terms are given by a cluster from now on.
    pub(crate) const fn stand_by(&mut self) {
        self.mastership = Mastership::standby();
    }

    /// Whether terms are given by a cluster.
    pub(crate) const fn is_elected(&self) -> bool {
        self.mastership.is_elected()
    }

    /// The newest term that a switch has seen.
    pub(crate) const fn newest_term(&self) -> Term {
        self.mastership.newest()
    }

    /// The cluster has elected this controller.
    pub(crate) fn lead(&mut self, term: Term) {
        self.mastership.set_elected(Some(term), term);
        self.claim(term);
    }

    /// The cluster has elected another controller: no switch is written to any more.
    pub(crate) fn follow(&mut self, newest: Term) {
        self.mastership.set_elected(None, newest);
        let mut left = Vec::new();
        for (dpid, peer) in &mut self.switches {
            peer.outbox.discard();
            peer.outbox.ask(RoleWish::Release(newest));
            if std::mem::replace(&mut peer.role, PeerRole::Slave) == PeerRole::Master {
                left.push(*dpid);
            }
        }
        left.into_iter().for_each(|dpid| self.handle(self.now(), &Event::SwitchDown { dpid }));
    }

    fn claim(&mut self, term: Term) {
        for peer in self.switches.values_mut() {
            peer.outbox.ask(RoleWish::Claim(term));
            if peer.role == PeerRole::Slave {
                peer.role = PeerRole::Claiming;
            }
        }
    }

    /// The connected switches that have another master, after this one.
    pub(crate) fn slaves_after(&self, dpid: Option<DatapathId>) -> impl Iterator<Item = DatapathId> {
        let start = dpid.map_or(Bound::Unbounded, Bound::Excluded);
        let switches = self.switches.range((start, Bound::Unbounded));
        switches.filter(|(_, peer)| peer.role != PeerRole::Master).map(|(dpid, _)| *dpid)
    }

    /// The number of connected switches.
    pub(crate) fn switch_count(&self) -> usize {
        self.switches.len()
    }

    /// The OpenFlow connection of a switch closed.
    pub(crate) fn leave(&mut self, dpid: DatapathId) {
        let left = self.switches.remove(&dpid);
        self.roster.leave(self.now(), dpid);
        // The brain knows nothing of switches that another controller has.
        if left.is_none_or(|peer| peer.role == PeerRole::Master) {
            self.handle(self.now(), &Event::SwitchDown { dpid });
        }
    }

    /// A peer of the controller did what it must not, `count` times.
    pub(crate) fn raise_alarm(&mut self, peer: IpAddr, threat: Threat, count: u64) {
        self.handle(self.now(), &Event::PeerAlarm { peer: peer.to_canonical(), threat, count });
    }

    /// A switch refused a transaction; the brain gets the rule that the transaction wrote.
    pub(crate) fn refused_by(&mut self, now: Time, dpid: DatapathId, xid: Xid, reason: String) {
        let rule = self.switches.get(&dpid).and_then(|peer| peer.written.rule(xid, dpid, &self.brain));
        self.handle(now, &Event::Refused { dpid, rule, reason });
    }

    /// Passes an event to the brain and its commands to the switches. Does nothing once the controller stops.
    ///
    /// `now` of a switch's message is when its bytes were read, since measurements depend on it.
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
        if let Some(notice_sender) = &self.notice_sender {
            commands.notices().iter().for_each(|notice| notice_sender.send(now, notice));
        }
        self.dispatch(&commands);
        for (ticket, answer) in commands.take_replies() {
            // The requester may be gone.
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

    /// Passes a request to the brain. `asked` gets the reply at once or later, or closes if there will be none.
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

    /// Ends the recording, and closes every OpenFlow connection once its outbox is empty.
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
            let peer = self.switches.get_mut(&command.dpid()).filter(|peer| peer.role == PeerRole::Master);
            let Some(peer) = peer else { continue };
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

fn mark(clock: Clock) -> Mark {
    Mark { at: clock.now(), on_processor: time_on_processor() }
}

/// The first transaction id of other messages; barriers carry the brain's tokens, which are lower.
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
        assert!(engine.is_empty());
    }
}
