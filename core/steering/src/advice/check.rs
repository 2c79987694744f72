//! Validation of advice requests, and the reasons for refusing them.

use std::net::{IpAddr, SocketAddr};

use super::{AdviceRequest, SubflowEnds, canonical};

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AdviceRefusal {
    /// The request has too many items of a kind.
    #[error("{what}: {have}, and {most} at most")]
    TooMany {
        /// The kind.
        what: &'static str,
        /// The number of items.
        have: usize,
        /// The greatest number.
        most: usize,
    },
    /// Invalid ends of a subflow.
    #[error("{what} {ends} cannot be: {why}")]
    NoSubflow {
        /// Their place in the request.
        what: &'static str,
        /// The ends.
        ends: SubflowEnds,
        /// Why they are invalid.
        why: &'static str,
    },
    /// An address that is not the requesting host's.
    #[error(
        "{0} is not an address of the host that asks: add it to `addresses` of its [[agent]] entry in the file that the \
        controller reads with --agent-tokens"
    )]
    NotOwn(IpAddr),
    /// An end of the connection is not in this network.
    #[error("no host {0} has been seen")]
    UnknownHost(IpAddr),
    /// The controller that led before knew an end of the connection, and its switch has not joined this one yet.
    #[error("the switch of host {0} has not joined yet, as this controller has taken over a moment ago")]
    AwaitsSwitch(IpAddr),
    /// Too many requests are pending.
    #[error("{0} questions wait for switches, which is the limit")]
    Busy(usize),
    /// There is no room for one more connection.
    #[error("{0}")]
    Full(String),
    /// A newer request about the same connection replaces it.
    #[error("the connection was asked about again meanwhile")]
    Superseded,
}

impl AdviceRequest {
    /// Subflows beside the first that may be asked for.
    pub const MAX_SUBFLOWS: usize = 64;
    /// Addresses of a host that may be named.
    pub const MAX_ADDRESSES: usize = 256;

    /// The same request with IPv4-mapped addresses as IPv4, and each subflow beside the first once.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        self.connection = self.connection.canonical();
        self.local_addresses.iter_mut().for_each(|it| *it = it.to_canonical());
        self.remote_addresses.iter_mut().for_each(|it| *it = canonical(*it));
        for ends in self.subflows.iter_mut().chain(&mut self.failed) {
            *ends = ends.canonical();
        }
        self.subflows.sort_unstable();
        self.subflows.dedup();
        self.subflows.retain(|ends| *ends != self.connection);
        self
    }

    /// Whether the request is valid, regardless of the network.
    ///
    /// # Errors
    ///
    /// There are too many items of a kind, or ends cannot be those of a subflow.
    pub fn check(&self) -> Result<(), AdviceRefusal> {
        let few = |what, have, most| match have <= most {
            true => Ok(()),
            false => Err(AdviceRefusal::TooMany { what, have, most }),
        };
        few("most", self.most, Self::MAX_SUBFLOWS)?;
        few("subflows", self.subflows.len(), Self::MAX_SUBFLOWS)?;
        few("failed", self.failed.len(), Self::MAX_SUBFLOWS)?;
        few("local_addresses", self.local_addresses.len(), Self::MAX_ADDRESSES)?;
        few("remote_addresses", self.remote_addresses.len(), Self::MAX_ADDRESSES)?;
        check_ends("connection", &self.connection)?;
        self.subflows.iter().try_for_each(|ends| check_ends("subflow", ends))
    }

    /// Every address that the request gives as the host's own.
    pub fn claimed(&self) -> impl Iterator<Item = IpAddr> {
        let opened = self.subflows.iter().chain(&self.failed).map(|ends| ends.local.ip());
        std::iter::once(self.connection.local.ip()).chain(self.local_addresses.iter().copied()).chain(opened)
    }
}

fn check_ends(what: &'static str, ends: &SubflowEnds) -> Result<(), AdviceRefusal> {
    let refuse = |why| Err(AdviceRefusal::NoSubflow { what, ends: *ends, why });
    let is_host = |end: &SocketAddr| {
        let ip = end.ip();
        let broadcast = matches!(ip, IpAddr::V4(it) if it.is_broadcast());
        !ip.is_unspecified() && !ip.is_multicast() && !ip.is_loopback() && !broadcast
    };
    if ends.local.is_ipv4() != ends.remote.is_ipv4() {
        refuse("its ends are of different families")
    } else if ends.local.port() == 0 || ends.remote.port() == 0 {
        refuse("a port is 0")
    } else if !is_host(&ends.local) || !is_host(&ends.remote) {
        refuse("an address is no host's")
    } else if ends.local.ip() == ends.remote.ip() {
        refuse("both ends are one address")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> AdviceRequest {
        let ends =
            |port| SubflowEnds { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 9], 5201).into() };
        AdviceRequest {
            connection: ends(40_000),
            local_addresses: vec![[10, 0, 0, 1].into()],
            remote_addresses: Vec::new(),
            subflows: vec![ends(61_000)],
            failed: Vec::new(),
            most: 16,
        }
    }

    #[test]
    fn ten_thousand_subflows_are_refused() {
        assert_eq!(request().check(), Ok(()));
        let refusal = AdviceRequest { most: 10_000, ..request() }.check().unwrap_err();
        assert_eq!(refusal.to_string(), "most: 10000, and 64 at most");
        let many = vec![request().connection; 10_000];
        assert!(AdviceRequest { subflows: many.clone(), ..request() }.check().is_err());
        assert!(AdviceRequest { failed: many, ..request() }.check().is_err());
    }

    #[test]
    fn ends_that_cannot_be_are_refused() {
        let wrong: [(&str, &str); 6] = [
            ("10.0.0.1:0", "10.0.0.9:1"),
            ("10.0.0.1:1", "[fd00::1]:1"),
            ("10.0.0.1:1", "224.0.0.1:1"),
            ("0.0.0.0:1", "10.0.0.9:1"),
            ("10.0.0.1:1", "10.0.0.1:2"),
            ("127.0.0.1:1", "10.0.0.9:1"),
        ];
        for (local, remote) in wrong {
            let ends = SubflowEnds { local: local.parse().unwrap(), remote: remote.parse().unwrap() };
            assert!(AdviceRequest { connection: ends, ..request() }.check().is_err(), "{ends}");
            assert!(AdviceRequest { subflows: vec![ends], ..request() }.check().is_err(), "{ends}");
        }
    }

    #[test]
    fn mapped_addresses_are_those_of_ipv4() {
        let mut mapped = request();
        mapped.connection.local = "[::ffff:10.0.0.1]:40000".parse().unwrap();
        mapped.subflows.push(
            "[::ffff:10.0.0.1]:61000"
                .parse()
                .map(|local| SubflowEnds { local, ..mapped.subflows[0] })
                .unwrap(),
        );
        assert_eq!(mapped.canonical(), request());
    }
}
