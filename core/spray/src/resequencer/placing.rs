//! Where a segment lies in its flow: what it repeats, fills or begins anew, and what it says of paths.

use braid_types::Time;

use super::flow::Place;
use super::release::Cause;
use super::table::FlowId;
use super::{Arrival, Resequencer};

impl<P> Resequencer<P> {
    /// Finds the position of a segment, and releases packets that waited for it.
    pub(super) fn place(&mut self, now: Time, id: FlowId, came: &Arrival) -> Place {
        let (segment, horizon) = (&came.segment, self.settings.horizon);
        let Some(flow) = self.table.get_mut(id) else { return Place::Stray };
        if segment.syn {
            flow.note_syn(segment);
            return Place::Old;
        }
        if flow.is_anew(segment) {
            self.restart(now, id, came);
            return Place::Next;
        }
        if segment.is_empty() {
            return Place::Old;
        }
        let place = flow.place(segment, horizon);
        if place == Place::Stray {
            let believed = flow.note_stray(segment);
            self.counters.stray = self.counters.stray.saturating_add(1);
            if believed {
                self.restart(now, id, came);
            }
            return place;
        }
        let is_latest = flow.note_path(came.at, came.path, segment);
        match place {
            Place::Old => self.note_repeated(id, came, is_latest),
            Place::Duplicate => self.note_old(id, came, is_latest),
            Place::Next => self.go_on(now, id, came, is_latest),
            _ => {}
        }
        place
    }

    // Packets waiting in send order were sent later, and belong to the new connection.
    fn restart(&mut self, now: Time, id: FlowId, came: &Arrival) {
        self.give_up(now, id, Cause::Ended, |_| true);
        if let Some(flow) = self.table.get_mut(id) {
            flow.restart(&came.segment);
            flow.note_path(came.at, came.path, &came.segment);
        }
    }

    /// Notes a late or repeated segment of a gap that was given up.
    fn note_repeated(&mut self, id: FlowId, came: &Arrival, is_latest: bool) {
        self.note_old(id, came, is_latest);
        // Nothing is known of paths that do not keep their order.
        if let Some(flow) = self.table.get_mut(id).filter(|_| self.settings.paths > 0) {
            flow.note_repeated(came.at);
        }
    }

    /// Counts a retransmission. If its path has delivered nothing later, the gap was given up too soon instead.
    fn note_old(&mut self, id: FlowId, came: &Arrival, is_latest: bool) {
        self.counters.old = self.counters.old.saturating_add(1);
        let gap = self.table.get_mut(id).and_then(|flow| flow.gap_of(&came.segment));
        // What probes have shown to be lost is sent again.
        if let Some(gap) = gap.filter(|gap| is_latest && came.at >= gap.opened && !gap.is_overtaken) {
            self.counters.spurious = self.counters.spurious.saturating_add(1);
            self.skew.observe(came.at, came.at.since(gap.opened));
        }
    }

    fn go_on(&mut self, now: Time, id: FlowId, came: &Arrival, is_latest: bool) {
        let Some(flow) = self.table.get_mut(id) else { return };
        flow.advance(came.segment.end());
        let Some(first) = flow.first() else { return };
        let opened = self.store.entry(first.slot).map_or(came.at, |entry| entry.arrival);
        if self.release_next(now, id) {
            self.counters.gaps_filled = self.counters.gaps_filled.saturating_add(1);
        }
        if is_latest && came.at >= opened {
            let path = self.path_mut(came.path);
            path.late = path.late.saturating_add(1);
            self.skew.observe(came.at, came.at.since(opened));
        }
        self.release_passed(now, id);
    }
}
