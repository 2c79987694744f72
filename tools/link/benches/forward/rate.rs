//! The throughput in frames per second.

use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::network::{packet_socket, received};

const WARM_UP: Duration = Duration::from_millis(300);
const MEASURED: Duration = Duration::from_millis(1_000);

/// Frames that passed in a second.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// By the clock, with what others left of the core.
    pub(crate) clock: f64,
    /// Of the time that the forwarder had the core.
    pub(crate) core: f64,
}

/// Frames from a0 to b0 while `forward` passes them from a1 to b1 on a core of its own.
pub(crate) fn of(forward: impl FnOnce(&AtomicBool) + Send) -> Rate {
    let (stop_sending, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let first = received("b0");
    thread::scope(|scope| {
        let forwarder = scope.spawn(|| {
            let mut used = 0.0;
            on_core(1, || {
                let start = processor_time();
                forward(&stop);
                used = processor_time() - start;
            });
            used
        });
        scope.spawn(|| on_core(0, || send(&stop_sending)));
        thread::sleep(WARM_UP);
        let (start, before) = (Instant::now(), received("b0"));
        thread::sleep(MEASURED);
        let clock = (received("b0") - before) as f64 / start.elapsed().as_secs_f64();
        // Frames on the direction arrive before the link ends.
        stop_sending.store(true, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        let used = forwarder.join().expect("a forwarder that ends");
        Rate { clock, core: (received("b0") - first) as f64 / used }
    })
}

pub(crate) fn on_core(core: usize, action: impl FnOnce()) {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).expect("a second core");
    action();
}

/// What the calling thread has had of a core, in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn send(stop: &AtomicBool) {
    let socket = packet_socket("a0");
    let frame = frame();
    let slices = [[IoSlice::new(&frame)]; 64];
    while !stop.load(Ordering::Relaxed) {
        let mut controls: Vec<_> = slices.iter().map(|_| SendAncillaryBuffer::new(&mut [])).collect();
        let messages = slices.iter().zip(&mut controls);
        let mut messages: Vec<_> = messages.map(|(slice, control)| MMsgHdr::new(slice, control)).collect();
        let _ = sendmmsg(&socket, &mut messages, SendFlags::empty());
    }
}

/// To nobody, of a protocol for experiments, 1,500 bytes long.
pub(crate) fn frame() -> Vec<u8> {
    let mut frame = vec![0; 1_500];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}
