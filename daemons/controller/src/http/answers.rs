//! Answers to API requests that need the engine, in time slices between turns of the switch connections.

use std::time::{Duration, Instant};

use braid_control::Threat;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tracing::info;

use super::paths::Search;
use super::rules::RulesQuestion;
use super::{ClusterView, Question, capacity, take_over};
use crate::cluster::Handle;
use crate::engine::Shared;
use crate::policy;
use crate::state_copy::{CopyInProgress, CopyRequest};

/// What is asked of the engine.
pub(crate) struct Asked {
    pub(super) questions: mpsc::Receiver<Question>,
    pub(super) copies: mpsc::Receiver<CopyRequest>,
}

/// How long API clients are served before the OpenFlow channels have their turn. A single answer, or a piece of a copy,
/// may take longer.
const SLICE: Duration = Duration::from_micros(50);
/// The same while turns of the channels are long: a part of these,
const SHARE: u32 = 16;
/// and never longer than this.
const MAX_SLICE: Duration = Duration::from_millis(1);
/// The greatest number of questions in a turn.
const MAX_QUESTIONS: usize = 16;

/// Answers API clients and copies the engine's state, on the engine's thread, in turns with the channels.
pub(crate) async fn answer(engine: Shared, cluster: Option<Handle>, asked: Asked) {
    let mut answering = AnswerLoop { engine, cluster, asked, next: None, copying: None };
    let mut others = Duration::ZERO;
    while answering.has_work().await {
        let start = Instant::now();
        answering.serve(start + slice(others));
        let served = Instant::now();
        yield_now().await;
        others = served.elapsed();
    }
}

/// How long API clients are served, by the time that the rest of this thread took since the last turn.
fn slice(others: Duration) -> Duration {
    (others / SHARE).clamp(SLICE, MAX_SLICE)
}

struct AnswerLoop {
    engine: Shared,
    cluster: Option<Handle>,
    asked: Asked,
    /// What is to be answered next.
    next: Option<Question>,
    copying: Option<(CopyInProgress, Duration)>,
}

impl AnswerLoop {
    /// Waits until there is something to do; false if nobody can ask any more.
    async fn has_work(&mut self) -> bool {
        if self.next.is_some() || self.copying.is_some() {
            return true;
        }
        tokio::select! {
            question = self.asked.questions.recv() => {
                self.next = question;
                self.next.is_some()
            }
            Some(request) = self.asked.copies.recv() => {
                self.begin(request);
                true
            }
        }
    }

    /// Answers questions, and goes on with a copy, until then; at least one question and a piece.
    fn serve(&mut self, until: Instant) {
        for _ in 0..MAX_QUESTIONS {
            let Some(question) = self.next.take().or_else(|| self.asked.questions.try_recv().ok()) else {
                break;
            };
            self.answer_one(question);
            if Instant::now() >= until {
                break;
            }
        }
        if self.copying.is_none()
            && let Ok(request) = self.asked.copies.try_recv()
        {
            self.begin(request);
        }
        self.go_on(until);
    }

    fn begin(&mut self, request: CopyRequest) {
        let start = Instant::now();
        let copying = CopyInProgress::begin(&mut self.engine.borrow_mut(), request);
        self.copying = Some((copying, start.elapsed()));
    }

    /// Copies pieces until then, and one at least.
    fn go_on(&mut self, until: Instant) {
        let Some((mut copying, before)) = self.copying.take() else { return };
        let (mut engine, start) = (self.engine.borrow_mut(), Instant::now());
        loop {
            let is_all = copying.step(&mut engine);
            let now = Instant::now();
            let took = before + now.duration_since(start);
            if is_all {
                return copying.finish(took);
            }
            if now >= until {
                self.copying = Some((copying, took));
                return;
            }
        }
    }

    /// The client may have gone; then nobody is interested.
    fn answer_one(&self, question: Question) {
        let Self { engine, cluster, .. } = self;
        match question {
            Question::Measure(src, answer) => _ = answer.send(capacity::begin(&mut engine.borrow_mut(), src)),
            Question::SetPolicy(text, answer) => match cluster {
                Some(cluster) => cluster.load_policy(text, answer),
                None => {
                    policy::set(engine, text);
                    info!("a policy was loaded over the API");
                    _ = answer.send(Ok(engine.borrow().now()));
                }
            },
            Question::WrongToken { peer, count } => {
                engine.borrow_mut().raise_alarm(peer, Threat::WrongToken, count);
            }
            Question::TakeOver(answer) => _ = answer.send(take_over::begin(engine, cluster.as_ref())),
            Question::Cluster(answer) => {
                let (now, cluster) = (engine.borrow().now(), cluster.as_ref().map(Handle::view));
                drop(answer.send(ClusterView { now, cluster }));
            }
            Question::HandOver(to, answer) => {
                _ = answer.send(cluster.as_ref().map(|cluster| cluster.hand_over(to.as_ref())));
            }
            Question::Request(request, answer) => match cluster {
                Some(cluster) => cluster.ask(request, answer),
                None => engine.borrow_mut().ask(request, answer),
            },
            Question::Rules(RulesQuestion { switch, table, reader }) => {
                engine.borrow_mut().read_rules(&switch, table, reader);
            }
            Question::Explain(numbers, answer) => {
                drop(answer.send(engine.borrow().brain().explain(&numbers)));
            }
            Question::Paths(query, answer) => drop(answer.send(Search::prepare(&engine.borrow(), &query))),
        }
    }
}

#[cfg(test)]
mod tests;
