//! The user-space path manager: kernel events in, advice asked for, subflows opened and closed.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use braid_api::{Advice, AdviceRequest};
use braid_subflows::Change;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use super::{Adviser, Connections, Order, Stuck, advise};
use crate::netlink::NetlinkError;
use crate::pm::{Event, Events, PathManager, Token};
use crate::trials::{self, Observer, Suspension};

/// How often subflows are looked at that may be stuck.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How soon advice is asked for again where the controller gave none.
const ASK_AGAIN_SECONDS: u32 = 30;

/// How long a controller that gave no advice is not waited for again.
const SILENCE: Duration = Duration::from_secs(5);

/// What the manager waits for.
#[derive(Debug)]
pub enum Input {
    /// Something happened to a connection.
    Event(Event),
    /// There is advice for a connection.
    Advice(Token, Advice),
    /// It is time to end.
    Stop,
    /// Events cannot be had any more.
    Broken(NetlinkError),
}

/// Keeps the connections of a network namespace as they are advised to be.
#[derive(Debug)]
pub struct Manager {
    connections: Connections,
    kernel: PathManager,
    stuck: Stuck,
    looked_at: Instant,
    suspension: Option<Suspension>,
    questions: Sender<(Token, AdviceRequest)>,
    inputs: Receiver<Input>,
}

impl Manager {
    /// Listens from now on; each connection gets up to `most` subflows beside its first. Where `adviser` is silent, or
    /// there is none, a connection gets `subflows` in all. With an `observer`, subflows that drag are suspended.
    ///
    /// Returns what it can be stopped by, too.
    ///
    /// # Errors
    ///
    /// The kernel has no MPTCP, or this process may not manage it.
    pub fn start(
        most: usize,
        subflows: usize,
        adviser: Option<Box<dyn Adviser>>,
        observer: Option<Observer>,
    ) -> Result<(Self, Sender<Input>), NetlinkError> {
        let kernel = PathManager::open()?;
        let events = kernel.events()?;
        let (input, inputs) = channel();
        let (questions, asked) = channel();
        let to_manager = input.clone();
        thread::spawn(move || listen(events, &to_manager));
        let to_manager = input.clone();
        thread::spawn(move || answer(&asked, subflows, adviser.as_deref(), &to_manager));
        let connections = Connections::new(most);
        let stuck = Stuck::open()?;
        let suspension = observer.map(Suspension::open).transpose()?;
        let looked_at = Instant::now();
        Ok((Self { connections, kernel, stuck, looked_at, suspension, questions, inputs }, input))
    }

    /// Manages until it is stopped, and calls `on_turn` at least every second. Then it resumes what it has suspended.
    ///
    /// # Errors
    ///
    /// Events cannot be had any more.
    pub fn run(&mut self, on_turn: &mut dyn FnMut()) -> Result<(), NetlinkError> {
        let ended = self.run_until_stopped(on_turn);
        if let Some(suspension) = &mut self.suspension {
            suspension.end(|order| set_backup(&mut self.kernel, order));
        }
        ended
    }

    fn run_until_stopped(&mut self, on_turn: &mut dyn FnMut()) -> Result<(), NetlinkError> {
        loop {
            on_turn();
            match self.inputs.recv_timeout(self.time_until_due()) {
                Ok(Input::Event(event)) => self.connections.handle_event(Instant::now(), &event),
                Ok(Input::Advice(token, advice)) => self.follow(token, &advice),
                Ok(Input::Broken(error)) => return Err(error),
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_for_stuck();
            self.suspend();
            self.ask();
        }
    }

    fn suspend(&mut self) {
        let Some(suspension) = &mut self.suspension else { return };
        suspension.act(|order| {
            set_backup(&mut self.kernel, order)?;
            let (ends, is_suspended) = match order.change {
                Change::Suspend(ends) => (ends, true),
                Change::Resume(ends) => (ends, false),
            };
            self.connections.handle_suspension(order.token, ends, is_suspended);
            Ok::<_, NetlinkError>(())
        });
    }

    fn time_until_due(&self) -> Duration {
        let due =
            self.connections.poll_timeout().into_iter().chain(self.suspension.as_ref().map(Suspension::due));
        let due = due.map(|at| at.saturating_duration_since(Instant::now()));
        due.fold(LOOK_EVERY, Duration::min)
    }

    fn ask(&mut self) {
        if self.connections.poll_timeout().is_none_or(|at| at > Instant::now()) {
            return;
        }
        let own = own_addresses();
        while let Some(question) = self.connections.poll_question(Instant::now(), &own) {
            // The thread that answers lives as long as the other end of `inputs`.
            let _ = self.questions.send(question);
        }
    }

    fn follow(&mut self, token: Token, advice: &Advice) {
        let (orders, refused) =
            self.connections.handle_advice(Instant::now(), token, advice, &own_addresses());
        if let Some((ends, why)) = refused.first() {
            tracing::warn!(%token, count = refused.len(), first = %ends, %why, "advice is not followed");
        }
        orders.into_iter().for_each(|order| self.carry_out(order));
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Open { token, ends, id } => match self.kernel.open_subflow(token, ends, id) {
                Ok(()) => tracing::info!(%token, %ends, "opening a subflow"),
                Err(error) => {
                    tracing::warn!(%token, %ends, %error, "cannot open a subflow");
                    self.connections.handle_failure(Instant::now(), token, ends);
                }
            },
            Order::Close { token, ends } => match self.kernel.close_subflow(token, ends) {
                Ok(()) => tracing::info!(%token, %ends, "closed a subflow"),
                // It has gone by itself meanwhile.
                Err(error) => tracing::debug!(%token, %ends, %error, "cannot close a subflow"),
            },
        }
    }

    /// A subflow that gets nothing through is closed, and advice asked for in its place.
    fn look_for_stuck(&mut self) {
        if self.looked_at.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked_at = Instant::now();
        if self.connections.subflows().next().is_none() {
            return;
        }
        let Ok(stuck) = self.stuck.find() else { return };
        let ours: Vec<_> = self.connections.subflows().filter(|(_, ends)| stuck.contains(ends)).collect();
        for (token, ends) in ours {
            tracing::warn!(%token, %ends, "nothing gets through a subflow any more");
            self.connections.handle_failure(Instant::now(), token, ends);
            self.carry_out(Order::Close { token, ends });
        }
    }
}

fn set_backup(kernel: &mut PathManager, order: trials::Order) -> Result<(), NetlinkError> {
    match order.change {
        Change::Suspend(ends) => kernel.set_backup(order.token, ends, true),
        Change::Resume(ends) => kernel.set_backup(order.token, ends, false),
    }
}

fn listen(mut events: Events, to_manager: &Sender<Input>) {
    loop {
        let (input, last) = match events.wait() {
            Ok(event) => (Input::Event(event), false),
            Err(error) => (Input::Broken(error), true),
        };
        if to_manager.send(input).is_err() || last {
            return;
        }
    }
}

fn answer(
    questions: &Receiver<(Token, AdviceRequest)>,
    subflows: usize,
    adviser: Option<&dyn Adviser>,
    to_manager: &Sender<Input>,
) {
    let mut silent_until = Instant::now();
    for (token, request) in questions {
        let own = advise(&request, subflows);
        let again = Advice { ask_again_after: Some(ASK_AGAIN_SECONDS), ..own.clone() };
        let advice = match adviser {
            None => own,
            Some(_) if Instant::now() < silent_until => again,
            Some(adviser) => adviser.advise(&request).unwrap_or_else(|error| {
                tracing::warn!(%token, %error, "going on without the controller");
                silent_until = Instant::now() + SILENCE;
                again
            }),
        };
        if to_manager.send(Input::Advice(token, advice)).is_err() {
            return;
        }
    }
}

/// Addresses of interfaces that are up, but those that mean something on this host or link alone.
fn own_addresses() -> Vec<IpAddr> {
    let interfaces =
        getifaddrs().into_iter().flatten().filter(|it| it.flags.contains(InterfaceFlags::IFF_UP));
    let addresses = interfaces.filter_map(|it| {
        let address = it.address?;
        let v4 = address.as_sockaddr_in().map(|it| IpAddr::from(it.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|it| it.ip().into()))
    });
    addresses.filter(|it| !it.is_loopback() && !is_link_local(it)).collect()
}

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}
