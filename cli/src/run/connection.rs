use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::unix::fs::FileExt;

use braid_types::FiveTuple;
use socket2::{Protocol, Socket, Type};

use super::start::take;

/// The longest address of the internet families.
const MAX_ADDRESS: usize = 28;

/// A TCP connection that is about to open.
pub(super) struct Connection {
    pub(super) tuple: FiveTuple,
}

impl Connection {
    /// What a thread that calls connect(2) with these arguments is about to open, its socket bound to the port that it will
    /// have; `None` for all but TCP to other hosts.
    pub(super) fn about_to_open(thread: u32, number: u64, address: (u64, u64)) -> Option<Self> {
        let remote = read_address(thread, address).ok()??;
        let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
        if remote.ip().is_loopback() || remote.ip().is_unspecified() {
            return None;
        }
        let socket = Socket::from(take(process_of(thread)?, i32::try_from(number).ok()?).ok()?);
        let is_tcp = socket.r#type().ok()? == Type::STREAM && socket.protocol().ok()? == Some(Protocol::TCP);
        let local = is_tcp.then(|| bind(&socket, remote).ok()).flatten()?;
        let [src, dst] = [local.ip().to_canonical(), remote.ip()];
        // What stays on this host needs no path.
        let tuple = FiveTuple { src, dst, src_port: local.port(), dst_port: remote.port() };
        (src != dst && local.port() != 0).then_some(Self { tuple })
    }
}

/// Gives a socket the address and port from which it will connect, unless it has them; the kernel would a moment later.
fn bind(socket: &Socket, remote: SocketAddr) -> io::Result<SocketAddr> {
    let local = |socket: &Socket| socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidInput.into());
    let bound = local(socket)?;
    if bound.port() != 0 {
        return Ok(bound);
    }
    // A datagram socket shows which address the route to there has, and sends nothing.
    let any: IpAddr =
        if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect(remote)?;
    let address = match (probe.local_addr()?.ip(), bound.is_ipv6()) {
        (IpAddr::V4(address), true) => IpAddr::V6(address.to_ipv6_mapped()),
        (address, _) => address,
    };
    socket.bind(&SocketAddr::new(address, 0).into())?;
    local(socket)
}

/// The process that a thread belongs to.
fn process_of(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// The address in a thread's memory, if it is one of the internet.
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
        // The flow label comes first.
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
        let bound = bind(&socket, remote).unwrap();
        assert!(bound.port() != 0 && bound.ip() == remote.ip());
        assert_eq!(bind(&socket, remote).unwrap(), bound, "once");
        let dual = Socket::new(socket2::Domain::IPV6, Type::STREAM, None).unwrap();
        assert_eq!(bind(&dual, remote).unwrap().ip().to_canonical(), remote.ip());
    }
}
