//! Hostile OpenFlow connections beside an honest one, whose latency is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use braid_openflow::{Bytes, Echo, Message};

use super::hostile::Hostile;
use crate::process::ControllerProcess;
use crate::support::{Switch, TIMEOUT, wait_for};
use crate::waits::Waits;

/// How long hostile connections do the same, one after another.
const ATTACK: Duration = Duration::from_secs(2);
/// By how many bytes the controller may grow meanwhile.
const MAX_GROWTH: u64 = 32 << 20;

/// What the honest switch and its controller felt.
struct Felt {
    /// How many hostile connections were closed by the controller.
    closed: u32,
    /// How long echoes took before, and meanwhile.
    quiet: Waits,
    echoes: Waits,
    /// How much memory the controller had before, at most, and afterwards, in bytes.
    memory: [u64; 3],
}

/// Has connections attack that a controller is to close, with these words in its log.
pub(super) fn attack_until_closed(
    what: &str,
    words: &[&str],
    hostile: impl Fn(&ControllerProcess, Instant) -> Hostile + Sync,
) {
    let controller = ControllerProcess::start();
    // The first one goes on until it is closed, however slow the machine is.
    let felt = withstand(what, &controller, &hostile, TIMEOUT);
    assert!(felt.closed > 0, "nothing is closed");
    wait_for(
        || controller.has_logged(&[&["switch disconnected"], words].concat()),
        || controller.last_logged(),
    );
}

/// Has connections attack that may stay.
pub(super) fn attack(what: &str, hostile: impl Fn(&ControllerProcess, Instant) -> Hostile + Sync) {
    let controller = ControllerProcess::start();
    withstand(what, &controller, &hostile, ATTACK);
}

fn withstand(
    what: &str,
    controller: &ControllerProcess,
    hostile: &(impl Fn(&ControllerProcess, Instant) -> Hostile + Sync),
    patience: Duration,
) -> Felt {
    let mut honest = Switch::join(controller.openflow, 1);
    (0..200).for_each(|_| _ = echo(&mut honest));
    let quiet = (0..200).map(|_| echo_after_pause(&mut honest)).collect();
    let (before, is_over) = (controller.memory(), AtomicBool::new(false));
    let (mut most, mut echoes) = (before, Waits::default());
    let closed = thread::scope(|scope| {
        let attacking = scope.spawn(|| {
            let closed = go_on(controller, hostile, patience);
            is_over.store(true, Ordering::Release);
            closed
        });
        while !is_over.load(Ordering::Acquire) && !attacking.is_finished() {
            echoes.push(echo_after_pause(&mut honest));
            most = most.max(controller.memory());
        }
        attacking.join().expect("an attack")
    });
    thread::sleep(Duration::from_millis(500));
    let felt = Felt { closed, quiet, echoes, memory: [before, most, controller.memory()] };
    felt.print(what);
    felt.assert_undisturbed(what, &mut honest, controller);
    felt
}

/// Attacks, and does so again for a while; says how many connections were closed.
fn go_on(
    controller: &ControllerProcess,
    hostile: &impl Fn(&ControllerProcess, Instant) -> Hostile,
    patience: Duration,
) -> u32 {
    let start = Instant::now();
    let until = start + ATTACK;
    let mut closed = u32::from(hostile(controller, start + patience).is_closed);
    while Instant::now() < until {
        closed += u32::from(hostile(controller, until).is_closed);
    }
    closed
}

impl Felt {
    fn print(&self, what: &str) {
        let Self { closed, quiet, echoes, memory: [before, most, after] } = self;
        let wait = |percent| echoes.percentile(percent).as_secs_f64() * 1e3;
        let grown = |bytes: u64| (bytes as f64 - *before as f64) / f64::from(1 << 20);
        println!(
            "{what}: {closed} connections closed; {} echoes, p50 {:.2} ms, p99 {:.2} ms ({:.2} ms before), longest {:.2} ms; memory {:+.1} MiB at \
             most, {:+.1} MiB after",
            echoes.len(),
            wait(50),
            wait(99),
            quiet.percentile(99).as_secs_f64() * 1e3,
            wait(100),
            grown(*most),
            grown(*after),
        );
    }

    fn assert_undisturbed(&self, what: &str, honest: &mut Switch, controller: &ControllerProcess) {
        let [before, most, after] = self.memory;
        assert!(honest.is_served(), "the honest switch stays");
        self.echoes.assert_undisturbed(&self.quiet, what);
        let is_gone = controller.has_logged(&["dpid=0000000000000001", "disconnected"]);
        assert!(!is_gone, "{}", controller.last_logged());
        assert!(most.max(after).saturating_sub(before) <= MAX_GROWTH, "{before}, {most}, {after} bytes");
    }
}

/// How long an echo takes, a millisecond from now.
fn echo_after_pause(switch: &mut Switch) -> Duration {
    thread::sleep(Duration::from_millis(1));
    echo(switch)
}

/// How long an echo takes.
fn echo(switch: &mut Switch) -> Duration {
    let start = Instant::now();
    switch.send(&Message::EchoRequest(Echo { data: Bytes(b"there?") }));
    loop {
        let bytes = switch.receive().expect("the honest switch stays");
        if let Ok((_, Message::EchoReply(_))) = Message::decode(&bytes) {
            return start.elapsed();
        }
    }
}
