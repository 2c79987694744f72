//! A connection with both ends in one namespace, and transfers over it.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// Far beyond what anything here takes.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// Both ends of a connection within a namespace.
pub(crate) struct Pair {
    pub(crate) client: Socket,
    pub(crate) server: Socket,
    /// Later subflows need it, too: the kernel takes them in where it listens.
    _listener: Socket,
}

/// Connects `local` with `remote`, whose port may be any.
pub(crate) fn connect(protocol: Protocol, local: SocketAddr, remote: SocketAddr) -> Pair {
    let socket = |address: SocketAddr| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol)).unwrap();
        socket.bind(&address.into()).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    };
    let (listener, client) = (socket(remote), socket(local));
    listener.listen(1).unwrap();
    client.connect(&listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    server.set_read_timeout(Some(TIMEOUT)).unwrap();
    Pair::new(client, server, listener)
}

impl Pair {
    pub(crate) const fn new(client: Socket, server: Socket, listener: Socket) -> Self {
        Self { client, server, _listener: listener }
    }

    /// Sends `bytes` bytes and compares what arrives.
    pub(crate) fn transfer(&mut self, bytes: usize) {
        let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let mut received = vec![0; bytes];
        std::thread::scope(|scope| {
            scope.spawn(|| (&self.client).write_all(&data).unwrap());
            self.server.read_exact(&mut received).unwrap();
        });
        assert!(received == data);
    }

    pub(crate) fn remote(&self) -> SocketAddr {
        self.client.peer_addr().unwrap().as_socket().unwrap()
    }
}
