//! The rates of streams while they are watched, as lines of blocks.

use std::collections::{BTreeMap, VecDeque};

use braid_api::Stream;

/// Refreshes that a line shows.
const LENGTH: usize = 15;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last rates of streams, by number: both directions together, in bits a second.
#[derive(Default)]
pub(super) struct History(BTreeMap<u64, VecDeque<u64>>);

impl History {
    /// Takes in the rates of the streams that there are now; the others are forgotten.
    pub(super) fn note<'a>(&mut self, streams: impl Iterator<Item = &'a Stream>) {
        let mut before = std::mem::take(&mut self.0);
        for stream in streams {
            let mut rates = before.remove(&stream.id).unwrap_or_default();
            rates.push_back(stream.sent_bps.saturating_add(stream.received_bps));
            while rates.len() > LENGTH {
                rates.pop_front();
            }
            self.0.insert(stream.id, rates);
        }
    }

    /// The line of a stream. All lines have one scale.
    pub(super) fn line(&self, stream: u64) -> String {
        let most = self.0.values().flatten().copied().max().unwrap_or(0).max(1);
        let block = |rate: &u64| {
            let place = u128::from(*rate) * (BLOCKS.len() as u128 - 1) / u128::from(most);
            BLOCKS.get(place as usize).copied().unwrap_or(' ')
        };
        self.0.get(&stream).into_iter().flatten().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn stream(id: u64, sent_bps: u64) -> Stream {
        let ip = Ipv4Addr::LOCALHOST.into();
        Stream {
            id,
            src: ip,
            dst: ip,
            src_name: None,
            dst_name: None,
            src_port: 1,
            dst_port: 2,
            path: Vec::new(),
            path_names: Vec::new(),
            ports: Vec::new(),
            spray_paths: Vec::new(),
            bytes_sent: 0,
            bytes_received: 0,
            sent_bps,
            received_bps: 0,
        }
    }

    #[test]
    fn lines_have_one_scale_and_a_length() {
        let mut history = History::default();
        for rate in [0, 50, 100] {
            history.note([stream(1, rate), stream(2, 100)].iter());
        }
        assert_eq!([history.line(1), history.line(2), history.line(3)], ["▁▄█", "███", ""]);
        (0..20).for_each(|_| history.note([stream(1, u64::MAX)].iter()));
        assert_eq!((history.line(1), history.line(2)), ("█".repeat(LENGTH), String::new()));
    }
}
