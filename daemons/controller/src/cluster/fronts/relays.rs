//! The thread that passes on what switches and the leader say: one poller for all relays.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use braid_tls::Transport;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tracing::{info, warn};

use super::Shared;
use super::line::{Line, LineError};
use crate::channels::{Incoming, Lent, Poller};

/// The interval in which relays are looked at whatever they do.
const TICK: Duration = Duration::from_millis(50);
/// What switches have proved is checked again each time that so many have passed.
const IDENTITY_TICKS: u32 = 20;
/// Bytes read from one end in a turn.
const READ_CHUNK: usize = 64 << 10;

/// A connection with the leader, which has said HELLO, and that of the switch that it is for.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) leader: MemberId,
    pub(super) transport: Transport,
    /// What the leader has said after its HELLO.
    pub(super) unread: Vec<u8>,
    pub(super) lent: Box<Lent>,
}

/// All relays of this member.
pub(super) struct Relays {
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Opened>,
    poller: Poller,
    lines: Vec<Option<Line>>,
    free: Vec<usize>,
    /// Those whose ends may have something that the poller does not see.
    again: Vec<usize>,
    /// Connections of switches that this member serves itself again.
    returned: Vec<Lent>,
    inbox: Vec<u8>,
    ticked_at: Instant,
    ticks: u32,
}

impl Relays {
    /// Serves relays until nobody opens any more.
    pub(super) fn run(shared: Arc<Shared>, queue: mpsc::Receiver<Opened>) {
        let runtime = Builder::new_current_thread().enable_all().build();
        let ended =
            runtime.and_then(|runtime| runtime.block_on(async { Self::new(shared, queue)?.serve().await }));
        if let Err(error) = ended {
            warn!(%error, "this member passes on no switches any more");
        }
    }

    fn new(shared: Arc<Shared>, queue: mpsc::Receiver<Opened>) -> io::Result<Self> {
        Ok(Self {
            shared,
            queue,
            poller: Poller::new()?,
            lines: Vec::new(),
            free: Vec::new(),
            again: Vec::new(),
            returned: Vec::new(),
            inbox: vec![0; READ_CHUNK],
            ticked_at: Instant::now(),
            ticks: 0,
        })
    }

    async fn serve(mut self) -> io::Result<()> {
        loop {
            let is_busy = self.turn()?;
            self.give_back().await;
            if is_busy {
                yield_now().await;
                continue;
            }
            tokio::select! {
                opened = self.queue.recv() => match opened {
                    Some(opened) => self.open(opened),
                    None => return Ok(()),
                },
                // The next poll reports an error again.
                _ = self.poller.some() => {}
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }

    /// Advances every relay once that may. Returns whether there was any.
    fn turn(&mut self) -> io::Result<bool> {
        while let Ok(opened) = self.queue.try_recv() {
            self.open(opened);
        }
        let mut ready = Vec::new();
        self.poller.look(&mut ready)?;
        let again = std::mem::take(&mut self.again);
        let is_busy = !ready.is_empty() || !again.is_empty();
        ready.into_iter().for_each(|number| self.advance(number / 2, [number % 2 == 0, number % 2 == 1]));
        again.into_iter().for_each(|slot| self.advance(slot, [true; 2]));
        if self.ticked_at.elapsed() >= TICK {
            self.tick();
        }
        Ok(is_busy)
    }

    fn open(&mut self, opened: Opened) {
        match Line::new(opened) {
            Ok(line) => {
                let slot = self.free.pop().unwrap_or(self.lines.len());
                if slot == self.lines.len() {
                    self.lines.push(None);
                }
                self.lines[slot] = Some(line);
                self.again.push(slot);
            }
            Err((lent, why)) => end(*lent, &why.into()),
        }
        self.count();
    }

    fn advance(&mut self, slot: usize, ready: [bool; 2]) {
        let Some(line) = self.lines.get_mut(slot).and_then(Option::as_mut) else { return };
        let advanced = line.advance(ready, &mut self.inbox, || self.shared.standing().newest);
        self.follow(slot, advanced);
    }

    /// Does what follows from what a relay has done.
    fn follow(&mut self, slot: usize, done: Result<(), LineError>) {
        let Some(line) = self.lines.get_mut(slot).and_then(Option::as_mut) else { return };
        if done.is_ok() && line.is_done() {
            return self.take_back(slot);
        }
        match done.and_then(|()| Ok(line.watch(&self.poller, 2 * slot)?)) {
            Ok(false) => {}
            Ok(true) => self.again.push(slot),
            Err(why) => self.close(slot, &why),
        }
    }

    /// Ends relays whose leader leads no more, and those of switches that are silent or no longer may be who they are.
    fn tick(&mut self) {
        self.ticked_at = Instant::now();
        self.ticks = self.ticks.wrapping_add(1);
        let standing = self.shared.standing().clone();
        for slot in 0..self.lines.len() {
            let Some(line) = self.lines.get_mut(slot).and_then(Option::as_mut) else { continue };
            if standing.has_replaced(&line.leader) {
                line.leave(standing.newest);
            }
            let mut checked = line.check_answer();
            if self.ticks.is_multiple_of(IDENTITY_TICKS) {
                checked = checked.and_then(|()| line.check_identity());
            }
            let advanced =
                checked.and_then(|()| line.advance([false; 2], &mut self.inbox, || standing.newest));
            self.follow(slot, advanced);
        }
        self.count();
    }

    fn take_back(&mut self, slot: usize) {
        if let Some(line) = self.remove(slot) {
            self.returned.push(line.into_lent(&self.poller));
        }
    }

    fn close(&mut self, slot: usize, why: &LineError) {
        if let Some(line) = self.remove(slot) {
            end(line.into_lent(&self.poller), why);
        }
    }

    fn remove(&mut self, slot: usize) -> Option<Line> {
        let line = self.lines.get_mut(slot).and_then(Option::take)?;
        self.free.push(slot);
        self.count();
        Some(line)
    }

    fn count(&self) {
        let lines = || self.lines.iter().flatten();
        self.shared.open.store(lines().count(), Ordering::Relaxed);
        self.shared.fronted.store(lines().filter(|line| line.passes()).count(), Ordering::Relaxed);
    }

    /// Has switches served by this member's own channels again.
    async fn give_back(&mut self) {
        for lent in std::mem::take(&mut self.returned) {
            info!(dpid = %lent.dpid, "the leader serves a switch through this member no more");
            let returned = Incoming::Returned(Box::new(lent));
            // Where nobody takes it, the controller stops, and the connection closes.
            let _ = self.shared.channels.send(returned).await;
        }
    }
}

/// Closes the connection of a switch.
fn end(lent: Lent, why: &LineError) {
    info!(dpid = %lent.dpid, address = %lent.address, %why, "a switch disconnected that the leader served through this member");
    lent.close();
}
