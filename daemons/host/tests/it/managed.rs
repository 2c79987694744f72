//! The agent in user space, on a real kernel.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_client::{Client, Credentials, Options};
use braid_host::managed::{Adviser, Input};
use braid_host::pm::{Endpoint, EndpointFlag, Event, Events, Limits, PathManager};
use braid_host::{Agent, Config, KernelMode, Mode, sysctl};
use socket2::Protocol;

use crate::namespace::{ip, namespace};
use crate::traffic::{Pair, TIMEOUT, connect};

const PATH_MANAGER: &str = "net.mptcp.pm_type";

/// Two hosts' addresses in one namespace, and an agent that manages it while `action` runs.
pub(crate) fn with_agent(
    subflows: usize,
    adviser: Option<Box<dyn Adviser>>,
    action: impl FnOnce(&mut Events),
) {
    ip("address add 10.0.0.1/32 dev lo");
    ip("address add 10.0.0.2/32 dev lo");
    let before = sysctl::read(PATH_MANAGER).unwrap();
    let mut events = PathManager::open().unwrap().events().unwrap();
    events.set_receive_timeout(TIMEOUT).unwrap();
    let mode = Some(Mode::Managed { subflows, most: 8, adviser });
    let agent = Agent::start(Config { mode, ..Config::default() }).unwrap();
    let stop = agent.stopper().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| agent.run_until_signalled(&mut || {}).unwrap());
        let _stop = Stop(stop);
        action(&mut events);
    });
    assert_eq!(sysctl::read(PATH_MANAGER).unwrap(), before);
}

#[test]
fn receive_buffers_start_larger_while_the_agent_runs() {
    const SIZES: &str = "net.ipv4.tcp_rmem";
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let before = sysctl::read(SIZES).unwrap();
        let largest = before.split_whitespace().last().unwrap();
        let agent = Agent::start(Config { receive_buffer: u64::MAX, ..Config::default() }).unwrap();
        assert_eq!(sysctl::read(SIZES).unwrap().split_whitespace().nth(1), Some(largest));
        drop(agent);
        assert_eq!(sysctl::read(SIZES).unwrap(), before);
    });
}

/// Ends the agent however a test ends.
pub(crate) struct Stop(pub(crate) Sender<Input>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.send(Input::Stop).unwrap();
    }
}

fn connected() -> Pair {
    let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    let [local, remote] = addresses.map(|address| SocketAddr::from((address, 0)));
    let mut pair = connect(Protocol::MPTCP, local, remote);
    pair.transfer(1_000);
    pair
}

/// The local ports of the next `count` subflows that the client has opened.
fn opened(events: &mut Events, count: usize) -> BTreeSet<u16> {
    let mut ports = BTreeSet::new();
    while ports.len() < count {
        if let Event::SubflowEstablished(subflow) = events.wait().unwrap()
            && subflow.ends.local.ip() == IpAddr::from([10, 0, 0, 1])
        {
            ports.insert(subflow.ends.local.port());
        }
    }
    ports
}

/// A controller that answers each question with what `answer` makes of it, and shows the head and the question.
fn controller(
    answer: impl Fn(&AdviceRequest) -> String + Send + 'static,
) -> (Client, Receiver<(String, AdviceRequest)>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, questions) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (head, request) = read_request(&stream);
            let body = answer(&request);
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            if seen.send((head, request)).is_err() {
                return;
            }
        }
    });
    let credentials = Credentials { token: Some("secret\n".to_owned()), ..Credentials::default() };
    let options = Options { credentials, ..Options::default() };
    (Client::with(&url.parse().unwrap(), &options).unwrap(), questions)
}

fn read_request(stream: &TcpStream) -> (String, AdviceRequest) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0);
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn from_ports(request: &AdviceRequest, ports: impl IntoIterator<Item = u16>) -> Vec<SubflowEnds> {
    let at = |port| SubflowEnds { local: (request.connection.local.ip(), port).into(), ..request.connection };
    ports.into_iter().map(at).collect()
}

fn json(subflows: Vec<SubflowEnds>) -> String {
    serde_json::to_string(&Advice { subflows, ask_again_after: None }).unwrap()
}

#[test]
fn agent_opens_the_subflows_that_the_controller_advises() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let (controller, questions) = controller(|it| json(from_ports(it, 20_001..=20_003)));
        with_agent(1, Some(Box::new(controller)), |events| {
            let mut pair = connected();
            assert_eq!(opened(events, 3), (20_001..=20_003).collect());
            let (head, question) = questions.recv_timeout(TIMEOUT).unwrap();
            assert!(
                head.starts_with("post /api/v1/advice ") && head.contains("authorization: bearer secret\r\n")
            );
            assert_eq!(question.connection.remote, pair.remote());
            assert_eq!(question.remote_addresses, [pair.remote()]);
            pair.transfer(1 << 20);
        });
    });
}

#[test]
fn agent_follows_wrong_advice_only_as_far_as_it_may() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let (controller, _questions) = controller(|it| {
            let mut advised = from_ports(it, 1_001..=11_000);
            advised[0].local = "192.0.2.1:1001".parse().unwrap();
            advised[1].remote = "192.0.2.1:80".parse().unwrap();
            json(advised)
        });
        with_agent(1, Some(Box::new(controller)), |events| {
            let mut pair = connected();
            assert_eq!(opened(events, 8), (1_003..=1_010).collect());
            pair.transfer(1 << 20);
        });
    });
}

#[test]
fn agent_goes_on_by_itself_when_the_controller_talks_nonsense() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let (controller, _questions) = controller(|_| "{\"subflows\": 10000}".to_owned());
        with_agent(4, Some(Box::new(controller)), |events| {
            let mut pair = connected();
            assert_eq!(opened(events, 3).len(), 3);
            pair.transfer(1 << 20);
        });
    });
}

#[test]
fn agent_needs_no_controller() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        with_agent(4, None, |events| {
            let mut pair = connected();
            let ports = opened(events, 3);
            assert!(ports.iter().all(|port| braid_types::ADVISED_PORTS.contains(port)), "{ports:?}");
            pair.transfer(1 << 20);
        });
    });
}

#[test]
fn kernel_mode_leaves_limits_and_endpoints_as_they_were() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let mut kernel = PathManager::open().unwrap();
        let endpoint = |address: &str| Endpoint {
            id: 0,
            address: address.parse().unwrap(),
            port: None,
            flags: [EndpointFlag::Subflow].into_iter().collect(),
            interface: 0,
        };
        kernel.add_endpoint(&endpoint("10.0.0.9")).unwrap();
        let before = (kernel.limits().unwrap(), kernel.endpoints().unwrap());
        let wanted = Limits { subflows: 5, accepted_addresses: 6 };
        let mode = KernelMode::set(wanted, &[endpoint("10.0.0.1"), endpoint("10.0.0.2")]).unwrap();
        assert_eq!((kernel.limits().unwrap(), kernel.endpoints().unwrap().len()), (wanted, 3));
        drop(mode);
        assert_eq!((kernel.limits().unwrap(), kernel.endpoints().unwrap()), before);
        // The second is there already: what came before it is taken back.
        assert!(KernelMode::set(wanted, &[endpoint("10.0.0.1"), endpoint("10.0.0.9")]).is_err());
        assert_eq!((kernel.limits().unwrap(), kernel.endpoints().unwrap()), before);
    });
}
