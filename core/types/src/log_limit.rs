//! A limit on repeated log lines, by kind and peer.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Time;

/// The period after which lines that were left out are reported.
pub const LOG_WINDOW: Duration = Duration::from_secs(10);
/// Lines of one kind about one peer in a window.
const MAX_LINES_OF_PEER: u32 = 32;
/// Lines of one kind in a window, whatever they are about.
const MAX_LINES_OF_KIND: u32 = 512;
/// Peers that are remembered. Lines about further ones count for their kind alone.
const MAX_PEERS: usize = 4_096;
/// The least interval of searches for windows that are over.
const TIDY_INTERVAL: Duration = Duration::from_secs(1);

/// Bounds the log that peers can cause, and counts what is left out.
///
/// A kind is a place in the program, or a name; a peer is a hash of whoever caused the line, such as an address. Peers that
/// come in great numbers share the limit of their kind.
#[derive(Debug)]
pub struct LogLimit<K> {
    kinds: BTreeMap<K, Lines>,
    peers: BTreeMap<(K, u64), Lines>,
    /// When windows that are over were last looked for.
    tidied_at: Time,
}

/// The lines of a window.
#[derive(Debug)]
struct Lines {
    since: Time,
    written: u32,
    left_out: Option<LeftOut>,
}

/// Lines that were not written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The first of them.
    pub first: String,
    /// How many there were.
    pub count: u64,
    /// The period in which they came.
    pub over: Duration,
}

impl<K: Ord + Clone> LogLimit<K> {
    /// No lines so far.
    pub const fn new() -> Self {
        Self { kinds: BTreeMap::new(), peers: BTreeMap::new(), tidied_at: Time::ZERO }
    }

    /// Whether a line may be written. The first that may not is kept as `text` for the report.
    pub fn admit(&mut self, now: Time, kind: K, peer: Option<u64>, text: impl FnOnce() -> String) -> bool {
        let key = peer.map(|peer| (kind.clone(), peer));
        let key = key.filter(|key| self.has_room_for(now, key));
        if let Some(key) = &key {
            let of_peer = self.peers.entry(key.clone()).or_insert_with(|| Lines::new(now));
            if of_peer.is_at(now, MAX_LINES_OF_PEER) {
                of_peer.leave_out(text);
                return false;
            }
        }
        let of_kind = self.kinds.entry(kind).or_insert_with(|| Lines::new(now));
        if of_kind.is_at(now, MAX_LINES_OF_KIND) {
            of_kind.leave_out(text);
            return false;
        }
        of_kind.written += 1;
        if let Some(of_peer) = key.and_then(|key| self.peers.get_mut(&key)) {
            of_peer.written += 1;
        }
        true
    }

    /// Whether a peer is remembered, or can be: if need be after forgetting those whose windows are over.
    fn has_room_for(&mut self, now: Time, key: &(K, u64)) -> bool {
        if self.peers.contains_key(key) {
            return true;
        }
        if self.peers.len() >= MAX_PEERS && now.since(self.tidied_at) >= TIDY_INTERVAL {
            self.tidied_at = now;
            self.peers.retain(|_, lines| lines.left_out.is_some() || now.since(lines.since) < LOG_WINDOW);
        }
        self.peers.len() < MAX_PEERS
    }

    /// Ends the windows that are over, and reports what was left out in them. Call it about once a second while something is
    /// left out.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<LeftOut> {
        let mut reports = Vec::new();
        let mut goes_on = |lines: &mut Lines| {
            let over = now.since(lines.since);
            if over < LOG_WINDOW {
                return true;
            }
            reports.extend(lines.left_out.take().map(|left_out| LeftOut { over, ..left_out }));
            false
        };
        self.peers.retain(|_, lines| goes_on(lines));
        self.kinds.retain(|_, lines| goes_on(lines));
        reports
    }

    /// Whether something was left out that is not reported yet.
    pub fn has_left_out(&self) -> bool {
        self.kinds.values().chain(self.peers.values()).any(|lines| lines.left_out.is_some())
    }
}

impl<K: Ord + Clone> Default for LogLimit<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    const fn new(since: Time) -> Self {
        Self { since, written: 0, left_out: None }
    }

    /// Whether `limit` lines were written in this window. A new one begins once nothing of the last is to be reported.
    fn is_at(&mut self, now: Time, limit: u32) -> bool {
        if self.left_out.is_none() && now.since(self.since) >= LOG_WINDOW {
            *self = Self::new(now);
        }
        self.written >= limit
    }

    fn leave_out(&mut self, text: impl FnOnce() -> String) {
        let first = || LeftOut { first: text(), count: 0, over: Duration::ZERO };
        let left_out = self.left_out.get_or_insert_with(first);
        left_out.count = left_out.count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        "refused".to_owned()
    }

    fn written(limit: &mut LogLimit<&'static str>, now: Time, peers: impl Iterator<Item = u64>) -> u32 {
        peers.map(|peer| u32::from(limit.admit(now, "refused", Some(peer), text))).sum()
    }

    #[test]
    fn a_peer_that_repeats_itself_is_counted_and_reported_once() {
        let (mut limit, start) = (LogLimit::new(), Time::ZERO);
        assert_eq!(written(&mut limit, start, std::iter::repeat_n(1, 1_000)), MAX_LINES_OF_PEER);
        assert_eq!(limit.handle_timeout(start + LOG_WINDOW / 2), []);
        let report = LeftOut { first: text(), count: 968, over: LOG_WINDOW };
        assert_eq!(limit.handle_timeout(start + LOG_WINDOW), [report]);
        assert!(!limit.has_left_out());
        assert_eq!(written(&mut limit, start + LOG_WINDOW, std::iter::repeat_n(1, 99)), MAX_LINES_OF_PEER);
    }

    #[test]
    fn a_loud_peer_leaves_lines_to_the_others() {
        let mut limit = LogLimit::new();
        written(&mut limit, Time::ZERO, std::iter::repeat_n(1, 100_000));
        assert!(limit.admit(Time::ZERO, "refused", Some(2), text));
        assert!(limit.admit(Time::ZERO, "joined", Some(1), text));
        assert!(limit.admit(Time::ZERO, "refused", None, text));
    }

    #[test]
    fn many_peers_share_the_limit_of_a_kind_and_little_memory() {
        let mut limit = LogLimit::new();
        assert_eq!(written(&mut limit, Time::ZERO, 0..100_000), MAX_LINES_OF_KIND);
        assert!(limit.peers.len() <= MAX_PEERS);
        let reports = limit.handle_timeout(Time::ZERO + LOG_WINDOW);
        assert_eq!(reports.iter().map(|it| it.count).sum::<u64>(), 100_000 - u64::from(MAX_LINES_OF_KIND));
        assert_eq!(reports.len(), 1);
    }

    #[test]
    fn what_is_not_left_out_is_not_reported() {
        let mut limit = LogLimit::new();
        assert!(limit.admit(Time::ZERO, "joined", None, || unreachable!("it is written")));
        assert_eq!(limit.handle_timeout(Time::ZERO + LOG_WINDOW), []);
        assert!(!limit.has_left_out());
    }

    #[test]
    fn a_peer_that_keeps_quiet_for_a_window_may_say_as_much_again() {
        let mut limit = LogLimit::new();
        let once = std::iter::repeat_n(1, MAX_LINES_OF_PEER as usize);
        assert_eq!(written(&mut limit, Time::ZERO, once.clone()), MAX_LINES_OF_PEER);
        assert_eq!(written(&mut limit, Time::ZERO + LOG_WINDOW, once), MAX_LINES_OF_PEER);
        assert!(!limit.has_left_out());
    }

    #[test]
    fn quiet_peers_are_forgotten_for_new_ones() {
        let (mut limit, peers) = (LogLimit::new(), MAX_PEERS as u64);
        written(&mut limit, Time::ZERO, 0..peers);
        written(&mut limit, Time::ZERO + LOG_WINDOW, peers..peers + 1);
        assert_eq!(limit.peers.len(), 1);
    }
}
