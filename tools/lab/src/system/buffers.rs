use std::fs;
use std::os::fd::RawFd;

use rustix::net::{AddressFamily, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Lets every packet socket of a process hold `bytes` of frames that it has not read yet; how many there are.
///
/// A packet socket starts with the default of the machine's first namespace, 208 KiB, which is some 90 frames: 10 ms
/// at 100 Mbit/s. A namespace cannot have a default of its own, so each socket is borrowed and told.
pub(crate) fn enlarge_packet_sockets(process: i32, bytes: usize) -> std::io::Result<usize> {
    let pid = Pid::from_raw(process).ok_or(std::io::ErrorKind::InvalidInput)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let mut enlarged = 0;
    for descriptor in sockets(process)? {
        // It may have been closed since it was listed.
        let Ok(socket) = pidfd_getfd(&pidfd, descriptor, PidfdGetfdFlags::empty()) else { continue };
        if sockopt::socket_domain(&socket).is_ok_and(|domain| domain == AddressFamily::PACKET) {
            sockopt::set_socket_recv_buffer_size_force(&socket, bytes)?;
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
