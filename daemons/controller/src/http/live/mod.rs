//! Live data: state with its changes, events, and recent measurements.
//!
//! The thread that serves API clients prepares all of it. The engine sends notices without waiting. Its state is compared
//! once a second, in the copy that lists are read from. The number of watchers makes no difference to the engine.
//! While nobody watches, only what history and lost links need is copied; the first watcher waits for a whole copy.

mod counts;
mod edges;
mod history;
mod lost;
mod notice_log;
mod routes;
mod series;
mod state;
mod table;
mod topic;
mod watching;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};

use super::problem::Problem;
use super::replica::{Replica, Tables};
use crate::notices::NoticeReceiver;
use crate::state_copy::{List, Lists};
use history::History;
use notice_log::Events;
pub(super) use routes::routes;
use state::{Sample, State};
use topic::Topic;

/// Notices are passed on together: a watcher costs one write a beat, however many there are.
const BEAT: Duration = Duration::from_millis(50);
/// From one look at the state to the next.
const SAMPLE: Duration = Duration::from_secs(1);
/// What history and lost links need of the state.
const KEPT: Lists = Lists::of(&[List::FirstLinks, List::Edges, List::Transfers]);
/// What watchers see of it.
const WATCHED: Lists = KEPT.and(Lists::of(&[List::Switches, List::Hosts, List::Totals]));
/// Beats after which silent connections are shown to be alive.
const ALIVE: u64 = 200;
/// Notices of a beat; more wait for the next.
const MAX_NOTICES: usize = 100;

/// What watchers see. Shared by the tasks of one thread.
#[derive(Clone, Debug)]
pub(super) struct Live(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    /// Everything: state, its changes, events.
    all: Topic,
    /// Events alone.
    notices: Topic,
    events: Events,
    state: State,
    history: History,
}

impl Live {
    /// Nothing yet. `run` names this start of the controller.
    pub(super) fn new(run: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            all: Topic::new(run),
            notices: Topic::new(run),
            events: Events::default(),
            state: State::default(),
            history: History::default(),
        })))
    }

    /// Processes the engine's notices until it stops.
    pub(super) async fn follow(self, mut listener: NoticeReceiver) {
        let mut timer = interval(BEAT);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for beat in 0_u64.. {
            timer.tick().await;
            if listener.is_over() {
                break;
            }
            self.inner().pass_on(&mut listener);
            if beat.is_multiple_of(ALIVE) {
                self.inner().notices.keep_alive();
            }
        }
    }

    /// Looks at the state once a second until the engine has gone.
    pub(super) async fn sample(self, replica: Replica) {
        let mut timer = interval(SAMPLE);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            timer.tick().await;
            let is_watched = self.inner().all.is_watched();
            if replica.refresh(if is_watched { WATCHED } else { KEPT }).await.is_err() {
                break;
            }
            replica.read(|tables| self.inner().take(tables, is_watched));
        }
    }

    /// Brings the state that watchers see up to date, if nobody has watched so far.
    async fn wake(&self, replica: &Replica) -> Result<(), Problem> {
        if self.inner().all.is_watched() {
            return Ok(());
        }
        replica.refresh(WATCHED).await?;
        // Notices of what is in the copy arrive with the next beat: they say why links were lost.
        sleep(BEAT).await;
        replica.read(|tables| self.inner().tell(tables));
        Ok(())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn pass_on(&mut self, listener: &mut NoticeReceiver) {
        let (told, lost) = (listener.take(MAX_NOTICES), listener.lost());
        told.iter().for_each(|told| self.state.lost.note(told));
        let messages = self.events.take(self.notices.next(), &told, lost);
        if !messages.is_empty() {
            self.notices.send(&messages);
            self.all.send(&messages);
        }
    }

    fn take(&mut self, tables: &Tables, is_watched: bool) {
        let sample = Sample::of(tables);
        self.history.record(sample.now, &sample.links, &sample.transfers, &sample.edges);
        if is_watched {
            self.tell(tables);
        } else {
            self.state.note(tables);
        }
    }

    fn tell(&mut self, tables: &Tables) {
        self.state.note(tables);
        // Told even if nothing has changed: what is shown is as old as the last message.
        let delta = self.state.update(tables);
        self.all.send(&[("delta", delta)]);
    }
}

#[cfg(test)]
mod tests;
