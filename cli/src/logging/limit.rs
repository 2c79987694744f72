//! The limit on log lines of all daemons: by their place in the program and by the peer that caused them.
//!
//! The peer is what the field `peer` or `address` says, ports aside; only without them, what `dpid` says, since a peer can
//! claim many of those. The field `kind` tells lines of one place apart.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use braid_types::{LeftOut, LogLimit, Time};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber, warn};
use tracing_subscriber::layer::{Context, Layer};

/// Events about lines that were left out, which are never left out themselves.
const REPORTS: &str = "braid::log_limit";
/// The interval of reports.
const INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of a line in a report.
const MAX_TEXT: usize = 240;
/// Bytes of a peer's name.
const MAX_PEER: usize = 64;

/// Leaves out lines of a peer that repeats itself, and reports how many there were.
#[derive(Clone)]
pub(super) struct Limited {
    start: Instant,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    limit: LogLimit<&'static str>,
    /// Whether a thread reports what was left out.
    is_reporting: bool,
}

impl Default for Limited {
    fn default() -> Self {
        Self { start: Instant::now(), state: Arc::default() }
    }
}

impl<S: Subscriber> Layer<S> for Limited {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // Whoever asks for more than the default level gets all of it.
        if *metadata.level() > Level::INFO || metadata.target() == REPORTS {
            return true;
        }
        let mut peer = Peer::default();
        event.record(&mut peer);
        let now = Time::ZERO + self.start.elapsed();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_admitted = state.limit.admit(now, metadata.name(), peer.finish(), || Line::of(event));
        if !is_admitted && !std::mem::replace(&mut state.is_reporting, true) {
            self.report_from_a_thread();
        }
        is_admitted
    }
}

impl Limited {
    /// Reports until everything that was left out is reported. Short-lived commands never get here.
    fn report_from_a_thread(&self) {
        let own = self.clone();
        let report = move || {
            loop {
                thread::sleep(INTERVAL);
                let (reports, is_over) = own.take_reports();
                for LeftOut { first, count, over } in reports {
                    warn!(target: REPORTS, "... {} more of this kind in {} s: {first}", grouped(count), over.as_secs());
                }
                if is_over {
                    return;
                }
            }
        };
        // Without the thread nothing is reported, but nothing grows either.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(report);
    }

    fn take_reports(&self) -> (Vec<LeftOut>, bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reports = state.limit.handle_timeout(Time::ZERO + self.start.elapsed());
        state.is_reporting = state.limit.has_left_out();
        (reports, !state.is_reporting)
    }
}

/// `4211` as `4,211`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whom an event is about, as hashes of what its fields say.
#[derive(Default)]
struct Peer {
    address: Option<u64>,
    dpid: Option<u64>,
    kind: Option<u64>,
}

impl Peer {
    fn finish(self) -> Option<u64> {
        let who = self.address.or(self.dpid);
        (who.is_some() || self.kind.is_some()).then(|| hash(&(who, self.kind)))
    }
}

impl Visit for Peer {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let place = match field.name() {
            "peer" | "address" => &mut self.address,
            "dpid" => &mut self.dpid,
            "kind" => &mut self.kind,
            _ => return,
        };
        let mut text = Bounded::<MAX_PEER>::default();
        let _ = write!(text, "{value:?}");
        *place = Some(match network(&text.0) {
            Some(network) => hash(&network),
            None => hash(&text.0),
        });
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The network of an address with or without a port: a host with IPv6 has 2^64 addresses.
fn network(text: &str) -> Option<IpAddr> {
    let address = text.parse::<SocketAddr>().map(|it| it.ip()).or_else(|_| text.parse::<IpAddr>()).ok()?;
    Some(match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    })
}

/// The text of an event: its message and its other fields.
#[derive(Default)]
struct Line {
    text: Bounded<MAX_TEXT>,
    fields: Bounded<MAX_TEXT>,
}

impl Line {
    fn of(event: &Event<'_>) -> String {
        let mut line = Self::default();
        event.record(&mut line);
        let _ = line.text.write_str(&line.fields.0);
        line.text.0
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.text, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// A text of at most `MAX` bytes; the rest is cut off.
#[derive(Default)]
struct Bounded<const MAX: usize>(String);

impl<const MAX: usize> Write for Bounded<MAX> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX.saturating_sub(self.0.len());
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.0.push_str(text.get(..end).unwrap_or_default());
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Output {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    /// The lines that are written while `act` runs.
    fn lines(act: impl FnOnce()) -> Vec<String> {
        let output = Output::default();
        let layer = tracing_subscriber::fmt::layer().with_writer(output.clone()).with_ansi(false);
        let subscriber = tracing_subscriber::registry().with(Limited::default()).with(layer);
        tracing::subscriber::with_default(subscriber, act);
        let bytes = output.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
    }

    fn refuse(address: [u8; 4], port: u16) {
        let address = SocketAddr::from((address, port));
        warn!(%address, "switch disconnected");
    }

    #[test]
    fn a_peer_s_ports_share_its_limit_and_other_peers_are_logged() {
        let lines = lines(|| {
            (0..10_000).for_each(|port| refuse([10, 0, 0, 1], port));
            refuse([10, 0, 0, 2], 1);
        });
        assert!(lines.len() < 100, "{}", lines.len());
        assert!(lines.iter().any(|line| line.contains("10.0.0.2")));
    }

    #[test]
    fn a_peer_that_claims_many_datapath_ids_has_one_limit() {
        let claim = |last: u8, dpid: u64| {
            let address = SocketAddr::from(([10, 0, 0, last], 1));
            warn!(%address, dpid, "switch disconnected");
        };
        let lines = lines(|| {
            (0..10_000).for_each(|dpid| claim(1, dpid));
            claim(2, 1);
        });
        assert!(lines.len() < 100, "{}", lines.len());
        assert!(lines.iter().any(|line| line.contains("10.0.0.2")));
    }

    #[test]
    fn debug_lines_are_not_limited() {
        let lines = lines(|| (0..1_000).for_each(|_| tracing::debug!(peer = 1, "a packet")));
        assert_eq!(lines.len(), 1_000);
    }

    #[test]
    fn a_report_quotes_the_first_line_that_was_left_out() {
        let limited = Limited::default();
        let output = Output::default();
        let layer = tracing_subscriber::fmt::layer().with_writer(output);
        tracing::subscriber::with_default(
            tracing_subscriber::registry().with(limited.clone()).with(layer),
            || (0..5_000).for_each(|port| refuse([10, 0, 0, 1], port)),
        );
        let mut state = limited.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reports = state.limit.handle_timeout(Time::ZERO + Duration::from_secs(3_600));
        let [LeftOut { first, count, .. }] = reports.as_slice() else { unreachable!("{reports:?}") };
        assert!(first.starts_with("switch disconnected address=10.0.0.1:"), "{first}");
        assert!(*count > 4_000);
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let mut text = Bounded::<4>::default();
        assert!(write!(text, "abcé").is_err());
        assert_eq!(text.0, "abc");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(network("[2001:db8::1]:80"), network("2001:db8::2"));
        assert_ne!(network("10.0.0.1:80"), network("10.0.0.2:80"));
    }
}
