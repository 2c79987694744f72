//! Rules read from switches for people who want to see them. The brain takes no part, so nothing of it is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use braid_control::pipeline::read_rules;
use braid_openflow::{TableId, Xid};
use braid_types::{DatapathId, Time};
use tokio::sync::oneshot;

use super::Engine;
use crate::channels::Request;
use crate::names::Names;

/// The time in which a switch has to tell all of its rules.
const READ_TIMEOUT: Duration = Duration::from_secs(3);
/// Switches whose rules are read at the same time.
const MAX_READS: usize = 8;
/// Clients that wait for the rules of one switch.
const MAX_READERS: usize = 16;
/// Bytes kept of what a switch tells: 20,000 to 40,000 rules.
const MAX_BYTES: usize = 4 << 20;

/// The rules of a switch, as it has told them.
#[derive(Debug)]
pub(crate) struct ReadRules {
    pub(crate) dpid: DatapathId,
    /// When the switch was asked.
    pub(crate) asked_at: Time,
    /// What switches were called then.
    pub(crate) names: Names,
    /// Its messages, one after the other.
    pub(crate) messages: Vec<u8>,
    /// Whether the switch had more to tell.
    pub(crate) truncated: bool,
}

/// The way back to whoever wants to see rules.
pub(crate) type RulesReader = oneshot::Sender<Result<Arc<ReadRules>, ReadRulesError>>;

/// The reason for which there are no rules to see.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum ReadRulesError {
    #[error("{0:?} is no name or datapath id of a switch")]
    Unknown(String),
    #[error("no switch {0} is connected")]
    NotConnected(String),
    #[error("another controller is the master of switch {0}: ask that one")]
    NotMaster(String),
    #[error("switch {0} has left before it had told all of its rules")]
    Left(String),
    #[error("switch {0} has not told its rules within {seconds} s", seconds = READ_TIMEOUT.as_secs())]
    TimedOut(String),
    #[error("switch {0} refuses to tell its rules: {1}")]
    Refused(String, String),
    #[error("rules of switch {0} are being read for others: ask again")]
    Busy(String),
    #[error("the rules of {MAX_READS} other switches are being read: ask again")]
    TooManyReads,
}

/// The switches that are being asked for their rules.
#[derive(Debug, Default)]
pub(super) struct RuleReads {
    open: BTreeMap<DatapathId, RuleRead>,
}

/// A request for the rules of one switch. It stays until it is answered or too old, so that a switch has one at a time.
#[derive(Debug)]
struct RuleRead {
    xid: Xid,
    table: Option<TableId>,
    asked_at: Time,
    names: Names,
    messages: Vec<u8>,
    readers: Vec<RulesReader>,
}

impl Engine {
    /// Reads the rules of a switch, or of one table of it, by its name or datapath id. Readers of the same share an answer.
    pub(crate) fn read_rules(&mut self, switch: &str, table: Option<TableId>, reader: RulesReader) {
        if self.stopping {
            return;
        }
        match self.readable(switch) {
            Ok(dpid) => self.begin_read(dpid, table, reader),
            // The client may have gone.
            Err(error) => _ = reader.send(Err(error)),
        }
    }

    /// A part of the rules that a switch was asked for.
    pub(crate) fn take_rules(&mut self, dpid: DatapathId, xid: Xid, part: &[u8], is_last: bool) {
        self.rule_reads.take(dpid, xid, part, is_last);
    }

    fn readable(&mut self, switch: &str) -> Result<DatapathId, ReadRulesError> {
        let dpid = self.names.switch_called(switch);
        let dpid = dpid.ok_or_else(|| ReadRulesError::Unknown(switch.to_owned()))?;
        if self.switches.master_of(dpid).is_some() {
            return Ok(dpid);
        }
        let label = self.names.label(dpid);
        let is_connected = self.switches.address(dpid).is_some();
        Err(if is_connected { ReadRulesError::NotMaster(label) } else { ReadRulesError::NotConnected(label) })
    }

    fn begin_read(&mut self, dpid: DatapathId, table: Option<TableId>, reader: RulesReader) {
        let (now, xid, names) = (self.now(), self.next_xid(), self.names.clone());
        let read = RuleRead { xid, table, asked_at: now, names, messages: Vec::new(), readers: vec![reader] };
        self.rule_reads.handle_timeout(now);
        if self.rule_reads.open(dpid, read)
            && let Some(peer) = self.switches.master_of(dpid)
        {
            peer.outbox.note_request(Request::Rules(xid));
            // The message is short.
            peer.outbox.append(|out| _ = read_rules(table, xid, out));
        }
    }
}

impl RuleReads {
    /// Begins a read, or lets its reader wait for the one that is under way; whether the switch is to be asked.
    fn open(&mut self, dpid: DatapathId, read: RuleRead) -> bool {
        if let Some(open) = self.open.get_mut(&dpid) {
            open.join(dpid, read);
            return false;
        }
        let has_room = self.open.len() < MAX_READS;
        if has_room {
            self.open.insert(dpid, read);
        } else {
            read.fail(&ReadRulesError::TooManyReads);
        }
        has_room
    }

    fn take(&mut self, dpid: DatapathId, xid: Xid, part: &[u8], is_last: bool) {
        let Some(read) = self.open.get_mut(&dpid).filter(|read| read.xid == xid) else { return };
        read.messages.extend_from_slice(part);
        let truncated = !is_last && read.messages.len() >= MAX_BYTES;
        if (is_last || truncated)
            && let Some(read) = self.open.remove(&dpid)
        {
            read.finish(dpid, truncated);
        }
    }

    /// Whether the transaction that a switch refuses was a read.
    pub(super) fn refuse(&mut self, dpid: DatapathId, xid: Xid, reason: &str) -> bool {
        let is_read = self.open.get(&dpid).is_some_and(|read| read.xid == xid);
        if is_read {
            self.end(dpid, |switch| ReadRulesError::Refused(switch, reason.to_owned()));
        }
        is_read
    }

    /// Ends the read of a switch for this reason, which gets the name of the switch.
    pub(super) fn end(&mut self, dpid: DatapathId, why: impl FnOnce(String) -> ReadRulesError) {
        if let Some(read) = self.open.remove(&dpid) {
            let why = why(read.names.label(dpid));
            read.fail(&why);
        }
    }

    /// Ends what has taken too long.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        let is_late = |read: &RuleRead| now.since(read.asked_at) >= READ_TIMEOUT;
        let late: Vec<_> =
            self.open.iter().filter(|(_, read)| is_late(read)).map(|(dpid, _)| *dpid).collect();
        late.into_iter().for_each(|dpid| self.end(dpid, ReadRulesError::TimedOut));
    }

    /// Ends everything; readers get no answer.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

impl RuleRead {
    fn join(&mut self, dpid: DatapathId, other: Self) {
        self.readers.retain(|reader| !reader.is_closed());
        if self.table == other.table && self.readers.len() < MAX_READERS {
            self.readers.extend(other.readers);
        } else {
            other.fail(&ReadRulesError::Busy(self.names.label(dpid)));
        }
    }

    fn finish(self, dpid: DatapathId, truncated: bool) {
        let Self { asked_at, names, messages, readers, .. } = self;
        let read = Arc::new(ReadRules { dpid, asked_at, names, messages, truncated });
        answer(readers, || Ok(Arc::clone(&read)));
    }

    fn fail(self, why: &ReadRulesError) {
        answer(self.readers, || Err(why.clone()));
    }
}

/// Readers may have gone.
fn answer(readers: Vec<RulesReader>, answer: impl Fn() -> Result<Arc<ReadRules>, ReadRulesError>) {
    readers.into_iter().for_each(|reader| _ = reader.send(answer()));
}
