//! Larger buffers for the packet sockets of another process.

use std::fs;
use std::os::fd::RawFd;

use rustix::net::{AddressFamily, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Buffer sizes in bytes; each frame counts with the memory that holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    /// Received frames that are not read yet.
    pub(crate) receive: usize,
    /// Sent frames that wait in the queues of interfaces.
    pub(crate) send: usize,
}

/// Sets the buffers of every packet socket of a process. Returns the number of sockets.
///
/// A packet socket starts with the default of the machine's first namespace, 208 KiB, which is some 90 frames: 10 ms
/// at 100 Mbit/s. A namespace cannot have a default of its own, so each socket is borrowed and changed.
pub(crate) fn enlarge_packet_sockets(process: i32, buffers: Buffers) -> std::io::Result<usize> {
    let pid = Pid::from_raw(process).ok_or(std::io::ErrorKind::InvalidInput)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let mut enlarged = 0;
    for descriptor in sockets(process)? {
        // The socket may have been closed since the listing.
        let Ok(socket) = pidfd_getfd(&pidfd, descriptor, PidfdGetfdFlags::empty()) else { continue };
        if sockopt::socket_domain(&socket).is_ok_and(|domain| domain == AddressFamily::PACKET) {
            sockopt::set_socket_recv_buffer_size_force(&socket, buffers.receive)?;
            sockopt::set_socket_send_buffer_size_force(&socket, buffers.send)?;
            enlarged += 1;
        }
    }
    Ok(enlarged)
}

fn sockets(process: i32) -> std::io::Result<Vec<RawFd>> {
    let entries = fs::read_dir(format!("/proc/{process}/fd"))?.flatten();
    let sockets = entries.filter(|entry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().starts_with("socket:")
    });
    Ok(sockets.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
