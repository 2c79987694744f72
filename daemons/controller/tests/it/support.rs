//! A controller in a thread of its own, an HTTP client, and a scripted switch.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use braid_controller::{Access, Agents, Config, Controller, Listen, Settings};
use braid_openflow::{
    Bytes, Capabilities, ControllerRole, ErrorMsg, Hello, Kbps, List, Message, MultipartFlags,
    MultipartReply, Port, PortConfig, PortFeatures, PortState, ReplyBody, RequestBody, Role, SwitchFeatures,
    Text, Xid, frame_length,
};
use braid_types::{DatapathId, MacAddr, PortNo};
use tokio::sync::oneshot;

/// No test waits longer for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A controller as it is by default, at these addresses.
pub(crate) fn config(openflow: SocketAddr, http: SocketAddr, record: Option<PathBuf>) -> Config {
    Config {
        openflow: Listen::Address(openflow),
        openflow_tls: None,
        http,
        record,
        agents: Agents::default(),
        access: Access::default(),
        testbed: None,
        http_inherited: Vec::new(),
        policy: None,
        reload: None,
        cluster: None,
        switch_access: Default::default(),
        switch_metadata: Default::default(),
        host_metadata: Default::default(),
        ovsdb: Default::default(),
        settings: Settings::default(),
    }
}

/// A controller in a thread of its own; stops when dropped.
pub(crate) struct Running {
    pub(crate) openflow: SocketAddr,
    pub(crate) http: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(record: Option<PathBuf>) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::start_with(config(any, any, record))
    }

    pub(crate) fn start_with(config: Config) -> Self {
        let controller = Controller::bind(config).expect("free ports");
        let (stop, stopped) = oneshot::channel();
        let (openflow, http) = (controller.openflow(), controller.http());
        let serve = move || {
            let stop = async { drop(stopped.await) };
            controller.serve(stop).expect("a clean end");
        };
        Self { openflow, http, stop: Some(stop), thread: Some(thread::spawn(serve)) }
    }

    /// The status and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.request("GET", path)
    }

    /// The status and body of a request without a body.
    pub(crate) fn request(&self, method: &str, path: &str) -> (u16, String) {
        self.send(method, path, b"")
    }

    /// The status of the answer to a body that may not be read to its end.
    pub(crate) fn try_send(&self, method: &str, path: &str, body: &[u8]) -> Option<u16> {
        let mut stream = TcpStream::connect(self.http).expect("HTTP port");
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n")
            .expect("request");
        let _ = stream.write_all(body);
        let mut answer = [0; 64];
        let read = stream.read(&mut answer).ok()?;
        std::str::from_utf8(&answer[..read]).ok()?.split(' ').nth(1)?.parse().ok()
    }

    /// The status and body of a request.
    pub(crate) fn send(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.http).expect("HTTP port");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
        .expect("request");
        stream.write_all(body).expect("body");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("status");
        (status, body.to_owned())
    }

    /// A connection on which this was asked for, with these header lines.
    pub(crate) fn open(&self, method: &str, path: &str, headers: &[&str]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.http).expect("HTTP port");
        stream.set_read_timeout(Some(TIMEOUT)).expect("time-out");
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}\r\n").expect("request");
        BufReader::new(stream)
    }

    /// The items of a list of the API, however many pages it has.
    pub(crate) fn list(&self, name: &str) -> Vec<serde_json::Value> {
        self.pages(name, 1_000).concat()
    }

    /// The items of a list, page by page; of those that `LIST?QUESTION` asks for.
    pub(crate) fn pages(&self, name: &str, limit: usize) -> Vec<Vec<serde_json::Value>> {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let (list, question) = name.split_once('?').unwrap_or((name, ""));
            let (status, body) = self.get(&format!("/api/v1/{list}?limit={limit}{cursor}&{question}"));
            assert_eq!(status, 200, "{body}");
            let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
            assert_eq!(body["schema"], "braid/v1");
            pages.push(body[list].as_array().expect("a list").clone());
            let Some(next) = body["next_cursor"].as_str() else { return pages };
            cursor = format!("&cursor={next}");
        }
    }

    /// The texts of the last events.
    pub(crate) fn list_of_events(&self) -> Vec<String> {
        self.list("events").iter().filter_map(|it| it["text"].as_str().map(str::to_owned)).collect()
    }

    /// Waits until the API lists this many switches.
    pub(crate) fn wait_for_switches(&self, count: usize) {
        wait_for(|| self.list("switches").len() == count, || format!("{:?}", self.list("switches")));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if !thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))));
        }
    }
}

pub(crate) fn wait_for(done: impl Fn() -> bool, state: impl Fn() -> String) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < TIMEOUT, "still {}", state());
        thread::sleep(Duration::from_millis(10));
    }
}

/// A switch with two ports that says what it should.
pub(crate) struct Switch {
    pub(crate) stream: TcpStream,
    inbox: Vec<u8>,
}

impl Switch {
    pub(crate) fn connect(to: SocketAddr) -> Self {
        Self::over(TcpStream::connect(to).expect("OpenFlow port"))
    }

    /// The same over a connection that is open.
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(TIMEOUT)).expect("time-out");
        Self { stream, inbox: Vec::new() }
    }

    /// Connects and goes through the handshake. It has no rules.
    pub(crate) fn join(to: SocketAddr, dpid: u64) -> Self {
        let mut switch = Self::connect(to);
        switch.send(&Message::Hello(Hello::V1_3));
        switch.answer_until_done(dpid);
        switch
    }

    pub(crate) fn send(&mut self, message: &Message<'_>) {
        self.reply(Xid(0), message);
    }

    /// Says this, if the controller still listens; that it does not is found by the next [`Self::receive`].
    pub(crate) fn reply(&mut self, xid: Xid, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("short message");
        match self.stream.write_all(&bytes) {
            Err(error) if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                panic!("the controller cannot be told anything: {error}")
            }
            _ => {}
        }
    }

    fn answer_until_done(&mut self, dpid: u64) {
        loop {
            let bytes = self.receive().expect("open channel");
            let (xid, message) = Message::decode(&bytes).expect("valid message");
            match message {
                Message::FeaturesRequest => self.reply(xid, &Message::FeaturesReply(features(dpid))),
                Message::MultipartRequest(request) if request.body == RequestBody::PortDesc => {
                    self.reply(xid, &port_desc(&[port(1), port(2)]));
                }
                Message::RoleRequest(Role { generation_id, .. }) => {
                    let role = Role { role: ControllerRole::Master, generation_id };
                    self.reply(xid, &Message::RoleReply(role));
                }
                Message::MultipartRequest(request) if request.body == RequestBody::GroupDesc => {
                    return self.reply(xid, &reply(ReplyBody::GroupDesc(List::EMPTY)));
                }
                Message::MultipartRequest(request) if matches!(request.body, RequestBody::Flow(_)) => {
                    self.reply(xid, &reply(ReplyBody::Flow(List::EMPTY)));
                }
                _ => {}
            }
        }
    }

    /// The next message; `None` once the channel is closed.
    pub(crate) fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            let length = frame_length(&self.inbox).expect("valid stream");
            if let Some(length) = length.filter(|length| *length <= self.inbox.len()) {
                return Some(self.inbox.drain(..length).collect());
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(read) => self.inbox.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("the controller says nothing: {error}"),
            }
        }
    }

    /// Reads until the channel is closed; returns the last error message, in words.
    pub(crate) fn last_error(&mut self) -> Option<String> {
        let mut last = None;
        while let Some(bytes) = self.receive() {
            if let Ok((_, Message::Error(ErrorMsg { error, .. }))) = Message::decode(&bytes) {
                last = Some(format!("{error:?}"));
            }
        }
        last
    }

    /// Whether the controller still answers an echo.
    pub(crate) fn is_served(&mut self) -> bool {
        self.send(&Message::EchoRequest(braid_openflow::Echo { data: Bytes(b"there?") }));
        while let Some(bytes) = self.receive() {
            if let Ok((_, Message::EchoReply(_))) = Message::decode(&bytes) {
                return true;
            }
        }
        false
    }
}

pub(crate) fn features(dpid: u64) -> SwitchFeatures {
    SwitchFeatures {
        datapath_id: DatapathId(dpid),
        n_buffers: 0,
        n_tables: 254,
        auxiliary_id: 0,
        capabilities: Capabilities::FLOW_STATS,
        reserved: 0,
    }
}

pub(crate) fn port(number: u32) -> Port<'static> {
    Port {
        port_no: PortNo(number),
        hw_addr: MacAddr::from_u64(u64::from(number)),
        name: Text::new("p").expect("short name"),
        config: PortConfig::NONE,
        state: PortState::LIVE,
        curr: PortFeatures::NONE,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Kbps(0),
        max_speed: Kbps(0),
    }
}

pub(crate) fn port_desc<'a>(ports: &'a [Port<'a>]) -> Message<'a> {
    reply(ReplyBody::PortDesc(List::new(ports)))
}

pub(crate) fn reply(body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(MultipartReply { flags: MultipartFlags::NONE, body })
}
