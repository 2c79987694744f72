//! Texts of notices, with names of switches and ports where they have some.

use std::fmt;

use braid_types::BitsPerSec;

use super::Notice;
use crate::names::{NetworkNames, NoNames, Text};
use crate::threat::AlarmSource;

impl Notice {
    /// The notice as text. Switches have their names and their datapath ids; ports and paths have only their names.
    pub fn text<'a>(&'a self, names: &'a dyn NetworkNames) -> Text<'a, Self> {
        Text { of: self, names }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text(&NoNames).fmt(f)
    }
}

impl fmt::Display for Text<'_, Notice> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Notice::SwitchJoined { dpid, ports } => {
                write!(f, "switch {} joined with {ports} ports", self.switch(*dpid))
            }
            Notice::InstalledStateRead { dpid, rules, unknown_rules } => {
                write!(
                    f,
                    "switch {} has {rules} rules of an earlier controller, and {unknown_rules} unknown ones",
                    self.switch(*dpid)
                )
            }
            Notice::Reconciled { labels, streams } => {
                write!(f, "going on from an earlier controller with {streams} streams and {labels} labels")
            }
            Notice::SwitchLeft { dpid } => write!(f, "switch {} left", self.switch(*dpid)),
            Notice::LinkUp { src, dst } => write!(f, "link {} > {} is up", self.port(*src), self.port(*dst)),
            Notice::LinkDown { src, dst, why } => {
                write!(f, "link {} > {} is down: {why}", self.port(*src), self.port(*dst))
            }
            Notice::LinkDamped { src, dst, losses, hold } => {
                write!(
                    f,
                    "link {} > {} went down {losses} times and is not used for {} s",
                    self.port(*src),
                    self.port(*dst),
                    hold.as_secs()
                )
            }
            Notice::LinkRecovered { src, dst, evidence } => {
                write!(
                    f,
                    "link {} > {} is clean and is used again: it lost {evidence}",
                    self.port(*src),
                    self.port(*dst)
                )
            }
            Notice::Alarm { source: AlarmSource::Port(at), threat, count } => {
                write!(f, "alarm at {}, {count} times: {}", self.port(*at), threat.text(self.names))
            }
            Notice::Alarm { source: AlarmSource::Peer(peer), threat, count } => {
                write!(f, "alarm about {peer}, {count} times: {}", threat.text(self.names))
            }
            Notice::PortHeld { at, hold } => {
                let (at, hold) = (self.port(*at), hold.as_secs());
                write!(f, "{at} led to a switch and is no port for hosts until it has been down for {hold} s")
            }
            Notice::HostSeen { mac, at } => write!(f, "host {mac} is at {}", self.port(*at)),
            Notice::HostMoved { mac, from, to } => {
                write!(f, "host {mac} moved from {} to {}", self.port(*from), self.port(*to))
            }
            Notice::AddressSeen { mac, ip } => write!(f, "host {mac} has the address {ip}"),
            Notice::TransferOpened { id, kind } => write!(f, "transfer {id} opened ({kind})"),
            Notice::StreamPlaced { id, transfer, tuple, path, shared } => {
                write!(f, "stream {id} of transfer {transfer}, {tuple}, takes ")?;
                self.write_path(f, path.switches())?;
                if *shared > 0 { write!(f, " and shares {shared} links with its siblings") } else { Ok(()) }
            }
            Notice::StreamSprayed { id, transfer, tuple, paths } => {
                write!(
                    f,
                    "stream {id} of transfer {transfer}, {tuple}, is sprayed over {} paths:",
                    paths.len()
                )?;
                for (path, rate) in paths {
                    write!(f, " {:.1} Mbit/s by ", mbits(*rate))?;
                    self.write_path(f, path.iter().copied())?;
                    f.write_str(";")?;
                }
                Ok(())
            }
            Notice::CapacityMeasured { link, capacity: Some(capacity) } => {
                write!(f, "the link at {} carries {:.1} Mbit/s", self.port(*link), mbits(*capacity))
            }
            Notice::CapacityMeasured { link, capacity: None } => {
                write!(
                    f,
                    "what the link at {} carries cannot be measured: frames come in all at once, or not at all",
                    self.port(*link)
                )
            }
            Notice::StreamRebalanced { id, link, load, capacity, rate, room } => write!(
                f,
                "stream {id} leaves the link at {}, which is full with {:.1} of {:.1} Mbit/s: it carries {:.1}, and another path has room for {:.1}",
                self.port(*link),
                mbits(*load),
                mbits(*capacity),
                mbits(*rate),
                mbits(*room)
            ),
            Notice::StreamsLearned { path, streams_per_gigabit } => {
                write!(f, "streams are best on the path ")?;
                self.write_path(f, path.iter().copied())?;
                write!(f, " with a = {:.6}", *streams_per_gigabit as f64 / 1e6)
            }
            Notice::StreamEnded { id, bytes } => write!(f, "stream {id} ended after {bytes} bytes"),
            Notice::TransferEnded { id } => write!(f, "transfer {id} ended"),
            Notice::Refused { dpid, reason } => {
                write!(f, "switch {} refused an order: {reason}", self.switch(*dpid))
            }
            Notice::Full { what } => write!(f, "too many {what}: one more is not taken"),
            Notice::InstallFailed { path } => {
                write!(f, "not installed in full and taken back: the path ")?;
                self.write_path(f, path.iter().copied())
            }
        }
    }
}

fn mbits(rate: BitsPerSec) -> f64 {
    rate.as_f64() / 1e6
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo, SwitchPort};

    use super::*;
    use crate::notice::LinkLoss;
    use crate::threat::Threat;

    /// Switch 1 and its first port have names.
    struct One;

    impl NetworkNames for One {
        fn switch(&self, dpid: DatapathId) -> Option<&str> {
            (dpid == DatapathId(1)).then_some("ams1")
        }

        fn port(&self, at: SwitchPort) -> Option<&str> {
            (at == port(1, 1)).then_some("eth1")
        }
    }

    const fn port(dpid: u64, port: u32) -> SwitchPort {
        SwitchPort::new(DatapathId(dpid), PortNo(port))
    }

    #[test]
    fn texts_have_names_where_there_are_some() {
        let down = Notice::LinkDown { src: port(1, 1), dst: port(2, 3), why: LinkLoss::Port };
        assert_eq!(
            down.text(&One).to_string(),
            "link ams1:eth1 > 0000000000000002:3 is down: its port is down"
        );
        assert_eq!(
            down.to_string(),
            "link 0000000000000001:1 > 0000000000000002:3 is down: its port is down"
        );
        let left = Notice::SwitchLeft { dpid: DatapathId(1) };
        assert_eq!(left.text(&One).to_string(), "switch ams1 (0000000000000001) left");
        let path = Notice::InstallFailed { path: vec![DatapathId(1), DatapathId(2)] };
        assert!(path.text(&One).to_string().ends_with("the path ams1, 0000000000000002"));
        let (source, threat) = (AlarmSource::Port(port(1, 2)), Threat::ReplayedProbe { of: port(1, 1) });
        let alarm = Notice::Alarm { source, threat, count: 2 };
        let expected = "alarm at ams1:2, 2 times: a discovery frame of ams1:eth1 was sent again";
        assert_eq!(alarm.text(&One).to_string(), expected);
    }
}
