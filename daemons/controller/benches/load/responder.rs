//! The reference: answers every packet-in with the same flow-mod and packet-out, which measures the sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;

use braid_openflow::{Action, FlowMod, Message, MessageType, PacketOut, Xid, frame_length};
use braid_types::PortNo;

use braid_load::Poller;

const CHUNK: usize = 64 << 10;

/// Serves switches for ever.
pub(crate) fn serve(listener: &TcpListener) -> ! {
    let answer = answer();
    let (mut poller, mut channels) = (Poller::new().expect("epoll"), Vec::new());
    poller.add(listener, 0).expect("a socket");
    loop {
        for index in poller.wait().expect("epoll") {
            if index == 0 {
                let (stream, _) = listener.accept().expect("a switch");
                stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true)).expect("a socket");
                channels.push(Channel { stream, inbox: vec![0; CHUNK], filled: 0, outbox: Vec::new() });
                poller.add(&channels[channels.len() - 1].stream, channels.len()).expect("a socket");
            } else if !channels[index - 1].serve(&answer) {
                poller.remove(&channels[index - 1].stream).expect("a socket");
            }
        }
    }
}

struct Channel {
    stream: TcpStream,
    inbox: Vec<u8>,
    filled: usize,
    outbox: Vec<u8>,
}

impl Channel {
    /// Says whether the switch is still there.
    fn serve(&mut self, answer: &[u8]) -> bool {
        let read = match self.stream.read(&mut self.inbox[self.filled..]) {
            Ok(0) => return false,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => return false,
        };
        let (end, mut at) = (self.filled + read, 0);
        while let Ok(Some(length)) = frame_length(&self.inbox[at..end]) {
            match MessageType::from(self.inbox[at + 1]) {
                MessageType::PacketIn => self.outbox.extend_from_slice(answer),
                MessageType::EchoRequest => self.echo(at..at + length),
                _ => {}
            }
            at += length;
        }
        self.inbox.copy_within(at..end, 0);
        self.filled = end - at;
        while !self.outbox.is_empty() {
            match self.stream.write(&self.outbox) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(_) => return false,
            }
        }
        true
    }
}

impl Channel {
    fn echo(&mut self, request: Range<usize>) {
        const TYPE: usize = 1;
        let start = self.outbox.len();
        self.outbox.extend_from_slice(&self.inbox[request]);
        self.outbox[start + TYPE] = MessageType::EchoReply.into();
    }
}

fn answer() -> Vec<u8> {
    let mut bytes = Vec::new();
    let actions = [Action::output(PortNo::TABLE)];
    Message::FlowMod(FlowMod::default()).encode(Xid(0), &mut bytes).expect("a short message");
    Message::PacketOut(PacketOut::new(&[0; 64], &actions))
        .encode(Xid(0), &mut bytes)
        .expect("a short message");
    bytes
}
