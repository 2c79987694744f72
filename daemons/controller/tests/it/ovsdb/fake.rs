//! A database that a test plays.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::TIMEOUT;

/// Where a controller connects to.
pub(super) struct FakeDatabase(TcpListener);

/// One connection of a controller.
pub(super) struct Session {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl FakeDatabase {
    pub(super) fn listen() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").expect("a free port"))
    }

    pub(super) fn address(&self) -> String {
        format!("tcp:{}", self.0.local_addr().expect("an address"))
    }

    /// The next connection, which has been told the content: two bridges with a port each, of which only the first has a
    /// controller and works as it should.
    pub(super) fn accept(&self, openflow_port: u16) -> Session {
        let mut session = self.accept_silently();
        let monitor = session.request("monitor");
        session.say(&json!({ "id": monitor["id"], "error": null, "result": content(openflow_port) }));
        session
    }

    /// The next connection, which is told nothing.
    pub(super) fn accept_silently(&self) -> Session {
        let (stream, _) = self.0.accept().expect("a controller");
        stream.set_read_timeout(Some(TIMEOUT)).expect("time-out");
        Session { stream, heard: Vec::new() }
    }
}

impl Session {
    pub(super) fn say(&mut self, message: &Value) {
        self.stream.write_all(message.to_string().as_bytes()).expect("a controller that reads");
    }

    pub(super) fn say_in_pieces(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(7) {
            self.stream.write_all(piece).expect("a controller that reads");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The next message, which asks for this.
    pub(super) fn request(&mut self, method: &str) -> Value {
        let message = self.next();
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(super) fn next(&mut self) -> Value {
        self.next_or_end().expect("the controller closed the connection")
    }

    /// The next message; `None` if the controller closes the connection.
    pub(super) fn next_or_end(&mut self) -> Option<Value> {
        let mut room = [0; 4_096];
        loop {
            let mut values = serde_json::Deserializer::from_slice(&self.heard).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                let used = values.byte_offset();
                self.heard.drain(..used);
                return Some(value);
            }
            match self.stream.read(&mut room) {
                Ok(0) => return None,
                Ok(read) => self.heard.extend_from_slice(&room[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => panic!("neither a message nor an end: {error}"),
            }
        }
    }
}

fn content(openflow_port: u16) -> Value {
    let uuid = |name: &str| json!(["uuid", name]);
    let bridge = |number: u64, controllers: Value, fail_mode: Value| {
        json!({ "new": {
            "name": format!("br{number}"), "datapath_id": format!("{number:016x}"), "ports": uuid(&format!("p{number}")),
            "controller": controllers, "fail_mode": fail_mode, "protocols": ["set", []],
            "stp_enable": false, "rstp_enable": false,
        } })
    };
    let interface = |name: &str| {
        json!({ "new": {
            "name": name, "ofport": 1, "bfd": ["map", []], "bfd_status": ["map", []], "external_ids": ["map", []],
        } })
    };
    json!({
        "Bridge": {
            "b1": bridge(1, uuid("c1"), json!("secure")),
            "b2": bridge(2, json!(["set", []]), json!(["set", []])),
        },
        "Controller": { "c1": { "new": {
            "target": format!("tcp:127.0.0.1:{openflow_port}"), "max_backoff": ["set", []],
            "external_ids": ["map", []],
        } } },
        "Port": { "p1": { "new": { "interfaces": uuid("i1") } }, "p2": { "new": { "interfaces": uuid("i2") } } },
        "Interface": { "i1": interface("eth1"), "i2": interface("eth2") },
    })
}
