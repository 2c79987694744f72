//! Wrong tokens: logged, reported as alarms, and answered late where they go on.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use braid_control::Threat;
use braid_types::Time;
use tokio::time::sleep;
use tracing::warn;

use super::questions::Questions;
use crate::clock::Clock;
use crate::rate::Rates;

/// Wrong tokens a second of one address that are answered at once.
const RATE: u32 = 1;
/// How long others wait for their answer.
const DELAY: Duration = Duration::from_secs(1);
/// The interval of reports about one address.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Addresses with wrong tokens that are counted; those of others have no alarm.
const MAX_ADDRESSES: usize = 1_024;

/// Counts wrong tokens by address.
#[derive(Clone)]
pub(super) struct WrongTokens {
    clock: Clock,
    questions: Questions,
    state: Arc<Mutex<State>>,
}

struct State {
    rates: Rates,
    reports: Reports,
}

/// When each address was last reported, and how many tokens it showed since.
#[derive(Default)]
struct Reports(BTreeMap<IpAddr, (Option<Time>, u64)>);

impl WrongTokens {
    pub(super) fn new(questions: Questions) -> Self {
        let state = State { rates: Rates::new(RATE), reports: Reports::default() };
        Self { clock: Clock::start(), questions, state: Arc::new(Mutex::new(state)) }
    }

    /// A client has shown a token that nobody has. Returns when it may be told.
    pub(super) async fn note(&self, peer: IpAddr) {
        warn!(%peer, "an API client has shown a token that nobody has");
        if !self.count(self.clock.now(), peer) {
            sleep(DELAY).await;
        }
    }

    /// Whether the answer may be given at once.
    fn count(&self, now: Time, peer: IpAddr) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let questions = &self.questions;
        // If the queue is full, the count waits for the next wrong token.
        let report = |count| {
            questions.tell(move |it| it.engine.borrow_mut().raise_alarm(peer, Threat::WrongToken, count))
        };
        state.reports.note(now, peer, report);
        state.rates.take(now, peer)
    }
}

impl Reports {
    fn note(&mut self, now: Time, peer: IpAddr, report: impl FnOnce(u64) -> bool) {
        if self.0.len() >= MAX_ADDRESSES && !self.0.contains_key(&peer) {
            self.0.retain(|_, (at, _)| at.is_none_or(|at| now.since(at) < REPORT_INTERVAL));
            if self.0.len() >= MAX_ADDRESSES {
                return;
            }
        }
        let (reported_at, count) = self.0.entry(peer).or_default();
        *count += 1;
        if reported_at.is_none_or(|at| now.since(at) >= REPORT_INTERVAL) && report(*count) {
            (*reported_at, *count) = (Some(now), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_reported_at_once_and_then_once_a_second_with_a_count() {
        let (mut reports, mut counts) = (Reports::default(), Vec::new());
        for millis in 0..2_500 {
            let note = |count| {
                counts.push(count);
                true
            };
            reports.note(Time::from_millis(millis), [10, 0, 0, 1].into(), note);
        }
        assert_eq!(counts, [1, 1_000, 1_000]);
    }

    #[test]
    fn what_cannot_be_reported_yet_is_counted_on() {
        let (mut reports, peer) = (Reports::default(), [10, 0, 0, 1].into());
        reports.note(Time::ZERO, peer, |_| false);
        let mut counted = 0;
        reports.note(Time::ZERO, peer, |count| {
            counted = count;
            true
        });
        assert_eq!(counted, 2);
    }

    #[test]
    fn addresses_are_bounded() {
        let mut reports = Reports::default();
        for number in 0..5_000_u32 {
            reports.note(Time::ZERO, IpAddr::V4(number.into()), |_| true);
        }
        assert_eq!(reports.0.len(), MAX_ADDRESSES);
    }
}
