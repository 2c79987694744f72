//! Whether the neighbour at a port is heard and hears this switch, where a controller has said that a switch is there.
//!
//! A session begins with the neighbour's first packet, so that nobody is awaited who does not speak BFD.

use std::time::Duration;

use braid_bfd::{ControlPacket, Session, Settings, State};
use braid_types::Time;

/// After so long a silence somebody else may be there, who does not speak BFD.
const FORGET_AFTER: Duration = Duration::from_secs(60);

/// BFD at a port.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    neighbour: Option<Neighbour>,
}

#[derive(Clone, Debug)]
struct Neighbour {
    session: Session,
    was_up: bool,
    heard_at: Time,
}

impl Watch {
    /// Handles a packet of the neighbour; `discriminator` is for a session that it begins.
    pub(super) fn handle_packet(&mut self, now: Time, packet: &ControlPacket, discriminator: u32) {
        let neighbour = self.neighbour.get_or_insert_with(|| {
            let settings = Settings { discriminator, ..Settings::default() };
            Neighbour { session: Session::new(now, settings), was_up: false, heard_at: now }
        });
        neighbour.heard_at = now;
        neighbour.session.handle_packet(now, packet);
        neighbour.was_up |= neighbour.session.state() == State::Up;
    }

    /// Notices silence.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.neighbour.take_if(|it| now.since(it.heard_at) >= FORGET_AFTER);
        self.neighbour.iter_mut().for_each(|it| it.session.handle_timeout(now));
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.neighbour.as_ref()?.session.poll_timeout()
    }

    pub(super) fn poll_packet(&mut self, now: Time) -> Option<ControlPacket> {
        self.neighbour.as_mut()?.session.poll_packet(now)
    }

    /// Forgets the neighbour, since another may be there from now on.
    pub(super) fn forget(&mut self) {
        self.neighbour = None;
    }

    /// Whether packets to the neighbour, or from it, are lost. Before a session is up for the first time, nothing is known.
    pub(super) fn is_dark(&self) -> bool {
        self.neighbour.as_ref().is_some_and(|it| it.was_up && it.session.state() != State::Up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A neighbour that is up, and the port's watch.
    fn up() -> (Session, Watch, Time) {
        let mut other = Session::new(Time::ZERO, Settings { discriminator: 9, ..Settings::default() });
        let (mut watch, mut now) = (Watch::default(), Time::ZERO);
        while now < Time::from_millis(3_000) {
            now = now + Duration::from_millis(1);
            other.handle_timeout(now);
            other.poll_packet(now).into_iter().for_each(|packet| watch.handle_packet(now, &packet, 1));
            watch.handle_timeout(now);
            watch.poll_packet(now).into_iter().for_each(|packet| other.handle_packet(now, &packet));
        }
        assert_eq!(other.state(), State::Up);
        (other, watch, now)
    }

    #[test]
    fn nobody_is_awaited_who_has_not_spoken() {
        let mut watch = Watch::default();
        watch.handle_timeout(Time::from_millis(100_000));
        assert_eq!((watch.is_dark(), watch.poll_timeout()), (false, None));
        assert_eq!(watch.poll_packet(Time::from_millis(100_000)), None);
    }

    #[test]
    fn silence_makes_a_port_dark_until_the_neighbour_is_forgotten() {
        let (_, mut watch, now) = up();
        assert!(!watch.is_dark());
        watch.handle_timeout(now + Duration::from_millis(100));
        assert!(watch.is_dark());
        watch.handle_timeout(now + Duration::from_secs(59));
        assert!(watch.is_dark());
        watch.handle_timeout(now + Duration::from_secs(61));
        assert!(!watch.is_dark(), "somebody else may be there");
        assert_eq!(watch.poll_timeout(), None);
    }

    #[test]
    fn a_neighbour_that_hears_nothing_makes_a_port_dark() {
        let (mut other, mut watch, mut now) = up();
        while other.state() == State::Up {
            now = now + Duration::from_millis(1);
            other.handle_timeout(now);
        }
        other.poll_packet(now).into_iter().for_each(|packet| watch.handle_packet(now, &packet, 1));
        assert!(watch.is_dark());
    }
}
