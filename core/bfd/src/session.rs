//! One end of a session. RFC 5880 §6.8.

use std::time::Duration;

use braid_types::{Time, mix, reduce};

use crate::packet::{ControlPacket, Diagnostic, State};

/// The interval while a session is not up. RFC 5880 §6.8.3: at least a second.
const SLOW: Duration = Duration::from_secs(1);

/// What an end wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// This end's number of the session; not 0.
    pub discriminator: u32,
    /// The shortest interval of packets in either direction. The other end's settings may ask for a longer one.
    pub min_interval: Duration,
    /// So many missing packets mean that this end is not heard.
    pub multiplier: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Self { discriminator: 1, min_interval: Duration::from_millis(10), multiplier: 3 }
    }
}

/// One end of a session.
#[derive(Clone, Debug)]
pub struct Session {
    settings: Settings,
    state: State,
    diagnostic: Diagnostic,
    neighbour: Neighbour,
    /// When the neighbour counts as not heard.
    expires: Option<Time>,
    send_at: Time,
    /// Whether the neighbour has yet to confirm this end's interval.
    is_polling: bool,
    owes_final: bool,
    sent: u32,
}

/// What the other end has said last.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    discriminator: u32,
    min_received: Duration,
}

impl Neighbour {
    const UNKNOWN: Self = Self { discriminator: 0, min_received: Duration::from_micros(1) };
}

impl Session {
    /// A session that sends at once.
    pub const fn new(now: Time, settings: Settings) -> Self {
        Self {
            settings,
            state: State::Down,
            diagnostic: Diagnostic::None,
            neighbour: Neighbour::UNKNOWN,
            expires: None,
            send_at: now,
            is_polling: false,
            owes_final: false,
            sent: 0,
        }
    }

    /// The state of this end.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Handles a packet of the neighbour. One that is for another session changes nothing.
    pub fn handle_packet(&mut self, now: Time, packet: &ControlPacket) {
        if packet.receiver != 0 && packet.receiver != self.settings.discriminator {
            return;
        }
        self.neighbour = Neighbour { discriminator: packet.sender, min_received: packet.min_received };
        self.is_polling &= !packet.is_final;
        self.owes_final |= packet.is_poll;
        let interval = packet.min_sent.max(self.settings.min_interval);
        self.expires = Some(now + interval.saturating_mul(packet.multiplier.into()));
        self.follow(now, packet.state);
        self.send_at = self.send_at.min(now + self.interval());
    }

    /// The transitions of RFC 5880 §6.8.6.
    fn follow(&mut self, now: Time, neighbour: State) {
        match (self.state, neighbour) {
            (State::Down, State::Down) => self.become_state(now, State::Init),
            (State::Down, State::Init) | (State::Init, State::Init | State::Up) => {
                self.become_state(now, State::Up);
            }
            (State::Up, State::Down) | (State::Up | State::Init, State::AdminDown) => {
                self.diagnostic = Diagnostic::NeighborDown;
                self.become_state(now, State::Down);
            }
            _ => {}
        }
    }

    fn become_state(&mut self, now: Time, state: State) {
        // Another interval is in force once the neighbour has confirmed it. RFC 5880 §6.8.3.
        self.is_polling |= state == State::Up;
        (self.state, self.send_at) = (state, now);
    }

    /// Notices that the neighbour has not been heard for too long.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.expires.take_if(|expires| *expires <= now).is_none() {
            return;
        }
        self.neighbour = Neighbour::UNKNOWN;
        if self.state != State::Down {
            self.diagnostic = Diagnostic::Expired;
            self.become_state(now, State::Down);
        }
    }

    /// When [`Self::handle_timeout`] and [`Self::poll_packet`] are due; `None` if nothing is awaited or wanted.
    pub fn poll_timeout(&self) -> Option<Time> {
        let send_at = self.is_wanted().then_some(self.send_at);
        self.expires.into_iter().chain(send_at).min()
    }

    /// A packet that is due.
    pub fn poll_packet(&mut self, now: Time) -> Option<ControlPacket> {
        let is_final = std::mem::take(&mut self.owes_final);
        let is_due = self.is_wanted() && self.send_at <= now;
        if !is_final && !is_due {
            return None;
        }
        self.sent = self.sent.wrapping_add(1);
        self.send_at = now + self.jittered();
        Some(ControlPacket {
            diagnostic: self.diagnostic,
            state: self.state,
            is_poll: self.is_polling && !is_final,
            is_final,
            multiplier: self.settings.multiplier,
            sender: self.settings.discriminator,
            receiver: self.neighbour.discriminator,
            min_sent: self.min_sent(),
            min_received: self.settings.min_interval,
        })
    }

    /// Whether the neighbour wants packets.
    const fn is_wanted(&self) -> bool {
        !self.neighbour.min_received.is_zero()
    }

    fn min_sent(&self) -> Duration {
        if self.state == State::Up {
            self.settings.min_interval
        } else {
            self.settings.min_interval.max(SLOW)
        }
    }

    fn interval(&self) -> Duration {
        self.min_sent().max(self.neighbour.min_received)
    }

    /// Three quarters of the interval to all of it, or nine tenths at most where a single packet counts. RFC 5880 §6.8.7.
    fn jittered(&self) -> Duration {
        let span = if self.settings.multiplier == 1 { 16 } else { 26 };
        let random = mix(u64::from(self.settings.discriminator) << 32 | u64::from(self.sent));
        let percent = 75_u32.saturating_add(reduce(random, span) as u32);
        self.interval().saturating_mul(percent).checked_div(100).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
