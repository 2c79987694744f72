//! Two ends of a session in virtual time.

use super::*;

const STEP: Duration = Duration::from_millis(1);

/// Two ends in virtual time, and the directions that are dark.
struct Link {
    now: Time,
    ends: [Session; 2],
    is_dark: [bool; 2],
    /// By end, when it sent.
    sent: [Vec<Time>; 2],
}

impl Link {
    /// The ends send no more often than at these intervals, in milliseconds.
    fn between(a: u64, b: u64) -> Self {
        let end = |(discriminator, millis)| {
            let min_interval = Duration::from_millis(millis);
            Session::new(Time::ZERO, Settings { discriminator, min_interval, ..Settings::default() })
        };
        let ends = [(7, a), (8, b)].map(end);
        Self { now: Time::ZERO, ends, is_dark: [false; 2], sent: Default::default() }
    }

    fn up(a: u64, b: u64) -> Self {
        let mut link = Self::between(a, b);
        link.run(Duration::from_secs(3));
        assert_eq!(link.states(), [State::Up; 2]);
        link
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.now + STEP;
            for from in 0..2 {
                self.ends[from].handle_timeout(self.now);
                while let Some(packet) = self.ends[from].poll_packet(self.now) {
                    self.sent[from].push(self.now);
                    if !self.is_dark[from] {
                        let packet = ControlPacket::read(&packet.bytes()).expect("well formed");
                        self.ends[1 - from].handle_packet(self.now, &packet);
                    }
                }
            }
        }
    }

    fn states(&self) -> [State; 2] {
        self.ends.each_ref().map(Session::state)
    }

    /// How long both ends take to be down, in milliseconds.
    fn until_down(&mut self) -> u128 {
        let began = self.now;
        while self.states() != [State::Down; 2] {
            self.run(STEP);
            assert!(self.now.since(began) < Duration::from_secs(9), "{:?}", self.states());
        }
        self.now.since(began).as_millis()
    }
}

#[test]
fn both_ends_come_up_and_stay_up() {
    let mut link = Link::up(25, 10);
    link.run(Duration::from_secs(60));
    assert_eq!(link.states(), [State::Up; 2]);
}

#[test]
fn the_slower_end_decides_how_often_both_send() {
    let mut link = Link::up(100, 10);
    link.sent = Default::default();
    link.run(Duration::from_secs(10));
    for sent in &link.sent {
        let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1].since(pair[0]).as_millis()).collect();
        assert!(gaps.iter().all(|gap| (75..=101).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap < 85) && gaps.iter().any(|gap| *gap > 90), "no jitter: {gaps:?}");
    }
}

#[test]
fn a_dark_link_is_noticed_at_both_ends_after_three_intervals() {
    for is_dark in [[true, true], [true, false], [false, true]] {
        let mut link = Link::up(25, 10);
        link.is_dark = is_dark;
        let took = link.until_down();
        assert!((50..=80).contains(&took), "{is_dark:?}: {took} ms");
        link.run(Duration::from_secs(5));
        assert_ne!(link.states(), [State::Up; 2]);
        link.is_dark = [false; 2];
        link.run(Duration::from_secs(3));
        assert_eq!(link.states(), [State::Up; 2], "and comes back");
    }
}

#[test]
fn a_neighbour_that_starts_anew_is_noticed_at_once() {
    let mut link = Link::up(25, 25);
    let settings = Settings { discriminator: 99, min_interval: Duration::from_millis(25), multiplier: 3 };
    link.ends[1] = Session::new(link.now, settings);
    link.run(STEP);
    assert_ne!(link.ends[0].state(), State::Up, "it says that it hears nobody");
    link.run(Duration::from_secs(3));
    assert_eq!(link.states(), [State::Up; 2]);
}

#[test]
fn a_neighbour_that_is_turned_off_is_not_up() {
    let mut link = Link::up(25, 25);
    let mut packet = loop {
        link.run(STEP);
        if let Some(packet) = link.ends[1].poll_packet(link.now + Duration::from_millis(25)) {
            break packet;
        }
    };
    packet.state = State::AdminDown;
    link.ends[0].handle_packet(link.now, &packet);
    assert_eq!((link.ends[0].state(), link.ends[0].diagnostic), (State::Down, Diagnostic::NeighborDown));
}

#[test]
fn packets_of_other_sessions_change_nothing() {
    let mut link = Link::up(25, 25);
    let stranger = ControlPacket {
        diagnostic: Diagnostic::None,
        state: State::Down,
        is_poll: true,
        is_final: false,
        multiplier: 1,
        sender: 5,
        receiver: 6,
        min_sent: Duration::ZERO,
        min_received: Duration::ZERO,
    };
    link.ends[0].handle_packet(link.now, &stranger);
    link.run(Duration::from_secs(1));
    assert_eq!(link.states(), [State::Up; 2]);
}

#[test]
fn a_poll_is_answered_at_once_and_only_once() {
    let mut link = Link::up(25, 25);
    let poll = ControlPacket {
        diagnostic: Diagnostic::None,
        state: State::Up,
        is_poll: true,
        is_final: false,
        multiplier: 3,
        sender: 8,
        receiver: 7,
        min_sent: Duration::from_millis(400),
        min_received: Duration::from_millis(400),
    };
    link.ends[0].poll_packet(link.now + Duration::from_millis(25));
    link.ends[0].handle_packet(link.now, &poll);
    let answer = link.ends[0].poll_packet(link.now).expect("an answer");
    assert!(answer.is_final && !answer.is_poll);
    assert_eq!(link.ends[0].poll_packet(link.now), None);
}

#[test]
fn a_neighbour_that_wants_no_packets_gets_none() {
    let mut link = Link::up(25, 25);
    let quiet = ControlPacket {
        diagnostic: Diagnostic::None,
        state: State::Up,
        is_poll: false,
        is_final: false,
        multiplier: 3,
        sender: 8,
        receiver: 7,
        min_sent: Duration::from_millis(25),
        min_received: Duration::ZERO,
    };
    link.ends[0].handle_packet(link.now, &quiet);
    assert_eq!(link.ends[0].poll_packet(link.now + Duration::from_secs(1)), None);
    assert!(link.ends[0].poll_timeout().is_some(), "it is still awaited");
}
