use std::cell::RefCell;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use braid_control::{Event, Settings};
use braid_packet::lldp::ProbeKey;
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{MissedTickBehavior, interval};
use tracing::info;

use crate::clock::Clock;
use crate::engine::{Engine, Shared};
use crate::record::Recorder;
use crate::{http, server};

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
    /// Where every event is written.
    pub record: Option<PathBuf>,
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

/// The line on standard output that says that the controller is ready, and where.
#[derive(Serialize)]
struct Ready {
    schema: &'static str,
    openflow: SocketAddr,
    http: SocketAddr,
}

/// Runs a controller until SIGTERM or SIGINT.
///
/// Once it listens it prints one line of JSON with its addresses on standard output.
pub fn run(config: Config) -> Result<(), ControllerError> {
    let switches = listen_for_switches(config.openflow)?;
    let programs = bind("programs", config.http)?;
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let recorder = config.record.map(|path| {
        Recorder::create(&path, &secret).map_err(|source| ControllerError::Record { path, source })
    });
    let settings = Settings { lldp_key: ProbeKey::new(secret), ..Settings::default() };
    let clock = Clock::start();
    let engine = Rc::new(RefCell::new(Engine::new(clock, settings, recorder.transpose()?)));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(engine, switches, programs))
}

async fn serve(engine: Shared, switches: TcpListener, programs: TcpListener) -> Result<(), ControllerError> {
    let (openflow, http) = (switches.local_addr()?, programs.local_addr()?);
    let questions = http::serve(programs)?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let accepting = spawn_local(server::accept(engine.clone(), tokio::net::TcpListener::from_std(switches)?));
    spawn_local(tick(engine.clone()));
    spawn_local(http::answer(engine.clone(), questions));
    say_ready(openflow, http)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    info!("stopping");
    accepting.abort();
    drain(&engine).await;
    Ok(())
}

async fn tick(engine: Shared) {
    let mut timer = interval(engine.borrow().brain().settings().tick);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        engine.borrow_mut().handle(&Event::Tick);
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

fn say_ready(openflow: SocketAddr, http: SocketAddr) -> io::Result<()> {
    info!(%openflow, %http, "ready");
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &Ready { schema: "braid/v1", openflow, http })?;
    writeln!(out)?;
    out.flush()
}

fn listen_for_switches(listen: Listen) -> Result<TcpListener, ControllerError> {
    match listen {
        Listen::Address(address) => bind("switches", address),
        Listen::Inherited(fd) => {
            let listener = TcpListener::from(fd);
            let listening = socket2::SockRef::from(&listener).is_listener().and_then(|yes| {
                if yes { listener.set_nonblocking(true) } else { Err(io::ErrorKind::InvalidInput.into()) }
            });
            listening.map_err(ControllerError::Inherited).map(|()| listener)
        }
    }
}

fn bind(what: &'static str, address: SocketAddr) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| ControllerError::Listen { what, address, source })
}
