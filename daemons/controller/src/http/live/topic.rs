//! Server-sent events encoded once for all watchers, with replay after a reconnection.

use std::collections::VecDeque;

use axum::body::Bytes;
use tokio::sync::mpsc;

/// Chunks that a watcher may lag behind; then it is dropped.
const MAX_LAG: usize = 64;
/// Bytes of messages that are kept for watchers that come back. One that has missed more gets the whole state anew, which
/// is about as long when much happens.
const MAX_KEPT: usize = 1 << 20;

/// Numbered messages to whoever watches, of which the last are kept.
///
/// Each is encoded once, as server-sent events are, and shared by all watchers. One that does not read is dropped.
#[derive(Debug)]
pub(super) struct Topic {
    /// Names this start of the controller, so that numbers of an earlier one mean nothing.
    run: u64,
    /// The number of the last message.
    last: u64,
    kept: VecDeque<(u64, Bytes)>,
    kept_bytes: usize,
    watchers: Vec<mpsc::Sender<Bytes>>,
}

/// Where a watcher goes on.
#[derive(Debug)]
pub(super) enum Resumed {
    /// These are the messages that it has missed.
    Missed(Vec<Bytes>),
    /// It has never been here, or too much happened since.
    Anew,
}

impl Topic {
    pub(super) const fn new(run: u64) -> Self {
        Self { run, last: 0, kept: VecDeque::new(), kept_bytes: 0, watchers: Vec::new() }
    }

    /// What names the last message to clients.
    pub(super) fn last_id(&self) -> String {
        self.id(self.last)
    }

    /// The number of the next message.
    pub(super) const fn next(&self) -> u64 {
        self.last + 1
    }

    /// Sends messages, each an event and its data, which is one line.
    pub(super) fn send(&mut self, messages: &[(&str, String)]) {
        let (mut chunk, mut ends) = (String::new(), Vec::with_capacity(messages.len()));
        for (event, data) in messages {
            self.last += 1;
            chunk.push_str(&encode(Some(&self.id(self.last)), event, data));
            ends.push((self.last, chunk.len()));
        }
        let chunk = Bytes::from(chunk);
        let mut start = 0;
        for (number, end) in ends {
            self.keep(number, chunk.slice(start..end));
            start = end;
        }
        self.pass_on(&chunk);
    }

    /// Lets watchers, and what is between, know that the connection is alive.
    pub(super) fn keep_alive(&mut self) {
        self.pass_on(&Bytes::from_static(b":\n\n"));
    }

    /// What comes from now on. It ends when the watcher lags behind.
    pub(super) fn watch(&mut self) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(MAX_LAG);
        self.watchers.retain(|watcher| !watcher.is_closed());
        self.watchers.push(sender);
        receiver
    }

    /// Whether anybody watches.
    pub(super) fn is_watched(&self) -> bool {
        self.watchers.iter().any(|watcher| !watcher.is_closed())
    }

    /// What somebody who has seen the message `id` has missed.
    pub(super) fn since(&self, id: &str) -> Resumed {
        let number = id.split_once('-').and_then(|(run, number)| {
            (u64::from_str_radix(run, 16) == Ok(self.run)).then(|| number.parse::<u64>().ok())?
        });
        let oldest = self.kept.front().map_or(self.next(), |(number, _)| *number);
        match number {
            Some(number) if number <= self.last && number + 1 >= oldest => {
                let missed = self.kept.iter().filter(|(kept, _)| *kept > number);
                Resumed::Missed(missed.map(|(_, message)| message.clone()).collect())
            }
            _ => Resumed::Anew,
        }
    }

    fn id(&self, number: u64) -> String {
        format!("{:x}-{number}", self.run)
    }

    fn keep(&mut self, number: u64, message: Bytes) {
        self.kept_bytes += message.len();
        self.kept.push_back((number, message));
        while self.kept_bytes > MAX_KEPT
            && let Some((_, oldest)) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.len();
        }
    }

    fn pass_on(&mut self, chunk: &Bytes) {
        self.watchers.retain(|watcher| watcher.try_send(chunk.clone()).is_ok());
    }
}

/// A server-sent event; the data is one line.
pub(super) fn encode(id: Option<&str>, event: &str, data: &str) -> String {
    debug_assert!(!data.contains('\n'));
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{id}event: {event}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(topic: &Topic, id: &str) -> Option<Vec<String>> {
        match topic.since(id) {
            Resumed::Missed(messages) => {
                Some(messages.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect())
            }
            Resumed::Anew => None,
        }
    }

    #[test]
    fn a_watcher_gets_what_comes_and_one_that_comes_back_what_it_has_missed() {
        let mut topic = Topic::new(0xa);
        let mut watcher = topic.watch();
        topic.send(&[("notice", "1".to_owned()), ("notice", "2".to_owned())]);
        let expected = "id: a-1\nevent: notice\ndata: 1\n\nid: a-2\nevent: notice\ndata: 2\n\n";
        assert_eq!(watcher.try_recv().expect("a chunk"), expected);
        assert_eq!(data(&topic, "a-1").expect("kept"), ["id: a-2\nevent: notice\ndata: 2\n\n"]);
        assert_eq!(data(&topic, &topic.last_id()), Some(Vec::new()));
        assert_eq!(data(&topic, "a-0").expect("kept").len(), 2);
    }

    #[test]
    fn an_id_that_is_none_of_this_run_begins_anew() {
        let mut topic = Topic::new(0xa);
        topic.send(&[("notice", String::new())]);
        for id in ["", "b-1", "a-2", "a-18446744073709551615", "a-", "a", "-1", "a--1", "zz-1"] {
            assert_eq!(data(&topic, id), None, "{id}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut topic = Topic::new(1);
        let long = "x".repeat(MAX_KEPT / 8);
        (0..20).for_each(|_| topic.send(&[("delta", long.clone())]));
        assert!(topic.kept_bytes <= MAX_KEPT && topic.kept.len() == 7, "{}", topic.kept.len());
        assert_eq!(data(&topic, "1-12"), None);
        assert_eq!(data(&topic, "1-13").expect("kept").len(), 7);
    }

    #[test]
    fn a_watcher_that_does_not_read_is_dropped_and_the_others_go_on() {
        let mut topic = Topic::new(1);
        let (mut slow, mut good) = (topic.watch(), topic.watch());
        for _ in 0..MAX_LAG + 1 {
            topic.send(&[("delta", String::new())]);
            assert!(good.try_recv().is_ok());
        }
        assert_eq!(topic.watchers.len(), 1);
        (0..MAX_LAG).for_each(|_| assert!(slow.try_recv().is_ok()));
        assert_eq!(slow.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
    }
}
