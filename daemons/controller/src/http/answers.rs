//! Answers to API requests that need the engine, in time slices between turns of the switch connections.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::yield_now;

use super::questions::{Answerer, Question};
use crate::cluster::Handle;
use crate::engine::Engine;
use crate::engine::Shared;
use crate::state_copy::{CopyInProgress, CopyRequest, PartRequest, Piecewise};

/// What is asked of the engine.
pub(crate) struct Asked {
    pub(super) questions: mpsc::Receiver<Question>,
    pub(super) copies: mpsc::Receiver<CopyRequest>,
    pub(super) parts: mpsc::Receiver<PartRequest>,
}

/// How long API clients are served before the OpenFlow channels have their turn. A single answer, or a piece of a copy,
/// may take longer.
const SLICE: Duration = Duration::from_micros(50);
/// While turns of the channels are long, it is a turn divided by this.
const SHARE: u32 = 16;
/// It is never longer than this.
const MAX_SLICE: Duration = Duration::from_millis(1);
/// The greatest number of questions in a turn.
const MAX_QUESTIONS: usize = 16;

/// Answers API clients and copies the engine's state, on the engine's thread, in turns with the channels.
pub(crate) async fn answer(engine: Shared, cluster: Option<Handle>, asked: Asked) {
    let mut answering =
        AnswerLoop { answerer: Answerer { engine, cluster }, asked, next: None, part: None, copy: None };
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
    answerer: Answerer,
    asked: Asked,
    /// What is to be answered next.
    next: Option<Question>,
    /// A page waits for the part; copies of whole lists take longer.
    part: Option<InProgress>,
    copy: Option<InProgress>,
}

/// What is copied piece by piece, and the time that it took so far.
struct InProgress {
    work: Box<dyn Piecewise>,
    took: Duration,
}

impl AnswerLoop {
    /// Waits until there is something to do; false if nobody can ask any more.
    async fn has_work(&mut self) -> bool {
        if self.next.is_some() || self.part.is_some() || self.copy.is_some() {
            return true;
        }
        tokio::select! {
            question = self.asked.questions.recv() => {
                self.next = question;
                self.next.is_some()
            }
            Some(request) = self.asked.parts.recv() => {
                self.begin_part(request);
                true
            }
            Some(request) = self.asked.copies.recv() => {
                self.begin_copy(request);
                true
            }
        }
    }

    /// Answers questions, and goes on with copies, until then; at least one question and a piece of each.
    fn serve(&mut self, until: Instant) {
        for _ in 0..MAX_QUESTIONS {
            let Some(question) = self.next.take().or_else(|| self.asked.questions.try_recv().ok()) else {
                break;
            };
            question(&self.answerer);
            if Instant::now() >= until {
                break;
            }
        }
        if self.part.is_none()
            && let Ok(request) = self.asked.parts.try_recv()
        {
            self.begin_part(request);
        }
        if self.copy.is_none()
            && let Ok(request) = self.asked.copies.try_recv()
        {
            self.begin_copy(request);
        }
        let mut engine = self.answerer.engine.borrow_mut();
        go_on(&mut self.part, &mut engine, until);
        go_on(&mut self.copy, &mut engine, until);
    }

    fn begin_part(&mut self, request: PartRequest) {
        let work = request(&self.answerer.engine.borrow());
        self.part = Some(InProgress { work, took: Duration::ZERO });
    }

    fn begin_copy(&mut self, request: CopyRequest) {
        let start = Instant::now();
        let work = Box::new(CopyInProgress::begin(&mut self.answerer.engine.borrow_mut(), request));
        self.copy = Some(InProgress { work, took: start.elapsed() });
    }
}

/// Copies pieces until then, and one at least.
fn go_on(copying: &mut Option<InProgress>, engine: &mut Engine, until: Instant) {
    let Some(InProgress { mut work, took: before }) = copying.take() else { return };
    let start = Instant::now();
    loop {
        let is_all = work.step(engine);
        let now = Instant::now();
        let took = before + now.duration_since(start);
        if is_all {
            return work.finish(took);
        }
        if now >= until {
            *copying = Some(InProgress { work, took });
            return;
        }
    }
}

#[cfg(test)]
mod tests;
