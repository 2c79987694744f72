//! Framing of OpenFlow messages in a byte stream that may have gaps.

use braid_openflow::{HEADER_LEN, Header, Message, MessageType, VERSION, frame_length};

/// Bytes searched for a message at a time: the longest message and the next one's header.
const MAX_SEARCHED: usize = 1 << 17;
/// Bytes shown of data that is no message.
const MAX_SHOWN: usize = 64;
/// The highest wire version: OpenFlow 1.5.
const MAX_VERSION: u8 = 6;
/// The highest message type of any version.
const MAX_TYPE: u8 = 35;

/// An item of the stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A message, or bytes with the framing of one.
    Message {
        /// Its offset in the stream of one sender, in bytes.
        offset: u64,
        /// The whole message.
        bytes: Vec<u8>,
    },
    /// Bytes that cannot begin a message, where one must begin.
    Lost {
        /// Their offset in bytes.
        offset: u64,
        /// The first bytes.
        bytes: Vec<u8>,
        /// The reason.
        reason: String,
    },
    /// Bytes skipped until the next message or the end of the stream.
    Skipped {
        /// Their offset in bytes.
        offset: u64,
        /// Their number.
        count: u64,
        /// The reason for skipping.
        why: &'static str,
    },
}

/// Finds the messages in one direction of a connection. Drain [`Self::poll`] after every other call.
#[derive(Debug)]
pub(super) struct Framing {
    /// Bytes not passed on yet. They begin with a message, unless a search is active.
    buffer: Vec<u8>,
    /// The buffer's offset in the stream.
    offset: u64,
    search: Option<Search>,
    finished: bool,
}

/// The search for a message in the middle of a stream.
#[derive(Debug)]
struct Search {
    since: u64,
    why: &'static str,
    /// Offsets of segments in order, where messages are most likely to begin.
    segments: Vec<u64>,
}

/// Whether a message begins at an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Yes,
    No,
    /// Possibly, but it is incomplete.
    Perhaps,
}

impl Framing {
    /// A stream captured from its first byte.
    pub(super) const fn from_the_start() -> Self {
        Self { buffer: Vec::new(), offset: 0, search: None, finished: false }
    }

    /// A stream captured from the middle.
    pub(super) fn from_the_middle() -> Self {
        let mut framing = Self::from_the_start();
        framing.search = Some(Search::new(0, "the stream began before the capture"));
        framing
    }

    /// Adds the bytes of the next segment.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        let end = self.end();
        if let Some(search) = &mut self.search {
            search.segments.push(end);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Notes that the next `count` bytes are not in the capture.
    pub(super) fn miss(&mut self, count: u64) {
        let end = self.end();
        self.search.get_or_insert(Search::new(self.offset, "bytes are missing from the capture"));
        self.buffer.clear();
        self.offset = end.saturating_add(count);
    }

    /// Notes the end of the stream.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// The next item that is certain.
    pub(super) fn poll(&mut self) -> Option<Item> {
        let found = match self.search {
            None => self.next_message(),
            Some(_) => self.search(),
        };
        found.or_else(|| self.finished.then(|| self.give_up()).flatten())
    }

    fn next_message(&mut self) -> Option<Item> {
        let offset = self.offset;
        if let Some(reason) = no_header(&self.buffer) {
            self.search = Some(Search::new(offset, "no message was found there"));
            let bytes = self.buffer.get(..MAX_SHOWN).unwrap_or(&self.buffer).to_vec();
            return Some(Item::Lost { offset, bytes, reason });
        }
        let length = frame_length(&self.buffer).ok().flatten()?;
        Some(Item::Message { offset, bytes: self.take(length) })
    }

    fn search(&mut self) -> Option<Item> {
        let Some(skipped) = self.find() else {
            self.shed();
            return None;
        };
        self.take(skipped);
        let Search { since, why, .. } = self.search.take()?;
        Some(Item::Skipped { offset: since, count: self.offset.saturating_sub(since), why })
    }

    /// The number of bytes before the buffer's first message.
    fn find(&self) -> Option<usize> {
        let segments = self.search.as_ref().map_or(&[][..], |search| &search.segments);
        for (at, position) in (0..self.buffer.len()).zip(self.offset..) {
            match verdict(self.buffer.get(at..).unwrap_or_default()) {
                Verdict::Yes => return Some(at),
                // The content of a long message may look like a message.
                Verdict::Perhaps if !self.finished && segments.binary_search(&position).is_ok() => {
                    return None;
                }
                Verdict::Perhaps | Verdict::No => {}
            }
        }
        None
    }

    /// Bounds the searched bytes.
    fn shed(&mut self) {
        if self.buffer.len() > MAX_SEARCHED {
            self.take(self.buffer.len().saturating_sub(MAX_SEARCHED / 2));
            let offset = self.offset;
            if let Some(search) = &mut self.search {
                search.segments.retain(|segment| *segment >= offset);
            }
        }
    }

    fn give_up(&mut self) -> Option<Item> {
        let (since, why) = match self.search.take() {
            Some(search) => (search.since, search.why),
            None => (self.offset, "the stream ends within a message"),
        };
        let count = self.end().saturating_sub(since);
        self.take(self.buffer.len());
        (count > 0).then_some(Item::Skipped { offset: since, count, why })
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        self.offset = self.offset.saturating_add(count as u64);
        self.buffer.drain(..count.min(self.buffer.len())).collect()
    }

    const fn end(&self) -> u64 {
        self.offset.saturating_add(self.buffer.len() as u64)
    }
}

impl Search {
    const fn new(since: u64, why: &'static str) -> Self {
        Self { since, why, segments: Vec::new() }
    }
}

/// The reason for which `bytes` cannot begin a message; `None` if they can.
fn no_header(bytes: &[u8]) -> Option<String> {
    match *bytes {
        [0x14..=0x17, 3, ..] => Some("this is TLS, which cannot be decoded".to_owned()),
        [version, ..] if !(1..=MAX_VERSION).contains(&version) => Some(format!(
            "a message begins with a wire version of OpenFlow, 1 to {MAX_VERSION}, not with {version}"
        )),
        _ if bytes.len() < HEADER_LEN => None,
        _ => Header::decode(bytes).err().map(|error| error.to_string()),
    }
}

/// Whether a message begins with `bytes`: it must decode, and the next one must begin where it ends.
fn verdict(bytes: &[u8]) -> Verdict {
    if no_header(bytes).is_some() || bytes.get(1).is_some_and(|kind| *kind > MAX_TYPE) {
        return Verdict::No;
    }
    let Some((message, rest)) = frame_length(bytes).ok().flatten().and_then(|at| bytes.split_at_checked(at))
    else {
        return Verdict::Perhaps;
    };
    if decodes(message) && no_header(rest).is_none() { Verdict::Yes } else { Verdict::No }
}

/// Whether the message type is known, or of a version that this crate does not know.
fn decodes(message: &[u8]) -> bool {
    if message.first() != Some(&VERSION) {
        return true;
    }
    let decoded = Message::decode(message);
    decoded.is_ok_and(|(_, message)| !matches!(message.message_type(), MessageType::Unknown(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: [u8; 8] = [4, 0, 0, 8, 0, 0, 0, 1];
    const ECHO: [u8; 12] = [4, 2, 0, 12, 0, 0, 0, 2, b'p', b'i', b'n', b'g'];

    fn drain(framing: &mut Framing) -> Vec<Item> {
        std::iter::from_fn(|| framing.poll()).collect()
    }

    fn message(offset: u64, bytes: &[u8]) -> Item {
        Item::Message { offset, bytes: bytes.to_vec() }
    }

    fn skipped(offset: u64, count: u64, why: &'static str) -> Item {
        Item::Skipped { offset, count, why }
    }

    #[test]
    fn messages_are_found_however_they_are_cut_into_segments() {
        let stream = [&HELLO[..], &ECHO[..]].concat();
        for cut in 0..stream.len() {
            let mut framing = Framing::from_the_start();
            framing.receive(&stream[..cut]);
            let mut found = drain(&mut framing);
            framing.receive(&stream[cut..]);
            found.extend(drain(&mut framing));
            assert_eq!(found, [message(0, &HELLO), message(8, &ECHO)], "{cut}");
        }
    }

    #[test]
    fn search_in_mid_stream_ends_at_the_first_message() {
        let mut framing = Framing::from_the_middle();
        framing.receive(&[b"tail of a message", &ECHO[..], &HELLO[..4]].concat());
        assert_eq!(
            drain(&mut framing),
            [skipped(0, 17, "the stream began before the capture"), message(17, &ECHO)]
        );
    }

    #[test]
    fn long_message_at_a_segments_start_is_waited_for() {
        let mut packet_in = vec![4, 4, 0, 40, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0];
        packet_in.extend(HELLO);
        packet_in.extend([0; 16]);
        let mut framing = Framing::from_the_middle();
        framing.receive(&packet_in[..24]);
        assert_eq!(drain(&mut framing), []);
        framing.receive(&packet_in[24..]);
        let why = "the stream began before the capture";
        assert_eq!(drain(&mut framing), [skipped(0, 0, why), message(0, &packet_in)]);
    }

    #[test]
    fn framing_is_found_again_after_bytes_that_are_no_message() {
        let mut framing = Framing::from_the_start();
        framing.receive(&[&HELLO[..], &[4, 0, 0, 7, 0, 0, 0, 1], &ECHO[..]].concat());
        let found = drain(&mut framing);
        let [first, Item::Lost { offset: 8, reason, .. }, after, last] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((first, last), (&message(0, &HELLO), &message(16, &ECHO)));
        assert_eq!(reason, "Header: a length of 7 bytes is impossible");
        assert_eq!(after, &skipped(8, 8, "no message was found there"));
    }

    #[test]
    fn encrypted_stream_is_called_so_and_does_not_grow() {
        let mut framing = Framing::from_the_start();
        framing.receive(&[0x16, 3, 1, 2, 0]);
        let found = drain(&mut framing);
        assert!(matches!(&found[..], [Item::Lost { reason, .. }] if reason.contains("TLS")), "{found:?}");
        for _ in 0..10 {
            framing.receive(&[0xa5; 65_536]);
            assert_eq!(drain(&mut framing), []);
        }
        assert!(framing.buffer.len() <= MAX_SEARCHED && framing.search.as_ref().unwrap().segments.len() < 4);
        framing.finish();
        assert_eq!(drain(&mut framing), [skipped(0, 655_365, "no message was found there")]);
    }

    #[test]
    fn search_starts_anew_after_missing_bytes() {
        let mut framing = Framing::from_the_start();
        framing.receive(&ECHO[..10]);
        framing.miss(30);
        framing.receive(&HELLO);
        let why = "bytes are missing from the capture";
        assert_eq!(drain(&mut framing), [skipped(0, 40, why), message(40, &HELLO)]);
    }

    #[test]
    fn bytes_missing_at_the_end_are_told() {
        let mut framing = Framing::from_the_start();
        framing.receive(&HELLO);
        assert_eq!(drain(&mut framing), [message(0, &HELLO)]);
        framing.miss(30);
        framing.finish();
        assert_eq!(drain(&mut framing), [skipped(8, 30, "bytes are missing from the capture")]);
    }

    #[test]
    fn stream_that_ends_within_a_message_is_said_to() {
        let mut framing = Framing::from_the_start();
        framing.receive(&ECHO[..10]);
        framing.finish();
        assert_eq!(drain(&mut framing), [skipped(0, 10, "the stream ends within a message")]);
    }
}
