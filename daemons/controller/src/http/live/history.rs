//! History of links, transfers and edges: the last hour in seconds, the last day in minutes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_api::{EdgeHistory, LinkHistory, Schema, StreamHistory, TransferHistory};
use braid_control::view::{EdgeView, LinkView, StreamView, TransferView};
use braid_steering::{StreamId, TransferId};
use braid_types::{DatapathId, SwitchPort, Time};

use super::counts::Counts;
use super::edges::EdgeHistories;
use super::series::{COARSE, FINE, RATIO, Series};

/// Directions of links whose history is kept; of more, none.
const MAX_LINKS: usize = 1_024;
/// Streams whose history is kept; of more, those are forgotten that ended first.
const MAX_STREAMS: usize = 2_048;
/// A reading that is older is not one of this step.
const FRESH: Duration = Duration::from_secs(3);

/// What was measured of links and transfers: the last hour in seconds, the last day in minutes.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The step after the last one.
    next: u64,
    fine: VecDeque<Time>,
    coarse: VecDeque<Time>,
    links: BTreeMap<SwitchPort, Series<3>>,
    streams: BTreeMap<StreamId, KnownStream>,
    edges: EdgeHistories,
}

/// What is known of a stream, which may have ended.
#[derive(Debug)]
struct KnownStream {
    transfer: TransferId,
    view: StreamView,
    counts: Counts,
    series: Series<2>,
}

/// Which part of the history is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Whether the steps are minutes.
    pub(super) coarse: bool,
    /// Earlier steps are omitted.
    pub(super) since: Time,
}

impl History {
    /// Takes in what is known at `now`, one step after the last time.
    pub(super) fn record(
        &mut self,
        now: Time,
        links: &[&LinkView],
        transfers: &[TransferView],
        edges: &[&EdgeView],
    ) {
        let step = self.next;
        push(&mut self.fine, now, FINE);
        links.iter().for_each(|link| self.record_link(step, now, link));
        let streams = || transfers.iter().flat_map(|it| it.streams.iter().map(|stream| (it.id, stream)));
        self.make_room(streams().filter(|(_, stream)| !self.streams.contains_key(&stream.id)).count());
        streams().for_each(|(transfer, stream)| self.record_stream(step, now, transfer, stream));
        self.edges.record(step, now, edges);
        self.next += 1;
        if self.next.is_multiple_of(RATIO) {
            push(&mut self.coarse, now, COARSE);
            self.forget();
        }
    }

    pub(super) fn link(&self, link: SwitchPort, span: Span) -> Option<LinkHistory> {
        let series = self.links.get(&link)?;
        let steps = self.steps(span);
        let column = |column| steps.values(series, column);
        let (load_bps, delay_us, loss) = (column(0), column(1), column(2));
        let (schema, now, step_s) = (Schema, self.now(), steps.seconds());
        Some(LinkHistory { schema, now, step_s, load_bps, delay_us, loss, times: steps.times })
    }

    pub(super) fn transfer(&self, id: TransferId, span: Span) -> Option<TransferHistory> {
        let mut streams = self.streams.values().filter(|stream| stream.transfer == id).peekable();
        streams.peek()?;
        let steps = self.steps(span);
        let rates = |stream: &KnownStream| StreamHistory {
            id: stream.view.id.0,
            src: stream.view.src,
            dst: stream.view.dst,
            src_port: stream.view.src_port,
            dst_port: stream.view.dst_port,
            path: stream.view.path.clone(),
            sent_bps: steps.values(&stream.series, 0),
            received_bps: steps.values(&stream.series, 1),
        };
        let streams = streams.map(rates).collect();
        let (schema, now, step_s) = (Schema, self.now(), steps.seconds());
        Some(TransferHistory { schema, now, id: id.0, step_s, streams, times: steps.times })
    }

    pub(super) fn edge(&self, dpid: DatapathId, span: Span) -> Option<EdgeHistory> {
        self.edges.of(dpid, self.now(), self.steps(span))
    }

    /// When the last step was.
    fn now(&self) -> Time {
        self.fine.back().copied().unwrap_or_default()
    }

    fn record_link(&mut self, step: u64, now: Time, link: &LinkView) {
        if self.links.len() >= MAX_LINKS && !self.links.contains_key(&link.src) {
            return;
        }
        let fresh = |at: Option<Time>| at.is_some_and(|at| now.since(at) <= FRESH);
        let value =
            |at, value: Option<f64>| value.filter(|_| fresh(at)).map_or(f32::NAN, |value| value as f32);
        let values = [
            value(link.load_at, link.load_bps.map(|bits| bits as f64)),
            value(link.delay_at, link.delay_us.map(|delay| delay.current)),
            value(link.loss_at, link.loss),
        ];
        self.links.entry(link.src).or_insert_with(|| Series::new(step)).push(step, values);
    }

    fn record_stream(&mut self, step: u64, now: Time, transfer: TransferId, view: &StreamView) {
        if self.streams.len() >= MAX_STREAMS && !self.streams.contains_key(&view.id) {
            return;
        }
        let stream = self.streams.entry(view.id).or_insert_with(|| KnownStream {
            transfer,
            view: view.clone(),
            counts: Counts::default(),
            series: Series::new(step),
        });
        stream.series.push(step, stream.counts.rates(now, view));
        // A subflow that joins late is taken over by its connection's transfer.
        stream.transfer = transfer;
        stream.view.clone_from(view);
    }

    /// Forgets streams that have ended, those first that ended first, as far as `more` need their room.
    fn make_room(&mut self, more: usize) {
        let over = (self.streams.len() + more).saturating_sub(MAX_STREAMS);
        if over == 0 {
            return;
        }
        let ended = self.streams.iter().filter(|(_, stream)| stream.series.next() < self.next);
        let mut ended: Vec<_> = ended.map(|(id, stream)| (stream.series.next(), *id)).collect();
        ended.sort_unstable();
        for (_, id) in ended.into_iter().take(over) {
            self.streams.remove(&id);
        }
    }

    /// Forgets links, streams and edges of which nothing was heard for an hour.
    fn forget(&mut self) {
        let heard = self.next.saturating_sub(FINE as u64);
        self.links.retain(|_, series| series.next() > heard);
        self.streams.retain(|_, stream| stream.series.next() > heard);
        self.edges.forget(heard);
    }

    fn steps(&self, span: Span) -> Steps {
        let (times, end) =
            if span.coarse { (&self.coarse, self.next / RATIO) } else { (&self.fine, self.next) };
        let times: Vec<_> = times.iter().copied().filter(|at| *at >= span.since).collect();
        Steps { coarse: span.coarse, end, times }
    }
}

/// The steps that are asked for.
pub(super) struct Steps {
    coarse: bool,
    /// The step after the last one.
    end: u64,
    pub(super) times: Vec<Time>,
}

impl Steps {
    pub(super) const fn seconds(&self) -> u64 {
        if self.coarse { RATIO } else { 1 }
    }

    pub(super) fn values<const N: usize>(&self, series: &Series<N>, column: usize) -> Vec<Option<f32>> {
        let from = self.end - self.times.len() as u64;
        match self.coarse {
            true => series.coarse(column, from, self.end),
            false => series.fine(column, from, self.end),
        }
    }
}

fn push(times: &mut VecDeque<Time>, now: Time, limit: usize) {
    if times.len() >= limit {
        times.pop_front();
    }
    times.push_back(now);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use braid_steering::TransferKind;

    use super::*;

    const ALL: Span = Span { coarse: false, since: Time::ZERO };

    fn second(second: u64) -> Time {
        Time::from_millis(second * 1_000)
    }

    fn transfer(id: u64, streams: &[(u64, u64)]) -> TransferView {
        let ip = Ipv4Addr::LOCALHOST.into();
        let view = |(id, bytes): &(u64, u64)| StreamView {
            spray_paths: Vec::new(),
            id: StreamId(*id),
            src: ip,
            dst: ip,
            src_port: 1,
            dst_port: 2,
            path: Vec::new(),
            ports: Vec::new(),
            bytes_sent: *bytes,
            bytes_received: 0,
            sent_bps: 0,
            received_bps: 0,
        };
        let streams = streams.iter().map(view).collect();
        TransferView { id: TransferId(id), kind: TransferKind::Mptcp, opened_at: Time::ZERO, streams }
    }

    #[test]
    fn each_stream_of_a_transfer_has_its_rates_and_an_ended_one_keeps_its_own() {
        let mut history = History::default();
        history.record(second(1), &[], &[transfer(1, &[(1, 0), (2, 0)])], &[]);
        history.record(second(2), &[], &[transfer(1, &[(1, 1_000), (2, 500)])], &[]);
        history.record(second(3), &[], &[transfer(1, &[(2, 1_500)])], &[]);
        let found = history.transfer(TransferId(1), ALL).expect("known");
        let rates: Vec<_> = found.streams.iter().map(|stream| stream.sent_bps.clone()).collect();
        assert_eq!(rates, [[Some(0.0), Some(8_000.0), None], [Some(0.0), Some(4_000.0), Some(6_000.0)]]);
        assert_eq!(found.times, [1, 2, 3].map(second));
        let later = history.transfer(TransferId(1), Span { since: second(3), ..ALL }).expect("known");
        assert_eq!((later.times, &later.streams[0].sent_bps[..]), (vec![second(3)], &[None][..]));
        assert!(history.transfer(TransferId(2), ALL).is_none());
    }

    #[test]
    fn minutes_are_means_and_what_is_silent_for_an_hour_is_forgotten() {
        let mut history = History::default();
        (0..120).for_each(|at| history.record(second(at), &[], &[transfer(1, &[(1, at * 100)])], &[]));
        let minutes = history.transfer(TransferId(1), Span { coarse: true, ..ALL }).expect("known");
        assert_eq!((minutes.step_s, minutes.times), (60, vec![second(59), second(119)]));
        assert_eq!(minutes.streams[0].sent_bps[1], Some(800.0));
        (120..3_780).for_each(|at| history.record(second(at), &[], &[], &[]));
        assert!(history.streams.is_empty());
    }

    #[test]
    fn streams_are_bounded_and_those_that_ended_first_make_room() {
        let mut history = History::default();
        let full: Vec<_> = (0..MAX_STREAMS as u64).map(|id| (id, 0)).collect();
        history.record(second(1), &[], &[transfer(1, &full)], &[]);
        history.record(second(2), &[], &[], &[]);
        history.record(second(3), &[], &[transfer(2, &[(9_999, 0)])], &[]);
        assert_eq!(history.streams.len(), MAX_STREAMS);
        assert!(history.transfer(TransferId(2), ALL).is_some());
        let mut history = History::default();
        history.record(second(1), &[], &[transfer(1, &full)], &[]);
        let crowd: Vec<_> = full.iter().copied().chain([(99_999, 0)]).collect();
        history.record(second(2), &[], &[transfer(1, &crowd)], &[]);
        assert_eq!(history.streams.len(), MAX_STREAMS);
        assert!(!history.streams.contains_key(&StreamId(99_999)), "nothing that goes on is forgotten");
    }
}
