//! Execution of the brain's commands, and events from switches and hosts in response.

use std::borrow::Cow;
use std::time::Duration;

use braid_openflow::Xid;
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::{EXPERIMENT, HOST_PORT, LLDP, Late, Network};
use crate::brain::tests::switch::Output;
use crate::command::{Command, Commands, Encoder};
use crate::event::Event;

impl Network {
    /// Handles an event, executes the commands, and repeats this until nothing follows.
    pub(in crate::brain::tests) fn tell(&mut self, event: &Event<'_>) {
        if self.dead {
            return;
        }
        let is_first = !std::mem::replace(&mut self.telling, true);
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        self.replies.extend(commands.take_replies());
        self.carry_out_all(&commands);
        if is_first {
            self.settle();
            self.telling = false;
        }
    }

    /// Queues an event of a switch that arises while commands are executed.
    pub(in crate::brain::tests) fn say(&mut self, event: Event<'static>) {
        if let Some(unread) = &mut self.unread {
            unread.push_back(event);
        } else if self.telling {
            self.said.push_back(event);
        } else {
            self.tell(&event);
        }
    }

    pub(in crate::brain::tests) fn settle(&mut self) {
        loop {
            if let Some(event) = self.said.pop_front() {
                self.tell(&event);
            } else if self.late.is_none()
                && let Some((at, frame, way)) = self.flying.pop_front()
            {
                assert!(way.len() < 32, "a frame loops: {way:?}");
                self.arrive(at, &frame, way);
            } else {
                return;
            }
        }
    }

    /// Executes the commands in order.
    pub(in crate::brain::tests) fn carry_out_all(&mut self, commands: &Commands) {
        self.notices.extend(commands.notices().iter().cloned());
        for command in commands {
            self.carry_out(command, commands);
        }
    }

    pub(in crate::brain::tests) fn carry_out(&mut self, command: &Command, batch: &Commands) {
        let dpid = command.dpid();
        if matches!(command, Command::ReadPorts { .. }) {
            self.asked.insert(dpid);
        }
        if let Command::Barrier { token, .. } = command {
            if let Some(queues) = &mut self.late {
                queues.entry(dpid).or_default().push_back(Late::Barrier(*token));
            } else if !self.mute.contains(&dpid) {
                self.say(Event::Barrier { dpid, token: *token });
            }
            return;
        }
        if self.late.is_none() {
            return self.obey_now(command, batch);
        }
        let bytes = self.note_and_encode(command, batch);
        let queues = self.late.get_or_insert_default();
        queues.entry(dpid).or_default().push_back(Late::Message(bytes));
    }

    pub(in crate::brain::tests) fn obey_now(&mut self, command: &Command, batch: &Commands) {
        let bytes = self.note_and_encode(command, batch);
        self.obey(command.dpid(), &bytes);
    }

    fn note_and_encode(&mut self, command: &Command, batch: &Commands) -> Vec<u8> {
        if !matches!(
            command,
            Command::Send { .. }
                | Command::ReadStreams { .. }
                | Command::ReadPorts { .. }
                | Command::ReadEdge { .. }
        ) {
            self.changes.push(command.clone());
        }
        let mut bytes = Vec::new();
        Encoder::new(Duration::from_secs(60))
            .encode(command, batch, Xid(1), &mut bytes)
            .expect("short message");
        bytes
    }

    pub(in crate::brain::tests) fn obey(&mut self, dpid: DatapathId, bytes: &[u8]) {
        let outputs = self.switches.get_mut(&dpid).expect("known switch").obey(bytes);
        self.emit(dpid, PortNo::CONTROLLER, outputs, &[dpid]);
    }

    pub(in crate::brain::tests) fn emit(
        &mut self,
        dpid: DatapathId,
        in_port: PortNo,
        outputs: Vec<Output>,
        way: &[DatapathId],
    ) {
        for output in outputs {
            match output {
                Output::Controller(table, frame) => {
                    self.say(Event::PacketIn { dpid, in_port, table, data: Cow::Owned(frame) });
                }
                // Hosts ignore discovery frames, which are sent periodically.
                Output::Port(HOST_PORT, frame) if frame[12..14] == LLDP => {}
                Output::Port(HOST_PORT, frame) => {
                    self.arrived.entry(dpid).or_default().push((frame, way.to_vec()));
                }
                Output::Port(port, frame) => {
                    let from = SwitchPort::new(dpid, port);
                    if frame[12..14] == EXPERIMENT {
                        *self.tested.entry(from).or_default() += 1;
                    }
                    if !self.cut.contains(&from) {
                        self.flying.push_back((self.far_ends[&from], frame, way.to_vec()));
                    }
                }
            }
        }
    }

    pub(in crate::brain::tests) fn arrive(&mut self, at: SwitchPort, frame: &[u8], mut way: Vec<DatapathId>) {
        way.push(at.dpid);
        let outputs = self.switches[&at.dpid].forward(at.port, frame);
        self.emit(at.dpid, at.port, outputs, &way);
    }
}
