//! The lateness of frames.

use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use braid_link_model::Parameters;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, send, setsockopt, sockopt};
use nix::sys::time::TimeValLike;
use rustix::time::{ClockId, clock_gettime};

use crate::network::{link, packet_socket};
use crate::rate::{frame, on_core};

/// One a millisecond.
const FRAMES: u64 = 5_000;
const PERIOD: Duration = Duration::from_millis(1);

/// By how many microseconds each frame that arrives is later than `delay` after it was sent, as the kernel stamps it.
pub(crate) fn errors(parameters: Parameters, delay: Duration) -> Vec<i64> {
    let stop = AtomicBool::new(false);
    let receiver = packet_socket("b0");
    setsockopt(&receiver, sockopt::ReceiveTimestampns, &true).expect("stamps");
    thread::scope(|scope| {
        scope.spawn(|| on_core(1, || link(parameters, &stop)));
        thread::sleep(Duration::from_millis(50));
        scope.spawn(|| on_core(0, send_all));
        let travelled = (0..FRAMES).map(|_| travel_time(receiver.as_raw_fd()));
        let errors = travelled.map(|nanos| (nanos - delay.as_nanos() as i64) / 1_000).collect();
        stop.store(true, Ordering::Relaxed);
        errors
    })
}

fn send_all() {
    let (socket, mut frame) = (packet_socket("a0"), frame());
    for _ in 0..FRAMES {
        frame[14..22].copy_from_slice(&now().to_be_bytes());
        send(socket.as_raw_fd(), &frame, MsgFlags::empty()).expect("a frame sent");
        thread::sleep(PERIOD);
    }
}

fn travel_time(receiver: i32) -> i64 {
    let mut frame = [0; 2_048];
    let mut control = cmsg_space!(nix::libc::timespec);
    let mut slices = [IoSliceMut::new(&mut frame)];
    let message = recvmsg::<SockaddrStorage>(receiver, &mut slices, Some(&mut control), MsgFlags::empty());
    let message = message.expect("a frame");
    let stamp = message.cmsgs().expect("its control data").find_map(|it| match it {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp.num_nanoseconds()),
        _ => None,
    });
    let sent = frame[14..22].try_into().map(i64::from_be_bytes).expect("eight bytes");
    stamp.expect("a stamp") - sent
}

fn now() -> i64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
