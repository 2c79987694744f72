//! The tasks and threads of the controller: each has a name, and none may end while the controller serves, so that no part
//! of it goes on without the others.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

thread_local! {
    static CURRENT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The name of the controller's task that runs on this thread, if one does: what a report about a panic names.
pub fn current_task() -> Option<&'static str> {
    CURRENT.get()
}

/// The end of a task or thread that should have gone on.
#[derive(Debug, thiserror::Error)]
#[error("the task {name:?} has ended: {why}")]
pub struct TaskError {
    name: &'static str,
    why: String,
}

/// Why a task ended: an error, or nothing that it could name.
#[derive(Debug)]
pub(crate) struct Ended(Option<io::Error>);

impl From<()> for Ended {
    fn from((): ()) -> Self {
        Self(None)
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self(Some(error))
    }
}

/// Tasks of this thread, and threads. All end when this is dropped, except for threads.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: JoinSet<Ended>,
    names: Vec<(tokio::task::Id, &'static str)>,
}

impl Tasks {
    /// Starts a task on this thread, within a `LocalSet`.
    pub(crate) fn spawn<T: Into<Ended>>(
        &mut self,
        name: &'static str,
        task: impl Future<Output = T> + 'static,
    ) {
        let task = Named { name, task: Box::pin(async { task.await.into() }) };
        let handle = self.running.spawn_local(task);
        self.names.push((handle.id(), name));
    }

    /// Starts a thread of this name.
    ///
    /// # Errors
    ///
    /// The system has no more threads.
    pub(crate) fn spawn_thread<T: Into<Ended>>(
        &mut self,
        name: &'static str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<()> {
        let (ended, end) = oneshot::channel::<Option<io::Error>>();
        let body = move || {
            let Ended(error) = body().into();
            // The controller may have stopped.
            let _ = ended.send(error);
        };
        thread::Builder::new().name(name.to_owned()).spawn(body)?;
        self.spawn(name, async { end.await.unwrap_or_else(|_| Some(io::Error::other("it panicked"))) });
        Ok(())
    }

    /// The first end of any of them.
    pub(crate) async fn ended(&mut self) -> TaskError {
        let (id, why) = match self.running.join_next_with_id().await {
            Some(Ok((id, Ended(Some(error))))) => (id, error.to_string()),
            Some(Ok((id, Ended(None)))) => (id, "it returned".to_owned()),
            Some(Err(error)) => (error.id(), explain(error)),
            None => return std::future::pending().await,
        };
        let name = self.names.iter().find(|(of, _)| *of == id).map_or("unknown", |(_, name)| name);
        TaskError { name, why }
    }
}

impl From<Option<io::Error>> for Ended {
    fn from(error: Option<io::Error>) -> Self {
        Self(error)
    }
}

/// What a task that was aborted or has panicked leaves behind.
fn explain(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "it was aborted".to_owned() };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_default())
}

/// A task that says its name while it runs.
struct Named {
    name: &'static str,
    task: Pin<Box<dyn Future<Output = Ended>>>,
}

impl Future for Named {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        CURRENT.set(Some(self.name));
        let polled = self.task.as_mut().poll(context);
        CURRENT.set(None);
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tokio::task::LocalSet;

    use super::*;

    /// How the first of these tasks ends, beside one that goes on.
    fn first_end(start: impl FnOnce(&mut Tasks)) -> String {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let mut tasks = Tasks::default();
            tasks.spawn("steady", std::future::pending::<()>());
            start(&mut tasks);
            tasks.ended().await.to_string()
        })
    }

    #[test]
    fn a_task_that_panics_is_named_with_what_it_said() {
        let end = first_end(|tasks| tasks.spawn("policy", async { assert_eq!(1, 2, "no policy") }));
        assert!(
            end.starts_with("the task \"policy\" has ended: it panicked: ") && end.contains("no policy"),
            "{end}"
        );
    }

    #[test]
    fn a_task_that_returns_is_named_too() {
        let end = first_end(|tasks| tasks.spawn("tick", async {}));
        assert_eq!(end, "the task \"tick\" has ended: it returned");
        let end = first_end(|tasks| tasks.spawn("channels", async { io::Error::other("no poller") }));
        assert_eq!(end, "the task \"channels\" has ended: no poller");
    }

    #[test]
    fn a_thread_that_panics_or_fails_is_named() {
        let end = first_end(|tasks| tasks.spawn_thread::<()>("http", || panic!("no way")).expect("a thread"));
        assert_eq!(end, "the task \"http\" has ended: it panicked");
        let end = first_end(|tasks| {
            tasks.spawn_thread("http", || io::Error::other("no socket")).expect("a thread");
        });
        assert_eq!(end, "the task \"http\" has ended: no socket");
    }

    #[test]
    fn the_task_that_runs_says_its_name() {
        let end = first_end(|tasks| {
            tasks.spawn("who", async { io::Error::other(current_task().unwrap_or_default()) });
        });
        assert_eq!(end, "the task \"who\" has ended: who");
        assert_eq!(current_task(), None);
    }
}
