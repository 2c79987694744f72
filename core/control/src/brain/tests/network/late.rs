//! Frames in flight, and slow switches.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::SwitchPort;

use super::{Arrival, BEHIND, HOST_PORT, Late, Network, dpid};
use crate::event::Event;

impl Network {
    /// Lets a host send a frame, which only gets into the first link.
    pub(in crate::brain::tests) fn inject(&mut self, host: u64, frame: &[u8]) {
        let at = SwitchPort::new(dpid(host), HOST_PORT);
        let outputs = self.switches[&at.dpid].forward(at.port, frame);
        self.emit(at.dpid, at.port, outputs, &[at.dpid]);
    }

    /// Moves one frame in flight to the next switch.
    pub(in crate::brain::tests) fn fly(&mut self, choice: usize) {
        let index = choice % self.flying.len().max(1);
        if let Some((at, frame, way)) = self.flying.remove(index) {
            assert!(way.len() < 32, "a frame loops: {way:?}");
            self.arrive(at, &frame, way);
        }
    }

    /// Lets a switch read one message.
    pub(in crate::brain::tests) fn act_late(&mut self, choice: usize) {
        let busy: Vec<_> = self.late.iter().flatten().filter(|(_, queue)| !queue.is_empty()).collect();
        let Some(dpid) = busy.get(choice % busy.len().max(1)).map(|(dpid, _)| **dpid) else { return };
        let next = self.late.as_mut().and_then(|queues| queues.get_mut(&dpid)?.pop_front());
        match next {
            Some(Late::Message(bytes)) => {
                let due = self.now + Duration::from_millis(choice as u64 / 64 % (BEHIND + 1));
                self.applying.entry(dpid).or_default().push_back((due, bytes));
            }
            Some(Late::Barrier(token)) => self.tell(&Event::Barrier { dpid, token }),
            None => {}
        }
    }

    /// Applies the messages whose delay is over to packets.
    pub(in crate::brain::tests) fn apply_late(&mut self) {
        let (now, mut ready) = (self.now, Vec::new());
        for (dpid, queue) in &mut self.applying {
            while queue.front().is_some_and(|(due, _)| *due <= now) {
                ready.extend(queue.pop_front().map(|(_, bytes)| (*dpid, bytes)));
            }
        }
        ready.into_iter().for_each(|(dpid, bytes)| self.obey(dpid, &bytes));
    }

    /// Whether no frame is in flight and no message pending.
    pub(in crate::brain::tests) fn is_quiet(&self) -> bool {
        let is_read = self.late.iter().flatten().all(|(_, queue)| queue.is_empty());
        self.flying.is_empty() && is_read && self.applying.values().all(VecDeque::is_empty)
    }

    /// The number of frames in flight.
    pub(in crate::brain::tests) fn flying(&self) -> usize {
        self.flying.len()
    }

    /// Frames that a host received since the last call.
    pub(in crate::brain::tests) fn take_received(&mut self, host: u64) -> Vec<Arrival> {
        self.arrived.remove(&dpid(host)).unwrap_or_default()
    }
}
