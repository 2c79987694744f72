//! A TCP connection that is about to open, from the arguments of connect(2).

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::unix::fs::{FileExt, MetadataExt};

use braid_types::FiveTuple;
use nix::sched::{CloneFlags, setns};
use socket2::{Protocol, Socket, Type};

use super::start::take;

/// The longest address of the internet families.
const MAX_ADDRESS: usize = 28;

/// The connection that a thread opens by connect(2) with these arguments, its socket bound to its final port; `None` for
/// anything but TCP to other hosts.
pub(super) fn about_to_open(thread: u32, number: u64, address: (u64, u64)) -> Option<FiveTuple> {
    let remote = read_address(thread, address).ok()??;
    let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
    if remote.ip().is_loopback() || remote.ip().is_unspecified() {
        return None;
    }
    let socket = Socket::from(take(process_of(thread)?, i32::try_from(number).ok()?).ok()?);
    let is_tcp = socket.r#type().ok()? == Type::STREAM && socket.protocol().ok()? == Some(Protocol::TCP);
    let route = |remote| in_network_of(thread, move || source_to(remote));
    let local = is_tcp.then(|| bind(&socket, remote, route).ok()).flatten()?;
    let [src, dst] = [local.ip().to_canonical(), remote.ip()];
    // Connections within this host need no path.
    let tuple = FiveTuple { src, dst, src_port: local.port(), dst_port: remote.port() };
    (src != dst && local.port() != 0).then_some(tuple)
}

/// Binds a socket to the address and port from which it will connect, unless it is bound; the kernel would do so next.
fn bind(
    socket: &Socket,
    remote: SocketAddr,
    route: impl Fn(SocketAddr) -> io::Result<IpAddr>,
) -> io::Result<SocketAddr> {
    let local = |socket: &Socket| socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidInput.into());
    let bound = local(socket)?;
    if bound.port() != 0 {
        return Ok(bound);
    }
    let address = match (route(remote)?, bound.is_ipv6()) {
        (IpAddr::V4(address), true) => IpAddr::V6(address.to_ipv6_mapped()),
        (address, _) => address,
    };
    socket.bind(&SocketAddr::new(address, 0).into())?;
    local(socket)
}

/// The source address towards a destination, found with a datagram socket that sends nothing.
fn source_to(remote: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr =
        if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect(remote)?;
    Ok(probe.local_addr()?.ip())
}

/// Runs a function in the network namespace of a thread, which the command may have changed.
fn in_network_of<T: Send>(thread: u32, action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let theirs = format!("/proc/{thread}/ns/net");
    if fs::metadata(&theirs)?.ino() == fs::metadata("/proc/self/ns/net")?.ino() {
        return action();
    }
    let namespace = File::open(theirs)?;
    // Only a separate thread enters it.
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| {
            setns(namespace, CloneFlags::CLONE_NEWNET)?;
            action()
        });
        inside.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

/// The process that a thread belongs to.
fn process_of(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// The address in a thread's memory, if it is IPv4 or IPv6.
fn read_address(thread: u32, (address, length): (u64, u64)) -> io::Result<Option<SocketAddr>> {
    let mut bytes = [0; MAX_ADDRESS];
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(MAX_ADDRESS);
    let bytes = &mut bytes[..length];
    File::open(format!("/proc/{thread}/mem"))?.read_exact_at(bytes, address)?;
    Ok(parse(bytes))
}

/// Reads a `sockaddr_in` or `sockaddr_in6`.
fn parse(bytes: &[u8]) -> Option<SocketAddr> {
    let (family, rest) = bytes.split_first_chunk()?;
    let (port, rest) = rest.split_first_chunk()?;
    let address: IpAddr = match i32::from(u16::from_ne_bytes(*family)) {
        nix::libc::AF_INET => IpAddr::from(*rest.first_chunk::<4>()?),
        // The flow label precedes the address.
        nix::libc::AF_INET6 => IpAddr::from(*rest.get(4..)?.first_chunk::<16>()?),
        _ => return None,
    };
    Some(SocketAddr::new(address, u16::from_be_bytes(*port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_has_them() {
        let mut v4 = (nix::libc::AF_INET as u16).to_ne_bytes().to_vec();
        v4.extend([0x14, 0x51, 10, 0, 0, 2]);
        assert_eq!(parse(&v4), None::<SocketAddr>.or(Some("10.0.0.2:5201".parse().unwrap())));
        let mut v6 = (nix::libc::AF_INET6 as u16).to_ne_bytes().to_vec();
        v6.extend([0x14, 0x51, 0, 0, 0, 0]);
        v6.extend("fd00::2".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse(&v6), Some("[fd00::2]:5201".parse().unwrap()));
        for short in 0..8 {
            assert_eq!(parse(&v4[..short]), None, "{short}");
            assert_eq!(parse(&v6[..short + 15]), None, "{short}");
        }
        assert_eq!(parse(&[1, 0, b'/', b'x', 0, 0, 0, 0]), None, "a path");
    }

    #[test]
    fn a_socket_is_bound_to_where_it_will_connect_from() {
        let remote: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let socket = Socket::new(socket2::Domain::IPV4, Type::STREAM, None).unwrap();
        let bound = bind(&socket, remote, source_to).unwrap();
        assert!(bound.port() != 0 && bound.ip() == remote.ip());
        assert_eq!(bind(&socket, remote, source_to).unwrap(), bound, "once");
        let dual = Socket::new(socket2::Domain::IPV6, Type::STREAM, None).unwrap();
        assert_eq!(bind(&dual, remote, source_to).unwrap().ip().to_canonical(), remote.ip());
    }
}
