//! How long honest peers wait, by themselves and beside others.

use std::time::Duration;

/// By percentile, what is no harm however short the wait is without others: a busy machine takes that long by itself.
const NO_HARM: [(usize, Duration); 2] = [(50, Duration::from_millis(500)), (99, Duration::from_secs(2))];
/// How many times as long as without others a wait may be. One that grows with what others do is far beyond.
const MAX_RATIO: u32 = 100;

/// How long something took, each time.
#[derive(Default)]
pub(crate) struct Waits(Vec<Duration>);

impl Waits {
    pub(crate) fn push(&mut self, wait: Duration) {
        self.0.push(wait);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The wait that this percentage does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted[(sorted.len() - 1) * percent / 100]
    }

    /// Judges them by the waits of the same run `without` others.
    pub(crate) fn assert_undisturbed(&self, without: &Self, what: &str) {
        if let Some(disturbance) = self.disturbance(without) {
            panic!("{what}: {disturbance}");
        }
    }

    fn disturbance(&self, without: &Self) -> Option<String> {
        NO_HARM.iter().find_map(|(percent, no_harm)| {
            let [wait, quiet] = [self, without].map(|it| it.percentile(*percent));
            let limit = (quiet * MAX_RATIO).max(*no_harm);
            (wait > limit)
                .then(|| format!("p{percent} {wait:?}, without others {quiet:?}: at most {limit:?}"))
        })
    }
}

impl FromIterator<Duration> for Waits {
    fn from_iter<T: IntoIterator<Item = Duration>>(waits: T) -> Self {
        Self(waits.into_iter().collect())
    }
}

#[test]
fn waits_of_seconds_are_a_disturbance_and_those_of_a_busy_machine_are_not() {
    let millis = |all: &[u64]| all.iter().map(|it| Duration::from_millis(*it)).collect::<Waits>();
    let quiet = millis(&[1; 100]);
    assert_eq!(millis(&[400; 100]).disturbance(&quiet), None);
    assert_eq!(millis(&[2_000; 100]).disturbance(&millis(&[40; 100])), None, "busy before, too");
    assert!(millis(&[4_500; 100]).disturbance(&quiet).is_some());
    assert!(
        millis(&[&[1; 90][..], &[4_500; 10]].concat()).disturbance(&quiet).is_some(),
        "the longest tenth"
    );
}
