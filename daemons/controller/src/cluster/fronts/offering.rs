//! The standby's part: it offers the switches that it reaches, and opens a connection for each that the leader wants.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use braid_openflow::{MessageType, frame_length};
use braid_tls::Transport;
use braid_types::DatapathId;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, info};

use super::pacing::Pacing;
use super::relays::Opened;
use super::wire::{MAX_LINE, Offer, Switch, Wanted};
use super::{MAX_FRONTED, Shared};
use crate::channels::{Incoming, Located};
use crate::cluster::facts::Leading;
use crate::cluster::peers::{self, Lines};

/// The pause between two offers.
const INTERVAL: Duration = Duration::from_millis(250);
/// The pause after a connection with the leader has failed.
const RETRY: Duration = Duration::from_millis(500);
/// A leader that does not answer for this long is asked anew.
const SILENCE: Duration = Duration::from_secs(5);
/// A leader that wants a switch speaks OpenFlow within this time.
const HELLO_TIMEOUT: Duration = Duration::from_secs(1);
/// So long connections are opened before the leader hears of other switches.
const MAX_TURN: Duration = Duration::from_secs(2);
/// Bytes of a certificate's names that the leader is told; those of a switch have fewer.
const MAX_NAMES: usize = 2_048;

/// The thread that offers switches.
pub(super) struct Offering {
    shared: Arc<Shared>,
    alive: Weak<()>,
    opened: mpsc::Sender<Opened>,
    /// Which leader was tried last, and when with which switch.
    tried: Option<MemberId>,
    pacing: Pacing,
}

impl Offering {
    pub(super) fn new(shared: Arc<Shared>, alive: Weak<()>, opened: mpsc::Sender<Opened>) -> Self {
        Self { shared, alive, opened, tried: None, pacing: Pacing::default() }
    }

    /// Offers switches to whoever leads, until the member ends.
    pub(super) fn keep(mut self) {
        while !self.is_over() {
            if let Some(leader) = self.target()
                && let Err(why) = self.offer(&leader)
            {
                debug!(member = %leader.member, why, "the leader is offered no switches");
            }
            thread::sleep(RETRY);
        }
    }

    fn is_over(&self) -> bool {
        self.alive.strong_count() == 0
    }

    fn target(&self) -> Option<Leading> {
        self.shared.standing().target.clone()
    }

    fn offer(&mut self, leader: &Leading) -> Result<(), String> {
        let Shared { local, refusals, .. } = &*self.shared;
        let mut lines = peers::offer(local, &leader.address, refusals)?;
        lines.set_max_line(MAX_LINE);
        if self.tried.replace(leader.member.clone()).as_ref() != Some(&leader.member) {
            self.pacing.begin_anew();
        }
        let mut offered = BTreeSet::new();
        while self.target().as_ref() == Some(leader) && !self.is_over() {
            let wanted = self.ask(&mut lines, &mut offered).map_err(|why| why.to_string())?;
            let began = Instant::now();
            for dpid in wanted {
                let is_free = self.shared.open.load(Ordering::Relaxed) < MAX_FRONTED;
                if began.elapsed() < MAX_TURN && is_free && self.pacing.admits(Instant::now(), dpid) {
                    self.try_open(leader, dpid);
                }
            }
            thread::sleep(INTERVAL);
        }
        Ok(())
    }

    /// Says which switches this member reaches. Returns those that the leader wants.
    fn ask(&self, lines: &mut Lines, offered: &mut BTreeSet<DatapathId>) -> io::Result<BTreeSet<DatapathId>> {
        let presence = self.shared.presence.lock().unwrap_or_else(PoisonError::into_inner);
        let reached: BTreeSet<_> = presence.settled().collect();
        drop(presence);
        let more = reached.difference(offered).copied().collect();
        let fewer = offered.difference(&reached).copied().collect();
        lines.write(&Offer { more, fewer }, SILENCE)?;
        *offered = reached;
        let Wanted { wanted, owners } = serde_json::from_value(lines.next(SILENCE)?)?;
        self.shared.tls.iter().for_each(|tls| tls.learn(&owners));
        Ok(wanted.into_iter().filter(|dpid| offered.contains(dpid)).collect())
    }

    fn try_open(&self, leader: &Leading, dpid: DatapathId) {
        let member = &leader.member;
        match self.open(leader, dpid) {
            Ok(()) => info!(%dpid, %member, "the leader serves a switch through this member"),
            Err(why) => debug!(%dpid, %member, why, "a switch is not passed on to the leader"),
        }
    }

    /// Opens a connection with the leader for this switch. Once the leader speaks OpenFlow, the switch's own is passed on.
    fn open(&self, leader: &Leading, dpid: DatapathId) -> Result<(), String> {
        let Located { address, certificate } = self.of_channels(|to| Incoming::Locate { dpid, to })?;
        let Shared { local, refusals, .. } = &*self.shared;
        let switch = Switch { dpid, address, certificate: certificate.map(told) };
        let lines = peers::relay(local, &leader.address, switch, refusals)?;
        let (transport, unread) = hello(lines).map_err(|why| format!("it speaks no OpenFlow: {why}"))?;
        let lent = self.of_channels(|to| Incoming::Lend { dpid, to })?;
        let opened = Opened { leader: leader.member.clone(), transport, unread, lent };
        self.opened.blocking_send(opened).map_err(|_| "this controller stops".to_owned())
    }

    /// What the thread of channels answers.
    fn of_channels<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Incoming) -> Result<T, String> {
        let (to, answer) = oneshot::channel();
        let asked =
            self.shared.channels.blocking_send(ask(to)).ok().and_then(|()| answer.blocking_recv().ok());
        asked.ok_or_else(|| "the switch is not connected".to_owned())
    }
}

/// The first of these names, for which a greeting has room.
fn told(mut names: Vec<String>) -> Vec<String> {
    let mut room = MAX_NAMES;
    names.retain(|name| {
        let left = room.checked_sub(name.len());
        room = left.unwrap_or(room);
        left.is_some()
    });
    names
}

/// The connection after the leader's HELLO, and what it has said behind that.
fn hello(mut lines: Lines) -> io::Result<(Transport, Vec<u8>)> {
    let whole = |bytes: &[u8]| frame_length(bytes).ok().flatten();
    lines.wait_for(HELLO_TIMEOUT, |bytes| whole(bytes).is_some())?;
    let (transport, mut unread) = lines.into_parts();
    let kind = unread.get(1).copied().map(MessageType::from);
    let length = whole(&unread).filter(|_| kind == Some(MessageType::Hello));
    let length = length.ok_or_else(|| io::Error::other("no HELLO"))?;
    unread.drain(..length);
    Ok((transport, unread))
}
