//! Streams that are known before a packet of theirs is seen: advised, open already, or of an earlier controller.

use braid_steering::{Full, Opening, StreamId, TransferId};
use braid_types::{FiveTuple, Time};

use super::{Network, Streams};

impl Streams {
    /// A stream that a host will open because it is told to.
    ///
    /// `tuple` must not be known yet. Errors: a limit is reached; nothing is changed.
    pub(crate) fn expect(
        &mut self,
        now: Time,
        tuple: FiveTuple,
        transfer: TransferId,
    ) -> Result<StreamId, Full> {
        self.table.expect(now, tuple, transfer)
    }

    /// The first stream of a connection that is open already.
    ///
    /// `tuple` must not be known yet. Errors: a limit is reached; nothing is changed.
    pub(crate) fn open_unseen(&mut self, net: &mut Network<'_>, tuple: FiveTuple) -> Result<StreamId, Full> {
        let id = self.table.open(net.cx.now, tuple, Opening::Unseen)?;
        self.tell_if_new(net, id);
        Ok(id)
    }

    /// A stream that an earlier controller has placed, under its old number; says whether there was room for it.
    pub(crate) fn restore(&mut self, now: Time, id: StreamId, tuple: FiveTuple, is_sprayed: bool) -> bool {
        if self.table.stream(id).is_some() || self.table.by_tuple(&tuple).is_some() {
            return false;
        }
        match is_sprayed {
            true => self.table.adopt_sprayed(now, id, tuple).is_ok(),
            false => self.table.adopt(now, id, tuple).is_ok(),
        }
    }

    /// New streams get numbers above `id` by `gap`, if it is above all so far.
    pub(crate) fn skip(&mut self, id: StreamId, gap: u64) {
        if id > self.table.last_stream() {
            self.table.skip_streams(StreamId(id.0.saturating_add(gap)));
        }
    }
}
