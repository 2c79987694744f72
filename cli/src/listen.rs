//! Addresses to listen on, as people write them, and who holds a port that is in use.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use crate::exit::{Code, error};

/// An address such as `127.0.0.1:6653`, or a name such as `localhost:6653`.
///
/// # Errors
///
/// What is missing, and how to write it.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 =
        port.parse().map_err(|_| format!("{text:?} has no port: write an address such as 127.0.0.1:6653"))?;
    if host.is_empty() {
        let what = format!("{text:?} is a port without an address");
        return Err(format!(
            "{what}: write 127.0.0.1:{port} for this machine alone, or 0.0.0.0:{port} for others too"
        ));
    }
    let found: Vec<_> = (host, port).to_socket_addrs().into_iter().flatten().collect();
    // Open vSwitch and most clients take localhost for 127.0.0.1.
    let found = found.iter().find(|it| it.is_ipv4()).or(found.first()).copied();
    found.ok_or_else(|| format!("{host:?} is neither an address nor the name of a host that is known"))
}

/// The error of listening on an address; if it is in use, with who uses it and what to do.
pub(crate) fn in_use(
    problem: impl std::fmt::Display,
    address: SocketAddr,
    cause: &io::Error,
    option: &str,
) -> anyhow::Error {
    if cause.kind() != ErrorKind::AddrInUse {
        let code = if cause.kind() == ErrorKind::PermissionDenied { Code::Machine } else { Code::Failure };
        return error(code, problem);
    }
    let holder = holder(address.port()).unwrap_or_else(|| "another process".to_owned());
    error(
        Code::Failure,
        format!("{problem}: {holder} listens there; stop it, or choose another port with {option}"),
    )
}

/// The process that listens on a TCP port, as far as the caller may see.
fn holder(port: u16) -> Option<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let inode =
        tables.iter().flat_map(|table| table.lines().skip(1)).find_map(|line| listener(line, port))?;
    let socket = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let is_number = |path: &PathBuf| {
        path.file_name().is_some_and(|it| it.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    };
    let processes = processes.filter(is_number);
    let process = { processes }.find(|process| holds(process, &socket))?;
    let name = fs::read_to_string(process.join("comm")).ok()?;
    Some(format!("{} (process {})", name.trim(), process.file_name()?.to_string_lossy()))
}

/// The inode of a listening socket at this port, in a line of /proc/net/tcp.
fn listener(line: &str, port: u16) -> Option<&str> {
    const LISTEN: &str = "0A";
    let mut words = line.split_whitespace();
    let (local, state) = (words.nth(1)?, words.nth(1)?);
    let (_, at) = local.rsplit_once(':')?;
    let is_it = state == LISTEN && u16::from_str_radix(at, 16) == Ok(port);
    words.nth(5).filter(|_| is_it)
}

fn holds(process: &Path, socket: &str) -> bool {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    { files }.any(|file| fs::read_link(file.path()).is_ok_and(|target| target == Path::new(socket)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn addresses_and_names_are_understood_and_bare_ports_explained() {
        assert_eq!(address("[::1]:1"), Ok("[::1]:1".parse().unwrap()));
        assert!(address("localhost:6653").is_ok_and(|it| it.ip().is_loopback() && it.port() == 6653));
        for text in ["6653", ":6653"] {
            let refusal = address(text).unwrap_err();
            assert!(refusal.contains("127.0.0.1:6653") && refusal.contains("0.0.0.0:6653"), "{refusal}");
        }
        assert!(address("127.0.0.1").unwrap_err().contains("has no port"));
        assert!(address("no-such-host.invalid:1").unwrap_err().contains("no-such-host.invalid"));
    }

    #[test]
    fn the_process_that_listens_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = format!("(process {})", std::process::id());
        assert!(holder(address.port()).is_some_and(|it| it.ends_with(&own)));
        let cause = TcpListener::bind(address).unwrap_err();
        let said = in_use("cannot listen", address, &cause, "--http").to_string();
        assert!(said.contains(&own) && said.ends_with("choose another port with --http"), "{said}");
    }
}
