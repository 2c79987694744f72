//! A controller process, a scripted switch, and HTTP servers with canned answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use braid_openflow::{
    Capabilities, Desc, List, Message, MultipartFlags, MultipartReply, Port, PortConfig, PortFeatures,
    PortState, ReplyBody, RequestBody, SwitchFeatures, Text, Xid, frame_length,
};
use braid_types::{DatapathId, MacAddr, PortNo};
use serde_json::Value;

/// A controller of its own ports, which ends with the test.
pub(crate) struct Controller {
    process: Child,
    pub(crate) openflow: SocketAddr,
    pub(crate) http: String,
}

impl Controller {
    /// Starts one and waits until it listens.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("braid"));
        command.args(["controller", "run", "--openflow", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = |key: &str| ready[key].as_str().unwrap().to_owned();
        Self {
            process,
            openflow: address("openflow").parse().unwrap(),
            http: format!("http://{}", address("http")),
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A switch with one port, which answers what a controller asks and does nothing else.
pub(crate) fn connect_switch(controller: SocketAddr, dpid: DatapathId) -> TcpStream {
    let stream = TcpStream::connect(controller).unwrap();
    let mut own = stream.try_clone().unwrap();
    thread::spawn(move || {
        let (mut received, mut chunk) = (Vec::new(), [0; 4_096]);
        while let Ok(count @ 1..) = own.read(&mut chunk) {
            received.extend_from_slice(&chunk[..count]);
            while let Ok(Some(length)) = frame_length(&received) {
                let message: Vec<_> = received.drain(..length).collect();
                let (xid, message) = Message::decode(&message).unwrap();
                own.write_all(&answer(&message, xid, dpid)).unwrap();
            }
        }
    });
    stream
}

fn answer(message: &Message<'_>, xid: Xid, dpid: DatapathId) -> Vec<u8> {
    let ports = [port()];
    let multipart = |body| Message::MultipartReply(MultipartReply { flags: MultipartFlags::NONE, body });
    let answer = match message {
        Message::Hello(hello) => Message::Hello(*hello),
        Message::EchoRequest(echo) => Message::EchoReply(*echo),
        Message::FeaturesRequest => Message::FeaturesReply(features(dpid)),
        Message::RoleRequest(role) => Message::RoleReply(*role),
        Message::BarrierRequest => Message::BarrierReply,
        Message::MultipartRequest(request) => match request.body {
            RequestBody::Desc => multipart(ReplyBody::Desc(desc())),
            RequestBody::PortDesc => multipart(ReplyBody::PortDesc(List::from(&ports))),
            RequestBody::Flow(_) => multipart(ReplyBody::Flow(List::EMPTY)),
            RequestBody::GroupDesc => multipart(ReplyBody::GroupDesc(List::EMPTY)),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let mut bytes = Vec::new();
    answer.encode(xid, &mut bytes).unwrap();
    bytes
}

fn features(dpid: DatapathId) -> SwitchFeatures {
    let (n_buffers, n_tables, auxiliary_id) = (0, 254, 0);
    SwitchFeatures {
        datapath_id: dpid,
        n_buffers,
        n_tables,
        auxiliary_id,
        capabilities: Capabilities::NONE,
        reserved: 0,
    }
}

fn desc() -> Desc<'static> {
    let (long, short) = (Text::default(), Text::default());
    Desc { mfr_desc: long, hw_desc: long, sw_desc: long, serial_num: short, dp_desc: long }
}

fn port() -> Port<'static> {
    Port {
        port_no: PortNo(1),
        hw_addr: MacAddr::new([2, 0, 0, 0, 0, 1]),
        name: Text::new("eth1").unwrap(),
        config: PortConfig::NONE,
        state: PortState::LIVE,
        curr: PortFeatures::NONE,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Default::default(),
        max_speed: Default::default(),
    }
}

/// A server that answers every request with this status and body; its URL.
pub(crate) fn answer_with(status: &'static str, body: String) -> String {
    serve(move |_| (status, body.clone()))
}

/// A server that has a body for each of these paths, with parameters or whatever they are; its URL.
pub(crate) fn answer_by_path(bodies: Vec<(String, String)>) -> String {
    let is_of = |known: &str, path: &str| known == path || path.split('?').next() == Some(known);
    serve(move |path| match bodies.iter().find(|(known, _)| is_of(known, path)) {
        Some((_, body)) => ("200 OK", body.clone()),
        None => ("404 Not Found", String::new()),
    })
}

/// A server whose answers are made from the path; its URL.
fn serve(answer: impl Fn(&str) -> (&'static str, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let (status, body) = answer(line.split(' ').nth(1).unwrap_or_default());
            while stream.read_line(&mut line).is_ok_and(|count| count > 2) {}
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        }
    });
    url
}
