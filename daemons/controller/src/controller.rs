//! The controller daemon: configuration, listening sockets, its tasks and threads, and shutdown.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use braid_control::{Event, Settings};
use braid_packet::lldp::ProbeKey;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info};

use crate::access::{self, Access};
use crate::agents::Agents;
use crate::channels::{self, Channels};
use crate::clock::Clock;
use crate::drawing::Drawings;
use crate::engine::{Engine, Shared};
use crate::policy::{self, PolicyFile};
use crate::record::Recorder;
use crate::testbed::Testbed;
use crate::{http, notices};

/// How long switches have to take their last messages when the controller stops.
const DRAIN: Duration = Duration::from_secs(1);

/// Where switches connect.
#[derive(Debug)]
pub enum Listen {
    /// To this address; port 0 takes any free one.
    Address(SocketAddr),
    /// To a TCP socket that listens already, handed over by the process that started this one.
    Inherited(OwnedFd),
}

/// What a controller needs to know before it starts.
#[derive(Debug)]
pub struct Config {
    /// Where switches connect.
    pub openflow: Listen,
    /// Where programs and browsers connect.
    pub http: SocketAddr,
    /// A TCP socket that listens already, on which programs are served as well.
    pub http_inherited: Option<OwnedFd>,
    /// Where every event is written.
    pub record: Option<PathBuf>,
    /// Agents on hosts that have a token.
    pub agents: Agents,
    /// How programs are let in.
    pub access: Access,
    /// What built the network, if it is for trying: its links can be changed.
    pub testbed: Option<Arc<dyn Testbed>>,
    /// What is steered how; nothing: all as the settings have it.
    pub policy: Option<PolicyFile>,
    /// What is written down of its switches.
    pub drawings: Drawings,
    /// How it behaves; the key of discovery frames is made anew.
    pub settings: Settings,
}

/// Why a controller could not start or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// A socket could not be opened.
    #[error("cannot listen for {what} on {address}: {source}")]
    Listen {
        /// Switches, or programs.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Others could do what they want.
    #[error(
        "others can reach {address}: it needs {what} (--tokens, --tls-certificate, --tls-key), or --http-trusted where everybody \
         who can reach it may ask"
    )]
    Open {
        /// Where programs were to be served.
        address: SocketAddr,
        /// What is missing.
        what: &'static str,
    },
    /// The inherited socket is of no use.
    #[error("the inherited file descriptor is not a listening TCP socket: {0}")]
    Inherited(io::Error),
    /// The file for the recording could not be made.
    #[error("cannot record to {}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The operating system refused something else.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// A controller that listens and does not serve yet.
#[derive(Debug)]
pub struct Controller {
    switches: TcpListener,
    programs: Vec<TcpListener>,
    openflow: SocketAddr,
    http: SocketAddr,
    settings: Settings,
    recorder: Option<Recorder>,
    agents: Agents,
    access: Access,
    testbed: Option<Arc<dyn Testbed>>,
    policy: Option<PolicyFile>,
    drawings: Drawings,
}

impl Controller {
    /// Opens everything that can fail: sockets and files.
    pub fn bind(config: Config) -> Result<Self, ControllerError> {
        raise_file_limit();
        if let Some(what) = config.access.lacks(config.http) {
            return Err(ControllerError::Open { address: config.http, what });
        }
        let switches = listen_for_switches(config.openflow)?;
        let http = bind("programs", config.http)?;
        let address = http.local_addr()?;
        let more = config.http_inherited.map(inherit).transpose()?;
        let programs = std::iter::once(http).chain(more).collect();
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let assignment_seed = u64::from_ne_bytes(seed);
        let recorder = config.record.map(|path| {
            Recorder::create(&path, &secret).map_err(|source| ControllerError::Record { path, source })
        });
        Ok(Self {
            openflow: switches.local_addr()?,
            http: address,
            switches,
            programs,
            settings: Settings { lldp_key: ProbeKey::new(secret), assignment_seed, ..config.settings },
            recorder: recorder.transpose()?,
            agents: config.agents,
            access: config.access,
            testbed: config.testbed,
            policy: config.policy,
            drawings: config.drawings,
        })
    }

    /// Where switches connect.
    pub const fn openflow(&self) -> SocketAddr {
        self.openflow
    }

    /// Where programs connect.
    pub const fn http(&self) -> SocketAddr {
        self.http
    }

    /// Serves switches and programs until `stop` is done; then lets the channels run dry.
    pub fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ControllerError> {
        let engine = Rc::new(RefCell::new(Engine::new(Clock::start(), self.settings, self.recorder)));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            let (teller, listener) = notices::way();
            engine.borrow_mut().tell(teller);
            engine.borrow_mut().draw(self.drawings);
            let questions =
                http::serve(self.programs, self.agents, self.access.clone(), self.testbed, listener)?;
            let switches = tokio::net::TcpListener::from_std(self.switches)?;
            let (newcomers, door) = channels::door();
            let accepting = spawn_local(channels::accept(switches, newcomers));
            let channels = spawn_local(Channels::new(engine.clone(), door)?.serve());
            spawn_local(tick(engine.clone()));
            spawn_local(policy::follow(engine.clone(), self.policy));
            spawn_local(access::follow(self.access.tls.clone()));
            spawn_local(http::answer(engine.clone(), questions));
            tokio::select! {
                () = stop => {}
                error = channels => return Err(error.unwrap_or_else(io::Error::other).into()),
            }
            info!("stopping");
            accepting.abort();
            drain(&engine).await;
            Ok(())
        })
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
                Err(error) => error!(%error, "signals cannot be caught"),
            }
        })
    }
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
            // The brain wants to be woken sooner than it did before.
            () = woken.notified() => continue,
        }
        let mut engine = engine.borrow_mut();
        let now = engine.now();
        engine.handle(now, &Event::Tick);
    }
}

async fn drain(engine: &Shared) {
    engine.borrow_mut().stop();
    let empty = async {
        while !engine.borrow().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = tokio::time::timeout(DRAIN, empty).await;
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

/// Each switch and each program takes a descriptor; the usual soft limit is 1,024.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, those wait who would need more.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn bind(what: &'static str, address: SocketAddr) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| ControllerError::Listen { what, address, source })
}
