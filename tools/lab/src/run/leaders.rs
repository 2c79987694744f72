//! The leader of a lab's cluster during a transfer, asked for all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::report::LeaderRow;
use crate::controller::{Client, MemberAddresses, leader};
use crate::deploy::Deployment;

const INTERVAL: Duration = Duration::from_millis(50);

/// Watches which member is master of all switches, on a thread of its own: a member that hangs answers late.
pub(super) struct LeaderWatch {
    done: Arc<AtomicBool>,
    thread: JoinHandle<Vec<LeaderRow>>,
}

impl LeaderWatch {
    /// Begins to watch; `None` where one controller is alone.
    pub(super) fn start(lab: &Deployment) -> Option<Self> {
        let members = lab.controller.as_ref().map(|it| it.members.clone()).filter(|all| !all.is_empty())?;
        let switches = lab.deployed.plan.switches.len();
        let done = Arc::<AtomicBool>::default();
        let (until, start) = (Arc::clone(&done), Instant::now());
        let thread = thread::spawn(move || {
            let mut leaders = Leaders::default();
            while !until.load(Ordering::SeqCst) {
                let name = master(&members, switches);
                leaders.note(start.elapsed().as_secs_f64(), name);
                thread::sleep(INTERVAL);
            }
            leaders.0
        });
        Some(Self { done, thread })
    }

    /// Ends it. Returns who led, in order of time.
    pub(super) fn finish(self) -> Vec<LeaderRow> {
        self.done.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The leader, if it is master of all switches.
fn master(members: &[MemberAddresses], switches: usize) -> Option<String> {
    let leader = leader(members)?;
    let mastered = Client::of_member(leader.http).mastered().ok()?;
    (mastered == switches).then(|| leader.name.clone())
}

#[derive(Default)]
struct Leaders(Vec<LeaderRow>);

impl Leaders {
    fn note(&mut self, at: f64, controller: Option<String>) {
        if let Some(last) = self.0.last_mut() {
            last.end = at;
            if last.controller == controller {
                return;
            }
        }
        self.0.push(LeaderRow { controller, start: at, end: at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::expect::{leader_changes, longest_without_leader};

    fn watched(seen: &[(f64, Option<&str>)]) -> Vec<LeaderRow> {
        let mut leaders = Leaders::default();
        seen.iter().for_each(|(at, name)| leaders.note(*at, name.map(str::to_owned)));
        leaders.0
    }

    #[test]
    fn a_leader_lasts_until_another_one_is_seen() {
        let leaders =
            watched(&[(0.0, Some("a")), (1.0, Some("a")), (2.0, None), (2.5, Some("b")), (4.0, Some("b"))]);
        let times: Vec<_> = leaders.iter().map(|it| (it.controller.as_deref(), it.start, it.end)).collect();
        assert_eq!(times, [(Some("a"), 0.0, 2.0), (None, 2.0, 2.5), (Some("b"), 2.5, 4.0)]);
        assert_eq!((leader_changes(&leaders), longest_without_leader(&leaders)), (1.0, 0.5));
    }

    #[test]
    fn a_leader_that_is_away_for_a_while_is_no_other_one() {
        let leaders = watched(&[(0.0, Some("a")), (1.0, None), (3.0, Some("a")), (4.0, None), (5.0, None)]);
        assert_eq!((leader_changes(&leaders), longest_without_leader(&leaders)), (0.0, 2.0));
        assert!(leader_changes(&[]).is_nan() && longest_without_leader(&[]).is_nan());
    }
}
