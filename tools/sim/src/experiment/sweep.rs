//! Runs in parallel on several threads, with cancellation and outcomes in a fixed order.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::run::{Outcome, run};
use super::{Experiment, ExperimentError};

/// Cancels running simulations; their results so far are kept.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels at SIGINT, SIGTERM or SIGHUP, which no longer end the process; a second signal does.
    ///
    /// # Errors
    ///
    /// If no handler can be installed.
    pub fn on_signals() -> io::Result<Self> {
        let cancel = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&cancel.0))?;
            flag::register(signal, Arc::clone(&cancel.0))?;
        }
        Ok(cancel)
    }

    /// Stops them soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether they are to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs every job, on so many threads in parallel; returns the results in the order of the jobs.
///
/// The threads share only the list of jobs, so their number changes no result. A job that was cancelled before it
/// began has no result.
///
/// # Errors
///
/// The first error that was met; then no other job begins.
pub fn side_by_side<J: Sync, T: Send, E: Send>(
    jobs: &[J],
    threads: usize,
    cancel: &Cancel,
    work: &(dyn Fn(&J) -> Result<T, E> + Sync),
) -> Result<Vec<Option<T>>, E> {
    let all = jobs.iter().map(|_| None).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Ok::<Vec<Option<T>>, E>(all)));
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        jobs.get(at).map(|job| (at, job)).filter(|_| !cancel.is_cancelled())
    };
    let thread = || {
        while let Some((at, job)) = take() {
            let outcome = work(job);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *found, outcome) {
                (Ok(all), Ok(outcome)) => all[at] = Some(outcome),
                (Ok(_), Err(error)) => {
                    cancel.cancel();
                    *found = Err(error);
                }
                (Err(_), _) => {}
            }
        }
    };
    thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| _ = scope.spawn(thread));
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs each experiment with each seed; the outcomes by experiment and seed, without runs cancelled before they measured
/// anything. Calls `done` after each run.
///
/// # Errors
///
/// The first [`ExperimentError`] that was met.
pub fn sweep(
    experiments: &[Experiment],
    seeds: &[u64],
    threads: usize,
    cancel: &Cancel,
    done: &(dyn Fn(usize, &Outcome) + Sync),
) -> Result<Vec<Vec<Outcome>>, ExperimentError> {
    let jobs: Vec<_> =
        (0..experiments.len()).flat_map(|at| seeds.iter().map(move |seed| (at, *seed))).collect();
    let outcomes = side_by_side(&jobs, threads, cancel, &|(at, seed): &(usize, u64)| {
        let outcome = run(&experiments[*at], *seed, cancel);
        outcome.iter().for_each(|outcome| done(*at, outcome));
        outcome
    })?;
    let mut found = vec![Vec::new(); experiments.len()];
    for ((at, _), outcome) in jobs.iter().zip(outcomes) {
        found[*at].extend(outcome.filter(|outcome| !outcome.measured.is_zero()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::experiment::{Failures, most_memory};

    fn experiment() -> Experiment {
        Experiment {
            network: "jellyfish:6,5,12".parse().unwrap(),
            rate: "10Mbit".parse().unwrap(),
            delay: Duration::from_micros(50),
            queue: "20 packets".parse().unwrap(),
            pattern: "permutation".parse().unwrap(),
            scheme: "disjoint:3/fewest-shared".parse().unwrap(),
            subflows: 3,
            control: "lia".parse().unwrap(),
            set_up: Duration::from_millis(1),
            failures: None,
            warm_up: Duration::from_millis(500),
            measured: Duration::from_secs(1),
        }
    }

    fn swept(experiments: &[Experiment], threads: usize) -> Result<Vec<Vec<Outcome>>, ExperimentError> {
        sweep(experiments, &[1, 2, 3], threads, &Cancel::default(), &|_, _| {})
    }

    #[test]
    fn outcomes_depend_on_the_seed_and_not_on_the_number_of_threads() {
        let experiments = [experiment(), Experiment { subflows: 1, ..experiment() }];
        let outcomes = |threads| {
            let mut all = swept(&experiments, threads).unwrap();
            all.iter_mut().flatten().for_each(|outcome| outcome.elapsed = Duration::ZERO);
            all
        };
        let one = outcomes(1);
        assert_eq!(one, outcomes(4));
        assert_ne!(one[0][0].transfers, one[0][1].transfers);
        assert!(one[0].iter().all(|outcome| outcome.completed == 1.0 && outcome.transfers.len() == 12));
        let mean = |at: usize| one[at].iter().map(Outcome::mean).sum::<f64>() / 3.0;
        assert!(mean(0) > mean(1) && mean(0) < 1.0, "{} {}", mean(0), mean(1));
        assert!(
            one.iter().flatten().all(|it| it.memory as u64 <= most_memory(&experiments[0], 1).unwrap() * 2)
        );
    }

    #[test]
    fn transfers_go_on_when_links_break() {
        let [at, repair] = [700, 50].map(Duration::from_millis);
        let broken = |links| {
            let failures = Some(Failures { at, links, repair });
            let outcome = run(&Experiment { failures, ..experiment() }, 1, &Cancel::default()).unwrap();
            (outcome.mean(), outcome.ranked()[0])
        };
        // Of 9 links between 6 switches.
        let (whole, some) = (broken(0), broken(2));
        assert!(some.0 < whole.0 && some.0 > 0.5 * whole.0 && some.1 > 0.05, "{whole:?} {some:?}");
    }

    #[test]
    fn what_is_cancelled_leaves_what_it_has_shown() {
        let cancel = Cancel::default();
        let stop = |_: usize, _: &Outcome| cancel.cancel();
        let outcomes = sweep(&[experiment()], &[1, 2, 3], 1, &cancel, &stop).unwrap();
        assert_eq!(
            outcomes[0].iter().map(|outcome| (outcome.seed, outcome.completed)).collect::<Vec<_>>(),
            [(1, 1.0)]
        );
        let outcome = run(&experiment(), 1, &cancel).unwrap();
        assert!(outcome.completed < 0.1 && outcome.measured.is_zero());
    }

    #[test]
    fn experiments_that_cannot_be_run_are_refused_with_what_would_do() {
        let refused = |experiment: Experiment| swept(&[experiment], 2).unwrap_err().to_string();
        let with_network = |text: &str| Experiment { network: text.parse().unwrap(), ..experiment() };
        assert!(refused(with_network("fattree:7")).contains("even number from 2 to 128"));
        assert!(refused(with_network("jellyfish:6,1,12")).contains("it takes 2 to"));
        assert!(refused(with_network("line:1")).contains("1 hosts; a transfer takes 2"));
        assert!(refused(with_network("jellyfish:4,2,4")).contains("no path leads from host"));
        assert!(refused(Experiment { subflows: 0, ..experiment() }).contains("a connection takes 1 to 16"));
        assert!(refused(Experiment { subflows: 17, ..experiment() }).contains("make 17"));
        assert!(refused(Experiment { measured: Duration::ZERO, ..experiment() }).contains("no time"));
        let slow = Experiment { rate: "100bit".parse().unwrap(), ..experiment() };
        assert!(refused(slow).contains("has a rate of 100bit; a link takes 8kbit at least"));
        let far = Experiment { delay: Duration::from_secs(61), ..experiment() };
        assert!(refused(far).contains("a minute is the most"));
    }
}
