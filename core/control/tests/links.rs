//! Memory of links: what the brain keeps of one, its ports and its measurements included, is bounded.

mod counting;

use std::borrow::Cow;
use std::time::Duration;

use braid_control::{
    Brain, Command, Commands, Event, PortCounters, PortStatus, Settings, SwitchPorts, Target,
};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, Time};
use counting::in_use;

/// Links between the two switches.
const LINKS: u32 = 512;

/// Two switches joined by many links.
struct Network {
    brain: Brain,
    now: Time,
}

impl Network {
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.now + Duration::from_millis(100);
            self.tell(&Event::Tick);
        }
    }

    /// Handles an event. Discovery frames cross the links, and switches answer.
    fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        for command in &commands {
            let dpid = command.dpid();
            match command {
                Command::Send { target: Target::Port(port), frame, .. } => {
                    let data = Cow::Borrowed(commands.frame(frame));
                    let other = DatapathId(3 - dpid.0);
                    self.tell(&Event::PacketIn { dpid: other, in_port: *port, table: 0, data });
                }
                Command::Barrier { token, .. } => self.tell(&Event::Barrier { dpid, token: *token }),
                Command::ReadPorts { .. } => {
                    let ports = (1..=LINKS).map(|port| self.counters(port)).collect();
                    self.tell(&Event::PortCounters { dpid, ports });
                }
                _ => {}
            }
        }
    }

    /// Both ends of a link count alike: 100 packets a second.
    fn counters(&self, port: u32) -> PortCounters {
        let count = Some(self.now.as_nanos() / 10_000_000);
        PortCounters {
            port: PortNo(port),
            packets_in: count,
            packets_out: count,
            bytes_out: count,
            ..PortCounters::default()
        }
    }
}

fn switch(dpid: u64) -> SwitchPorts {
    let port = |number| PortStatus {
        port: PortNo(number),
        mac: MacAddr::from_u64(dpid << 16 | u64::from(number)),
        name: format!("s{dpid}-eth{number}"),
        up: true,
        speed: BitsPerSec(1_000_000_000),
    };
    SwitchPorts {
        dpid: DatapathId(dpid),
        tables: 254,
        description: String::new(),
        ports: (1..=LINKS).map(port).collect(),
        failover_groups: 0,
        select_groups: 0,
        installed: None,
    }
}

/// Bytes for each direction of the links after some time, with counters and discovery frames at these intervals.
fn bytes_each(poll_interval: Duration, probe_interval: Duration, time: Duration) -> isize {
    let mut settings = Settings { probe_interval, ..Settings::default() };
    settings.link_timeout = probe_interval * 2;
    settings.measurement.poll_interval = poll_interval;
    let mut network = Network { brain: Brain::new(settings), now: Time::from_millis(1) };
    let before = in_use();
    (1..=2).for_each(|dpid| network.tell(&Event::SwitchUp(switch(dpid))));
    network.pass(time);
    let directed = 2 * LINKS;
    assert_eq!(network.brain.sizes().links, u64::from(directed));
    let each = (in_use() - before) / directed as isize;
    println!("{each} bytes for a direction of a link, read every {} s", poll_interval.as_secs());
    each
}

#[test]
fn a_link_takes_little_memory_and_less_in_a_large_network_that_is_read_less_often() {
    let seconds = Duration::from_secs;
    let small = bytes_each(seconds(1), seconds(1), seconds(65));
    assert!(small <= 8_000, "{small} bytes");
    let large = bytes_each(seconds(26), seconds(80), seconds(320));
    assert!(large <= 2_500, "{large} bytes");
}
