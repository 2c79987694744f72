//! The controller daemon: configuration, listening sockets, its tasks and threads, and shutdown.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use braid_control::Settings;
use braid_packet::lldp::ProbeKey;
use braid_recording::Recorder;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info};

use crate::access::{self, Access};
use crate::agents::Agents;
use crate::channels::{self, Channels};
use crate::clock::Clock;
use crate::cluster::{self, ClusterConfig, ClusterError, Joined};
use crate::engine::{Engine, Shared};
use crate::openflow_tls::{self, OpenFlowTls};
use crate::ovsdb::{self, OvsdbAddress};
use crate::policy::{self, PolicyFile};
use crate::switch_access::SwitchAccess;
use crate::switch_metadata::SwitchMetadataMap;
use crate::tasks::{TaskError, Tasks};
use crate::testbed::Testbed;
use crate::{http, notices};

/// The time that switches have to receive their last messages when the controller stops.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(750);

/// The socket on which switches connect.
#[derive(Debug)]
pub enum Listen {
    /// A new socket on this address; port 0 takes any free one.
    Address(SocketAddr),
    /// A listening TCP socket inherited from the parent process.
    Inherited(OwnedFd),
}

/// The configuration of a controller.
#[derive(Debug)]
pub struct Config {
    /// The socket for switches.
    pub openflow: Listen,
    /// OpenFlow over TLS; `None`: plain TCP.
    pub openflow_tls: Option<OpenFlowTls>,
    /// The address for API clients and browsers.
    pub http: SocketAddr,
    /// A listening TCP socket on which API clients are served as well.
    pub http_inherited: Option<OwnedFd>,
    /// The file for a recording of every event.
    pub record: Option<PathBuf>,
    /// Host agents with their tokens.
    pub agents: Agents,
    /// Access of API clients: tokens and TLS.
    pub access: Access,
    /// The testbed that the network is, if any: its links can be changed.
    pub testbed: Option<Arc<dyn Testbed>>,
    /// The policy file; without one, the settings decide.
    pub policy: Option<PolicyFile>,
    /// Which switches may join, and where from.
    pub switch_access: SwitchAccess,
    /// The controller's place in a cluster; `None`: it is alone.
    pub cluster: Option<ClusterConfig>,
    /// Names, groups and positions of switches.
    pub switch_metadata: SwitchMetadataMap,
    /// Open vSwitch's databases, in which BFD is set on the ports of links.
    pub ovsdb: Vec<OvsdbAddress>,
    /// Settings of the brain; the key of discovery frames is replaced by a new one.
    pub settings: Settings,
}

/// Errors that keep a controller from starting or running.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// A socket cannot be opened.
    #[error("cannot listen for {what} on {address}: {source}")]
    Listen {
        /// The peers: switches or API clients.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The address is reachable from other machines, and access is not restricted.
    #[error(
        "{address} is reachable from other machines and has no {what}: give --tokens, --tls-certificate and --tls-key, \
        or --http-trusted to trust everybody who can reach it"
    )]
    Open {
        /// The address of the API.
        address: SocketAddr,
        /// The missing protection.
        what: &'static str,
    },
    /// Other machines can connect as switches without TLS, and nobody said that they are trusted.
    #[error(
        "{address} is reachable from other machines, and OpenFlow over plain TCP proves no switch's identity: give \
        --openflow-tls required with certificates, or --openflow-trusted to trust everybody who can reach it"
    )]
    OpenToSwitches {
        /// The address for switches.
        address: SocketAddr,
    },
    /// The inherited file descriptor is not a listening TCP socket.
    #[error("the inherited file descriptor is not a listening TCP socket: {0}")]
    Inherited(io::Error),
    /// The recording's file cannot be created.
    #[error("cannot record to {}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A part of the controller ended or panicked, so that it cannot go on.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The controller cannot become a member of its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The operating system refused another call.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// A controller with open sockets that does not serve yet.
#[derive(Debug)]
pub struct Controller {
    switches: TcpListener,
    api_listeners: Vec<TcpListener>,
    openflow: SocketAddr,
    openflow_tls: Option<OpenFlowTls>,
    http: SocketAddr,
    settings: Settings,
    recorder: Option<Recorder>,
    agents: Agents,
    access: Access,
    testbed: Option<Arc<dyn Testbed>>,
    policy: Option<PolicyFile>,
    switch_access: SwitchAccess,
    switch_metadata: SwitchMetadataMap,
    ovsdb: Vec<OvsdbAddress>,
    cluster: Option<Joined>,
}

impl Controller {
    /// Opens sockets and files: everything that can fail.
    pub fn bind(config: Config) -> Result<Self, ControllerError> {
        raise_file_limit();
        if let Some(what) = config.access.lacks(config.http) {
            return Err(ControllerError::Open { address: config.http, what });
        }
        // Whoever opened an inherited socket has said so.
        if let Listen::Address(address) = config.openflow
            && !config.openflow_tls.as_ref().is_some_and(OpenFlowTls::is_required)
            && config.switch_access.is_open(address)
        {
            return Err(ControllerError::OpenToSwitches { address });
        }
        let switches = listen_for_switches(config.openflow)?;
        let http = bind("API clients", config.http)?;
        let address = http.local_addr()?;
        let more = config.http_inherited.map(inherit).transpose()?;
        let api_listeners = std::iter::once(http).chain(more).collect();
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let assignment_seed = u64::from_ne_bytes(seed);
        let cluster =
            config.cluster.map(|cluster| Joined::join(cluster, secret, assignment_seed)).transpose()?;
        if let Some(cluster) = &cluster {
            secret = cluster.lldp_key;
        }
        let recorder = config.record.map(|path| {
            Recorder::create(&path, &secret).map_err(|source| ControllerError::Record { path, source })
        });
        Ok(Self {
            openflow: switches.local_addr()?,
            openflow_tls: config.openflow_tls,
            http: address,
            switches,
            api_listeners,
            settings: Settings { lldp_key: ProbeKey::new(secret), assignment_seed, ..config.settings },
            recorder: recorder.transpose()?,
            agents: config.agents,
            access: config.access,
            testbed: config.testbed,
            policy: config.policy,
            switch_access: config.switch_access,
            switch_metadata: config.switch_metadata,
            ovsdb: config.ovsdb,
            cluster,
        })
    }

    /// The address for switches.
    pub const fn openflow(&self) -> SocketAddr {
        self.openflow
    }

    /// The address for API clients.
    pub const fn http(&self) -> SocketAddr {
        self.http
    }

    /// Serves switches and API clients until `stop` completes; then sends what is left in the outboxes.
    pub fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ControllerError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            let (mut tasks, mut accepting) = (Tasks::default(), Tasks::default());
            let engine = self.start(&mut tasks, &mut accepting)?;
            tokio::select! {
                () = stop => {}
                ended = tasks.ended() => return Err(ended.into()),
                ended = accepting.ended() => return Err(ended.into()),
            }
            info!("stopping");
            drop(accepting);
            tokio::select! {
                () = drain(&engine) => Ok(()),
                ended = tasks.ended() => Err(ended.into()),
            }
        })
    }

    /// Starts everything. The tasks that accept connections end sooner than the others.
    fn start(self, tasks: &mut Tasks, accepting: &mut Tasks) -> Result<Shared, ControllerError> {
        let engine = Rc::new(RefCell::new(Engine::new(Clock::start(), self.settings, self.recorder)));
        let (notice_sender, notices) = notices::channel();
        engine.borrow_mut().send_notices_to(notice_sender);
        engine.borrow_mut().switches_mut().restrict(&self.switch_access);
        engine.borrow_mut().set_switch_metadata(self.switch_metadata);
        let http = http::Service {
            listeners: self.api_listeners,
            agents: self.agents,
            access: self.access.clone(),
            testbed: self.testbed,
            notices,
            openflow_tls: self.openflow_tls.clone(),
        };
        let questions = http.start(tasks)?;
        let cluster = self.cluster.map(|joined| {
            engine.borrow_mut().switches_mut().stand_by();
            let (handle, member) = cluster::member(engine.clone(), joined);
            tasks.spawn("cluster", member);
            handle
        });
        tasks.spawn("answers", http::answer(engine.clone(), cluster, questions));
        if let Some(tls) = self.openflow_tls.clone() {
            tasks.spawn("certificates", openflow_tls::follow(engine.clone(), tls, self.openflow.ip()));
        }
        serve_switches(&engine, self.switches, self.openflow_tls, tasks, accepting)?;
        ovsdb::start(tasks, engine.clone(), self.ovsdb)?;
        tasks.spawn("tick", tick(engine.clone()));
        tasks.spawn("policy", policy::follow(engine.clone(), self.policy));
        tasks.spawn("http-certificate", access::follow(self.access.tls));
        Ok(engine)
    }

    /// As [`serve`](Self::serve), until SIGTERM or SIGINT.
    pub fn serve_until_signalled(self) -> Result<(), ControllerError> {
        self.serve(async {
            let signals =
                signal(SignalKind::terminate()).and_then(|t| Ok((t, signal(SignalKind::interrupt())?)));
            match signals {
                Ok((mut terminate, mut interrupt)) => tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                },
                Err(error) => error!(%error, "cannot install handlers for SIGTERM and SIGINT"),
            }
        })
    }
}

fn serve_switches(
    engine: &Shared,
    listener: TcpListener,
    tls: Option<OpenFlowTls>,
    tasks: &mut Tasks,
    accepting: &mut Tasks,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (accepted, accept_queue) = channels::accept_queue();
    match tls.clone() {
        Some(tls) => {
            let handshakes = channels::start_handshakes(accepting, tls, accepted)?;
            accepting.spawn("accept", channels::accept(engine.clone(), listener, handshakes));
        }
        None => accepting.spawn("accept", channels::accept(engine.clone(), listener, accepted)),
    }
    tasks.spawn("channels", Channels::new(engine.clone(), accept_queue, tls)?.serve());
    Ok(())
}

async fn tick(engine: Shared) {
    let mut timer = interval(engine.borrow().brain().settings().tick);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let woken = engine.borrow().woken();
    loop {
        let wait = engine.borrow().until_wake();
        let wake = async {
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = timer.tick() => {}
            () = wake => {}
            // The brain asks to be called sooner than before.
            () = woken.notified() => continue,
        }
        engine.borrow_mut().tick();
    }
}

async fn drain(engine: &Shared) {
    engine.borrow_mut().stop();
    let empty = async {
        while !engine.borrow().switches().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, empty).await;
}

fn listen_for_switches(listen: Listen) -> Result<TcpListener, ControllerError> {
    match listen {
        Listen::Address(address) => bind("switches", address),
        Listen::Inherited(fd) => inherit(fd),
    }
}

fn inherit(fd: OwnedFd) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::from(fd);
    let listening = socket2::SockRef::from(&listener).is_listener().and_then(|yes| {
        if yes { listener.set_nonblocking(true) } else { Err(io::ErrorKind::InvalidInput.into()) }
    });
    listening.map_err(ControllerError::Inherited).map(|()| listener)
}

/// Raises the limit of open files: each switch and API client takes one; the usual soft limit is 1,024.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, later connections wait.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn bind(what: &'static str, address: SocketAddr) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| ControllerError::Listen { what, address, source })
}
