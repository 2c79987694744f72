//! Transfers that are watched: the busiest first, each beside the maximum flow between its hosts.

use std::cell::RefCell;

use braid_api::{Host, Link, Stream, Transfer};
use braid_client::{Client, List};

use super::capacity::Capacities;
use super::history::History;
use super::{Line, show};
use crate::client::{format, list};

/// Links and hosts are asked for again after so many refreshes.
const REFRESHES: usize = 10;

/// What is remembered between two refreshes.
pub(super) struct Watched {
    client: Client,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    history: History,
    capacities: Capacities,
    refreshes: usize,
}

impl Watched {
    pub(super) fn start(client: Client) -> Self {
        Self { client, state: RefCell::default() }
    }

    /// The table, and a line with the sums.
    pub(super) fn show(&self, answer: &List<Transfer>) -> String {
        let state = &mut *self.state.borrow_mut();
        state.history.note(answer.items.iter().flat_map(|transfer| &transfer.streams));
        if state.refreshes.is_multiple_of(REFRESHES) {
            state.capacities = self.capacities().unwrap_or_default();
        }
        state.refreshes += 1;
        let mut busiest: Vec<_> = answer.items.iter().collect();
        busiest.sort_by_key(|transfer| std::cmp::Reverse(rates(transfer).iter().sum::<u64>()));
        let State { history, capacities, .. } = state;
        let capacities = RefCell::new(capacities);
        let cells = |line: &Line<'_>| {
            let share = line.transfer.and_then(|transfer| share(transfer, &mut capacities.borrow_mut()));
            let share = share.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
            [share, line.stream.map_or_else(String::new, |stream| history.line(stream.id))]
        };
        format!("{}\n{}\n", show(answer, busiest.iter().copied(), Some(&cells)), sums(&answer.items))
    }

    /// Without an answer, shares are left out.
    fn capacities(&self) -> Option<Capacities> {
        let hosts = list::<Host>(&self.client).ok()?;
        Some(Capacities::of(&hosts, &list::<Link>(&self.client).ok()?))
    }
}

/// The rates from the opening host and towards it, in bits a second.
fn rates(transfer: &Transfer) -> [u64; 2] {
    let sum = |rate: fn(&Stream) -> u64| transfer.streams.iter().map(rate).fold(0, u64::saturating_add);
    [sum(|it| it.sent_bps), sum(|it| it.received_bps)]
}

/// The busier direction, of the maximum flow in that direction.
fn share(transfer: &Transfer, capacities: &mut Capacities) -> Option<f64> {
    let stream = transfer.streams.first()?;
    let [sent, received] = rates(transfer);
    let (rate, src, dst) = match sent >= received {
        true => (sent, stream.src, stream.dst),
        false => (received, stream.dst, stream.src),
    };
    Some(rate as f64 / capacities.between(src, dst)?.as_f64())
}

fn sums(transfers: &[Transfer]) -> String {
    let streams: usize = transfers.iter().map(|transfer| transfer.streams.len()).sum();
    let all = transfers.iter().map(rates);
    let [sent, received] = all.fold([0_u64; 2], |[sent, received], [more_sent, more_received]| {
        [sent.saturating_add(more_sent), received.saturating_add(more_received)]
    });
    let (sent, received) = (format::rate(sent), format::rate(received));
    format!("{} transfers, {streams} streams: {sent} sent, {received} received", transfers.len())
}
