//! The controller daemon: its sockets, tasks and threads, and shutdown.

mod config;
mod listen;

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use braid_control::Settings;
use braid_packet::lldp::ProbeKey;
use braid_recording::Recorder;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info};

use crate::access::{self, Access};
use crate::agents::Agents;
use crate::channels::{self, Channels};
use crate::clock::Clock;
use crate::cluster::{self, ApiTrust, Joined, OwnApi, SharedStanding};
use crate::engine::{Engine, Shared};
use crate::http::ClusterApi;
use crate::names::Names;
use crate::openflow_tls::{self, OpenFlowTls};
use crate::ovsdb::{self, OvsdbConfig};
use crate::policy::{self, PolicyFile};
use crate::reload::Reload;
use crate::switch_access::SwitchAccess;
use crate::switch_metadata::{HostMetadata, SwitchMetadataMap};
use crate::tasks::Tasks;
use crate::testbed::Testbed;
use crate::{http, notices};
pub use config::{Config, ControllerError, Listen};

/// The time that switches have to receive their last messages when the controller stops.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(750);

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
    reload: Option<Box<dyn Reload>>,
    switch_access: SwitchAccess,
    switch_metadata: SwitchMetadataMap,
    host_metadata: HostMetadata,
    ovsdb: OvsdbConfig,
    cluster: Option<Joined>,
    api_trust: Option<ApiTrust>,
}

/// What is called at each tick, on the thread of switches and decisions.
type OnTick = Box<dyn FnMut()>;

impl Controller {
    /// Opens sockets and files: everything that can fail.
    pub fn bind(config: Config) -> Result<Self, ControllerError> {
        listen::raise_file_limit();
        config.check()?;
        let switches = listen::switches(config.openflow)?;
        let http = listen::on("API clients", config.http)?;
        let address = http.local_addr()?;
        let more = config.http_inherited.into_iter().map(listen::inherited);
        let api_listeners = std::iter::once(Ok(http)).chain(more).collect::<Result<_, _>>()?;
        let (mut secret, assignment_seed) = (random()?, u64::from_ne_bytes(random()?));
        let api_trust = config.cluster.as_ref().and_then(|cluster| cluster.api_trust.clone());
        let api = OwnApi { address, has_tls: config.access.tls.is_some() };
        let join = |cluster| Joined::join(cluster, api, secret, assignment_seed);
        let cluster = config.cluster.map(join).transpose()?;
        if let Some(cluster) = &cluster {
            secret = cluster.lldp_key();
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
            reload: config.reload,
            switch_access: config.switch_access,
            switch_metadata: config.switch_metadata,
            host_metadata: config.host_metadata,
            ovsdb: config.ovsdb,
            cluster,
            api_trust,
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
        self.serve_with(stop, Box::new(|| {}))
    }

    /// Serves, and calls `on_tick` at each tick, on the thread of switches and decisions.
    fn serve_with(self, stop: impl Future<Output = ()>, on_tick: OnTick) -> Result<(), ControllerError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            let (mut tasks, mut accepting) = (Tasks::default(), Tasks::default());
            let engine = self.start(&mut tasks, &mut accepting, on_tick)?;
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
    fn start(
        self,
        tasks: &mut Tasks,
        accepting: &mut Tasks,
        on_tick: OnTick,
    ) -> Result<Shared, ControllerError> {
        let engine = Rc::new(RefCell::new(Engine::new(Clock::start(), self.settings, self.recorder)));
        let (notice_sender, notices) = notices::channel();
        engine.borrow_mut().send_notices_to(notice_sender);
        engine.borrow_mut().switches_mut().restrict(&self.switch_access);
        engine.borrow_mut().set_names(Names::new(self.switch_metadata, self.host_metadata));
        let standing = SharedStanding::default();
        let http = http::Service {
            listeners: self.api_listeners,
            agents: self.agents,
            access: self.access.clone(),
            testbed: self.testbed,
            notices,
            openflow_tls: self.openflow_tls.clone(),
            cluster: self.cluster.as_ref().map(|joined| ClusterApi {
                standing: standing.clone(),
                trust: self.api_trust,
                tls: joined.tls(),
            }),
        };
        let questions = http.start(tasks)?;
        let (accepted, accept_queue) = channels::accept_queue();
        let cluster = self.cluster.map(|joined| {
            engine.borrow_mut().switches_mut().stand_by(joined.stamp());
            if let Some((tls, own)) = joined.tls().zip(joined.ip()) {
                let follow = cluster::follow_certificates(engine.clone(), tls, own);
                tasks.spawn("cluster-certificates", follow);
            }
            let (handle, member) = cluster::member(
                engine.clone(),
                joined,
                standing,
                (accepted.clone(), self.openflow_tls.clone()),
            );
            tasks.spawn("cluster", member);
            handle
        });
        tasks.spawn("answers", http::answer(engine.clone(), cluster, questions));
        if let Some(tls) = self.openflow_tls.clone() {
            tasks.spawn("certificates", openflow_tls::follow(engine.clone(), tls, self.openflow.ip()));
        }
        let surroundings =
            ovsdb::Surroundings { openflow_port: self.openflow.port(), tls: self.openflow_tls.clone() };
        let listener = tokio::net::TcpListener::from_std(self.switches)?;
        accept_switches(&engine, listener, self.openflow_tls.clone(), (accepting, accepted))?;
        tasks.spawn("channels", Channels::new(engine.clone(), accept_queue, self.openflow_tls)?.serve());
        ovsdb::start(tasks, engine.clone(), self.ovsdb, surroundings)?;
        tasks.spawn("policy", policy::follow(engine.clone(), self.policy, self.reload));
        tasks.spawn("http-certificate", access::follow(self.access.tls));
        // After those that handle SIGHUP, which ends a process without a handler: the first tick says that it is ready.
        tasks.spawn("tick", tick(engine.clone(), on_tick));
        Ok(engine)
    }

    /// As [`serve`](Self::serve), until SIGTERM or SIGINT; calls `on_tick` several times a second while switches are served.
    pub fn serve_until_signalled(self, on_tick: Box<dyn FnMut()>) -> Result<(), ControllerError> {
        self.serve_with(signalled(), on_tick)
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Completes at SIGTERM or SIGINT.
async fn signalled() {
    let signals = signal(SignalKind::terminate()).and_then(|t| Ok((t, signal(SignalKind::interrupt())?)));
    match signals {
        Ok((mut terminate, mut interrupt)) => tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        },
        Err(error) => error!(%error, "cannot install handlers for SIGTERM and SIGINT"),
    }
}

/// Passes on what switches open, after their handshakes if they speak TLS.
fn accept_switches(
    engine: &Shared,
    listener: tokio::net::TcpListener,
    tls: Option<OpenFlowTls>,
    (accepting, accepted): (&mut Tasks, mpsc::Sender<channels::Incoming>),
) -> io::Result<()> {
    match tls {
        Some(tls) => {
            let handshakes = channels::start_handshakes(accepting, tls, accepted)?;
            accepting.spawn("accept", channels::accept(engine.clone(), listener, handshakes));
        }
        None => accepting.spawn("accept", channels::accept(engine.clone(), listener, accepted)),
    }
    Ok(())
}

async fn tick(engine: Shared, mut on_tick: OnTick) {
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
        on_tick();
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
