//! BFD at ports: who watches, what arrives, and what is sent.

use braid_openflow::{BadRequestCode, ErrorCode, PortReason};
use braid_types::{PortNo, Time, mix};

use super::watch::Watch;
use super::{Ports, SwitchPort};
use crate::environment::Environment;
use crate::packets::{Packet, bfd};

impl Ports {
    /// Starts or ends BFD at a port.
    pub(crate) fn set_bfd(
        &mut self,
        env: &mut Environment<'_>,
        number: PortNo,
        is_on: bool,
    ) -> Result<(), ErrorCode> {
        if !self.contains(number) {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadPort));
        }
        self.change(env, number, |port| match is_on {
            true => _ = port.watch.get_or_insert_default(),
            false => port.watch = None,
        });
        Ok(())
    }

    /// Handles a frame that is BFD's, at a port that has it; returns whether it was one.
    pub(crate) fn take_bfd(&mut self, env: &mut Environment<'_>, in_port: PortNo, frame: &[u8]) -> bool {
        let is_taken = bfd::is_bfd(frame) && self.all.get(&in_port).is_some_and(|port| port.watch.is_some());
        if let Some(packet) = is_taken.then(|| bfd::read(frame)).flatten() {
            let (now, number) = (env.now, u64::from(in_port.0));
            let discriminator = mix(env.identity.seed ^ now.as_nanos() ^ number.rotate_left(32)) as u32 | 1;
            self.change(env, in_port, |port| {
                port.watch.iter_mut().for_each(|watch| watch.handle_packet(now, &packet, discriminator));
            });
            self.send_bfd(now, in_port);
        }
        is_taken
    }

    /// When [`Self::handle_timeout`] is due.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.all.values().filter_map(|port| port.watch.as_ref()?.poll_timeout()).min()
    }

    /// Notices silent neighbours, and sends what is due.
    pub(crate) fn handle_timeout(&mut self, env: &mut Environment<'_>) {
        let now = env.now;
        let is_due = |watch: &Watch| watch.poll_timeout().is_some_and(|due| due <= now);
        let due = self.all.values().filter(|port| port.watch.as_ref().is_some_and(is_due));
        for number in due.map(|port| port.number).collect::<Vec<_>>() {
            self.change(env, number, |port| {
                port.watch.iter_mut().for_each(|watch| watch.handle_timeout(now));
            });
            self.send_bfd(now, number);
        }
    }

    /// Changes a port, and notifies controllers if it is live no more, or again.
    fn change(&mut self, env: &mut Environment<'_>, number: PortNo, change: impl FnOnce(&mut SwitchPort)) {
        let Some(port) = self.all.get_mut(&number) else { return };
        let was_live = port.is_live();
        change(port);
        if port.is_live() != was_live {
            self.notify(env, number, PortReason::Modify);
        }
    }

    fn send_bfd(&mut self, now: Time, number: PortNo) {
        let Some(port) = self.all.get_mut(&number) else { return };
        let packet = port.watch.as_mut().and_then(|watch| watch.poll_packet(now));
        if let Some(packet) = packet.filter(|_| port.is_open()) {
            let frame = bfd::frame(port.description.mac, &packet);
            port.counters.count_sent(frame.len() as u64);
            self.sent.push((number, Packet::complete(frame)));
        }
    }
}
