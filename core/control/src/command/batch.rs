//! A batch of commands with their frames, notices and replies.

use std::ops::Range;

use braid_types::DatapathId;

use super::{Command, Target};
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::request::{Reply, Ticket};

/// A held packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HeldPacket {
    /// The switch where it entered.
    pub(crate) dpid: DatapathId,
    pub(crate) frame: Vec<u8>,
}

/// A batch of commands in order, with their frames, notices and replies.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Commands {
    list: Vec<Command>,
    bytes: Vec<u8>,
    notices: Vec<Notice>,
    replies: Vec<(Ticket, Reply)>,
}

impl Commands {
    /// The commands, in the order in which they must take effect at each switch.
    pub fn iter(&self) -> std::slice::Iter<'_, Command> {
        self.list.iter()
    }

    /// The notices for watchers.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Takes the replies to requests, made now or earlier.
    pub fn take_replies(&mut self) -> Vec<(Ticket, Reply)> {
        std::mem::take(&mut self.replies)
    }

    /// The bytes of a [`Command::Send`] of this batch.
    pub fn frame(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.notices.clear();
        self.replies.clear();
    }

    pub(crate) fn reply(&mut self, ticket: Ticket, reply: Reply) {
        self.replies.push((ticket, reply));
    }

    pub(crate) fn push(&mut self, command: Command) {
        self.list.push(command);
    }

    pub(crate) fn add(&mut self, dpid: DatapathId, rule: Rule) {
        self.push(Command::Add { dpid, rule });
    }

    pub(crate) fn send(&mut self, dpid: DatapathId, target: Target, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.push(Command::Send { dpid, target, frame: start..self.bytes.len() });
    }

    /// The packets that pass through the tables of switches.
    pub(crate) fn held(&self) -> impl Iterator<Item = HeldPacket> {
        self.list.iter().filter_map(|command| match command {
            Command::Send { dpid, target: Target::Pipeline, frame } => {
                Some(HeldPacket { dpid: *dpid, frame: self.frame(frame).to_vec() })
            }
            _ => None,
        })
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&Command) -> bool) {
        self.list.retain(keep);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Moves everything from `other` to this batch; `other` keeps its memory. Frames move first, then each
    /// command passes `write`.
    pub(crate) fn absorb(&mut self, other: &mut Self, mut write: impl FnMut(&mut Self, Command)) {
        let offset = self.bytes.len();
        self.bytes.append(&mut other.bytes);
        self.notices.append(&mut other.notices);
        self.replies.append(&mut other.replies);
        for mut command in other.list.drain(..) {
            if let Command::Send { frame, .. } = &mut command {
                *frame = frame.start + offset..frame.end + offset;
            }
            write(self, command);
        }
    }
}

impl<'a> IntoIterator for &'a Commands {
    type Item = &'a Command;
    type IntoIter = std::slice::Iter<'a, Command>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absorbed_frames_keep_their_bytes() {
        let (dpid, target) = (DatapathId(1), Target::Pipeline);
        let mut first = Commands::default();
        first.send(dpid, target, b"one");
        let mut second = Commands::default();
        second.send(dpid, target, b"three");
        first.absorb(&mut second, Commands::push);
        let frames = first.iter().map(|command| match command {
            Command::Send { frame, .. } => first.frame(frame),
            other => panic!("unexpected {other:?}"),
        });
        let frames = frames.collect::<Vec<_>>();
        assert_eq!(frames, [b"one".as_slice(), b"three"]);
    }
}
