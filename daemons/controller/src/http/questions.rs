//! Questions of the routes to the engine: closures that its thread calls. Each stands beside the route that asks it.

use braid_control::{Reply, Request};
use tokio::sync::{mpsc, oneshot};

use super::problem::Problem;
use crate::cluster::Handle;
use crate::engine::Shared;

/// Questions that wait for the engine; more are turned away.
const MAX_WAITING: usize = 64;

/// What questions are answered from, on the engine's thread.
pub(super) struct Answerer {
    pub(super) engine: Shared,
    /// The cluster that the controller is a member of.
    pub(super) cluster: Option<Handle>,
}

/// A question with the way back.
pub(super) type Question = Box<dyn FnOnce(&Answerer) + Send>;

/// The queue of questions.
#[derive(Clone)]
pub(super) struct Questions(mpsc::Sender<Question>);

impl Questions {
    /// An empty queue, and the end that answers.
    pub(super) fn new() -> (Self, mpsc::Receiver<Question>) {
        let (questions, asked) = mpsc::channel(MAX_WAITING);
        (Self(questions), asked)
    }

    /// The engine's answer, or what the client is told if there is none.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Answerer) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        // The client may have gone; then nobody is interested.
        self.ask_deferred(move |it, answer| _ = answer.send(question(it))).await
    }

    /// As [`ask`](Self::ask), of what cannot be answered at once.
    pub(super) async fn ask_deferred<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Answerer, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        if !self.tell(move |it| question(it, answer)) {
            return Err(Problem::unavailable("the controller is busy or stopping"));
        }
        answered.await.map_err(|_| Problem::unavailable("the controller is stopping"))
    }

    /// What applications and agents ask the network for.
    pub(super) async fn request(&self, request: Request) -> Result<Reply, Problem> {
        self.ask_deferred(|it, answer| match &it.cluster {
            Some(cluster) => cluster.ask(request, answer),
            None => it.engine.borrow_mut().ask(request, answer),
        })
        .await
    }

    /// Tells the engine something; false if there is no room.
    pub(super) fn tell(&self, what: impl FnOnce(&Answerer) + Send + 'static) -> bool {
        self.0.try_send(Box::new(what)).is_ok()
    }
}
