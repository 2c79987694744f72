//! The engine: the brain, the connected switches, and the requests that wait for replies.

mod join;
mod rule_reads;
mod switches;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use braid_control::{
    Brain, Command, Commands, Encoder, Event, Reply, Request, Settings, ShapedPort, Threat, Ticket,
};
use braid_openflow::Xid;
use braid_recording::Recorder;
use braid_types::{BitsPerSec, DatapathId, SwitchPort, Term, Time};
use tokio::sync::{Notify, oneshot};
use tracing::{error, warn};

use crate::attention::{Attention, Mark, Stall};
use crate::channels::{Outbox, Request as MultipartRequest};
use crate::clock::{Clock, time_on_processor};
use crate::log;
use crate::names::Names;
use crate::notices::NoticeSender;
use crate::reload::Reloads;
use rule_reads::RuleReads;
pub(crate) use rule_reads::{ReadRules, ReadRulesError};

use join::PeerRole;
pub(crate) use join::{JoinError, RoleRefusal};
pub(crate) use switches::{Reached, SharedPresence, Switches};

/// The brain, and the switches that it talks to. All on one thread.
pub(crate) struct Engine {
    clock: Clock,
    attention: Attention,
    brain: Brain,
    encoder: Encoder,
    switches: Switches,
    recorder: Option<Recorder>,
    notice_sender: Option<NoticeSender>,
    names: Names,
    commands: Commands,
    last_ticket: u64,
    /// Requests that wait for a reply; the brain answers all of them eventually.
    asked: BTreeMap<Ticket, oneshot::Sender<Reply>>,
    last_xid: u32,
    rule_reads: RuleReads,
    refused: u64,
    shed: u64,
    reloads: Reloads,
    /// The time at which the brain asked to be called next.
    wake_at: Option<Time>,
    woken: Rc<Notify>,
    /// Set at shutdown: switches keep the rules that they have.
    stopping: bool,
}

/// The engine, shared by its tasks.
pub(crate) type Shared = Rc<RefCell<Engine>>;

impl Engine {
    pub(crate) fn new(clock: Clock, settings: Settings, recorder: Option<Recorder>) -> Self {
        Self {
            clock,
            attention: Attention::new(mark(clock)),
            encoder: Encoder::new(settings.stream_idle),
            brain: Brain::new(settings),
            switches: Switches::new(),
            recorder,
            notice_sender: None,
            names: Names::default(),
            commands: Commands::default(),
            last_ticket: 0,
            asked: BTreeMap::new(),
            last_xid: FIRST_XID,
            rule_reads: RuleReads::default(),
            refused: 0,
            shed: 0,
            reloads: Reloads::default(),
            wake_at: None,
            woken: Rc::default(),
            stopping: false,
        }
    }

    /// Sends notices to this channel from now on.
    pub(crate) fn send_notices_to(&mut self, notice_sender: NoticeSender) {
        self.notice_sender = Some(notice_sender);
    }

    pub(crate) fn set_names(&mut self, names: Names) {
        self.names = names;
    }

    /// The names of switches, ports and hosts.
    pub(crate) const fn names(&self) -> &Names {
        &self.names
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
        self.rule_reads.handle_timeout(now);
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

    /// Packets of hosts that were dropped unhandled because the controller was overloaded.
    pub(crate) const fn shed(&self) -> u64 {
        self.shed
    }

    pub(crate) const fn note_shed(&mut self, packets: u64) {
        self.shed = self.shed.wrapping_add(packets);
    }

    /// How reloads of the configuration went.
    pub(crate) const fn reloads(&self) -> Reloads {
        self.reloads
    }

    /// The configuration was read again, with mistakes or without.
    pub(crate) fn note_reload(&mut self, failed: bool) {
        self.reloads = Reloads { failed: self.reloads.failed + u64::from(failed), last_failed: failed };
    }

    /// The connected switches.
    pub(crate) const fn switches(&self) -> &Switches {
        &self.switches
    }

    /// To change what the brain need not know.
    pub(crate) const fn switches_mut(&mut self) -> &mut Switches {
        &mut self.switches
    }

    /// An OpenFlow connection finished its handshake. Returns whether this controller is the switch's master.
    pub(crate) fn join(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<bool, JoinError> {
        self.displace(dpid, outbox);
        let now = self.now();
        self.switches.join(now, dpid, address, outbox)
    }

    /// A switch that was reached through a standby has connected itself.
    fn displace(&mut self, dpid: DatapathId, outbox: &Rc<Outbox>) {
        let now = self.now();
        if self.switches.displace(now, dpid, outbox) {
            self.rule_reads.end(dpid, ReadRulesError::Left);
            self.handle(now, &Event::SwitchMoved { dpid });
        }
    }

    /// Another controller is the switch's master. Claims the role again if this one has a newer term by now; otherwise nothing
    /// more is written to the switch. If it is another member of the cluster, nothing more is written to any switch: that one
    /// claims them all, and reads their rules.
    pub(crate) fn lose_role(
        &mut self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
        refusal: RoleRefusal,
    ) -> Result<(), JoinError> {
        self.displace(dpid, outbox);
        if let Some(newest) = refusal.newest.filter(|term| self.switches.is_replaced_in(*term)) {
            self.follow(newest);
        }
        let now = self.now();
        let lost = self.switches.lose_role(now, (dpid, address), outbox, refusal)?;
        self.rule_reads.end(dpid, ReadRulesError::NotMaster);
        if lost.was_master {
            self.handle(now, &Event::SwitchDown { dpid });
        }
        if lost.is_new {
            self.raise_alarm(address.ip(), Threat::RoleLost { dpid }, 1);
        }
        if let Some(term) = lost.foreign {
            self.raise_alarm(address.ip(), Threat::ForeignTerm { dpid, term }, 1);
        }
        Ok(())
    }

    /// The cluster has elected another controller: no switch is written to any more.
    pub(crate) fn follow(&mut self, newest: Term) {
        let left = self.switches.follow(newest);
        for dpid in left {
            self.rule_reads.end(dpid, ReadRulesError::NotMaster);
            self.handle(self.now(), &Event::SwitchMoved { dpid });
        }
        self.handle(self.now(), &Event::Replaced);
    }

    /// The OpenFlow connection of a switch with this outbox closed; `moves`: the switch gets another one in its place.
    pub(crate) fn leave(&mut self, dpid: DatapathId, outbox: &Rc<Outbox>, moves: bool) {
        let now = self.now();
        let Some(role) = self.switches.leave(now, dpid, outbox) else { return };
        self.rule_reads.end(dpid, ReadRulesError::Left);
        // The brain knows nothing of switches that another controller has.
        if role == PeerRole::Master {
            let event = if moves { Event::SwitchMoved { dpid } } else { Event::SwitchDown { dpid } };
            self.handle(now, &event);
        }
    }

    /// A peer of the controller did what it must not, `count` times.
    pub(crate) fn raise_alarm(&mut self, peer: IpAddr, threat: Threat, count: u64) {
        self.handle(self.now(), &Event::PeerAlarm { peer: peer.to_canonical(), threat, count });
    }

    /// Switches shape what leaves these ports to these rates, and what leaves no other.
    pub(crate) fn set_shaped_ports(&mut self, rates: BTreeMap<SwitchPort, BitsPerSec>) {
        let ports = rates.into_iter().map(|(port, rate)| ShapedPort { port, rate }).collect();
        self.handle(self.now(), &Event::ShapedPorts { ports });
    }

    /// A switch refused a transaction; the brain gets the rule that the transaction wrote.
    pub(crate) fn refused_by(&mut self, now: Time, dpid: DatapathId, xid: Xid, reason: String) {
        if self.rule_reads.refuse(dpid, xid, &reason) {
            return;
        }
        let rule = self.switches.written(dpid).and_then(|written| written.rule(xid, dpid, &self.brain));
        self.handle(now, &Event::Refused { dpid, rule, reason });
    }

    /// Passes an event to the brain and its commands to the switches. Does nothing once the controller stops.
    ///
    /// `now` of a switch's message is when its bytes were read, since measurements depend on it.
    pub(crate) fn handle(&mut self, now: Time, event: &Event<'_>) {
        if self.stopping {
            return;
        }
        self.record(now, event);
        self.names.learn(event);
        let mut commands = std::mem::take(&mut self.commands);
        self.brain.handle(now, event, &mut commands);
        commands.notices().iter().for_each(|notice| log::notice(notice, &self.names));
        if let Some(notice_sender) = &self.notice_sender {
            commands.notices().iter().for_each(|notice| notice_sender.send(now, notice, &self.names));
        }
        self.dispatch(&commands);
        self.reply(&mut commands);
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
        self.rule_reads.clear();
        if let Some(recorder) = self.recorder.take()
            && let Err(error) = recorder.finish()
        {
            error!(%error, "the end of the recording cannot be written");
        }
        self.switches.close();
    }

    fn record(&mut self, now: Time, event: &Event<'_>) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.write(now, event)
        {
            error!(%error, "the recording cannot be written and ends here");
            self.recorder = None;
        }
    }

    fn reply(&mut self, commands: &mut Commands) {
        for (ticket, answer) in commands.take_replies() {
            // The requester may be gone.
            if let Some(asked) = self.asked.remove(&ticket) {
                drop(asked.send(answer));
            }
        }
    }

    fn next_xid(&mut self) -> Xid {
        self.last_xid = self.last_xid.checked_add(1).unwrap_or(FIRST_XID);
        Xid(self.last_xid)
    }

    fn dispatch(&mut self, commands: &Commands) {
        for command in commands {
            let xid = self.next_xid();
            let Some(peer) = self.switches.master_of(command.dpid()) else { continue };
            if let Command::Add { rule, .. } = command {
                peer.written.note(xid, rule);
            }
            if let Some(kind) = command.multipart_type() {
                peer.outbox.note_request(MultipartRequest::Brain(xid, kind));
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
pub(crate) mod tests;
