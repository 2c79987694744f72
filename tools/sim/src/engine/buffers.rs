//! Send and receive buffers of an MPTCP connection, sized automatically as in Linux.

use super::Picos;

/// The first window of the receiver in bytes: half of `tcp_rmem`.
const FIRST_WINDOW: u64 = 65_536;
/// The reference of the first measurement: ten segments.
const FIRST_SPACE: u32 = 10;

/// The buffers at both ends of an MPTCP connection of Linux: data written by the application, and the receiver's window.
/// Numbers are of segments.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    /// The segments written so far.
    pub(crate) written: u32,
    /// The end of the receiver's window. It never decreases.
    pub(crate) edge: u32,
    /// The present and the greatest size of the receiver's buffer.
    room: u32,
    most: u32,
    /// The segments that arrived in order in a round trip, the start of the count, and its end.
    space: u32,
    counted_from: u32,
    due: Picos,
    /// The time of the last acknowledgement of data, or time-out.
    pub(crate) progress: Picos,
    pub(crate) deadline: Option<Picos>,
}

impl Buffers {
    pub(crate) fn new(buffer: u64, payload: u16) -> Self {
        let segments = |bytes: u64| u32::try_from(bytes / u64::from(payload)).unwrap_or(u32::MAX).max(1);
        let room = segments(FIRST_WINDOW.min(buffer));
        Self {
            written: 0,
            edge: room,
            room,
            most: segments(buffer),
            space: FIRST_SPACE,
            counted_from: 0,
            due: Picos::ZERO,
            progress: Picos::ZERO,
            deadline: None,
        }
    }

    /// Writes as much as fits, once a third of the buffer is free (`sk_stream_is_writeable`).
    pub(crate) fn write(&mut self, una: u32, total: u32, room: u32) {
        if u64::from(self.written.saturating_sub(una)) * 3 <= u64::from(room) * 2 {
            self.written = self.written.max(una.saturating_add(room).min(total));
        }
    }

    /// Notes arrivals: `next` is the first missing segment, and `beyond` segments after it take room too.
    pub(crate) fn arrived(&mut self, now: Picos, next: u32, beyond: u32, round_trip: impl Fn() -> Picos) {
        if now >= self.due {
            self.measure(next);
            self.due = now + round_trip();
        }
        self.edge = self.edge.max(next.saturating_add(self.room.saturating_sub(beyond)));
    }

    /// `mptcp_rcv_space_adjust`: room for twice the arrivals of a round trip, and more where these grow.
    fn measure(&mut self, next: u32) {
        let came = next - self.counted_from;
        self.counted_from = next;
        if came <= self.space {
            return;
        }
        let wanted = u64::from(came) * 2;
        let more = wanted * u64::from(came - self.space) / u64::from(self.space.max(1)) * 2;
        self.space = came;
        self.room = self.room.max(u32::try_from(wanted + more).unwrap_or(u32::MAX)).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Picos = Picos::from_millis(10);

    #[test]
    fn application_writes_again_when_a_third_is_free() {
        let mut buffers = Buffers::new(u64::MAX, 1_428);
        let written: Vec<_> = [0, 10, 32, 33, 40]
            .map(|una| {
                buffers.write(una, 1_000, 99);
                buffers.written
            })
            .into();
        assert_eq!(written, [99, 99, 99, 132, 132]);
        buffers.write(990, 1_000, 99);
        assert_eq!(buffers.written, 1_000);
    }

    #[test]
    fn receiver_makes_room_for_twice_what_comes_in_a_round_trip() {
        let mut buffers = Buffers::new(u64::MAX, 1_428);
        assert_eq!(buffers.edge, 45);
        let mut edge = |millis, next, beyond| {
            buffers.arrived(Picos::from_millis(millis), next, beyond, || RTT);
            buffers.edge
        };
        assert_eq!(edge(0, 1, 0), 46);
        assert_eq!(edge(5, 20, 10), 55, "what waits for a gap takes room");
        // 40 came after 1; beside twice of that twice of what 40 is beyond 10.
        assert_eq!(edge(10, 41, 0), 41 + 80 + 480);
        assert_eq!(edge(20, 42, 600), 601, "it does not go back");
    }

    #[test]
    fn buffer_bounds_the_room() {
        let mut buffers = Buffers::new(142_800, 1_428);
        (0..20).for_each(|turn| buffers.arrived(Picos::from_millis(turn * 10), turn as u32 * 90, 0, || RTT));
        assert_eq!(buffers.edge, 19 * 90 + 100);
    }
}
