//! Packet captures of hosts during transfers by tcpdump, and the MPTCP handshakes in them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use braid_packet::mptcp::{self, Summary};
use braid_packet::{Frame, TcpFlags};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pcap_parser::PcapCapture;

use super::report::{CaptureRow, HandshakeRow};
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{Capture, Packets};
use crate::system::Namespace;

const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Captured bytes of a packet: Ethernet, IP and TCP headers with all options, and a few bytes of data.
const SNAP_LENGTH: &str = "160";
/// Packets of one interface and transfer, so that no file becomes large.
const MAX_PACKETS: &str = "20000";
/// Handshake packets in a report; the capture file has all of them.
const MAX_HANDSHAKES: usize = 64;

// Packets that set up a subflow have SYN, or are ACKs without data whose header is longer than the 44 bytes of a data
// ACK: MP_CAPABLE, MP_JOIN or ADD_ADDR. `tcp[…]` matches IPv4 only.
const HANDSHAKE_FILTER: &str = "(tcp[13] & 2 != 0) or \
    (tcp[12] & 0xf0 >= 0xc0 and ip[2:2] - ((ip[0] & 0xf) << 2) - ((tcp[12] & 0xf0) >> 2) = 0) or \
    (ip6[6] = 6 and (ip6[53] & 2 != 0 or (ip6[52] & 0xf0 >= 0xc0 and ip6[4:2] - ((ip6[52] & 0xf0) >> 2) = 0)))";

/// Running captures, which end when this is dropped.
#[derive(Default)]
pub(super) struct Captures(Vec<Running>);

struct Running {
    host: String,
    interface: String,
    file: PathBuf,
    child: Child,
}

impl Captures {
    /// Starts a capture for each interface; `index` numbers their files.
    pub(super) fn start(
        lab: &Deployment,
        captures: &[Capture],
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let mut running = Self::default();
        for capture in captures {
            let host = &lab.deployed.plan.hosts[capture.host];
            for interface in &host.interfaces {
                let name = format!("capture-{index}-{}-{}", host.name, interface.name);
                let file = lab.deployed.folder.log().join(format!("{name}.pcap"));
                let log = lab.deployed.folder.log().join(format!("{name}.log"));
                let child = spawn(lab, &host.namespace, &interface.name, capture.packets, &file, &log)?;
                let (host, interface) = (host.name.clone(), interface.name.clone());
                running.0.push(Running { host, interface, file, child });
                wait_for(&log, interrupt)?;
            }
        }
        Ok(running)
    }

    /// Ends all captures. Returns their results.
    pub(super) fn finish(mut self, interrupt: &Interrupt) -> Result<Vec<CaptureRow>, LabError> {
        self.0.iter_mut().map(|running| running.finish(interrupt)).collect()
    }
}

fn spawn(
    lab: &Deployment,
    namespace: &str,
    interface: &str,
    packets: Packets,
    file: &Path,
    log: &Path,
) -> Result<Child, LabError> {
    // tcpdump stays root, since its own user cannot write to the lab's folder.
    let tool =
        lab.deployed.tool("tcpdump").args(["-n", "-U", "-Z", "root", "-s", SNAP_LENGTH, "-c", MAX_PACKETS]);
    let tool = tool.arg("-i").arg(interface).arg("-w").arg(file);
    let tool = match packets {
        Packets::Mptcp => tool.arg(HANDSHAKE_FILTER),
        Packets::All => tool,
    };
    let log = File::create(log).map_err(|error| LabError::file(log, error))?;
    tool.within(&Namespace::named(namespace)).spawn(Stdio::null(), Stdio::null(), log.into())
}

fn wait_for(log: &Path, interrupt: &Interrupt) -> Result<(), LabError> {
    let said = || fs::read_to_string(log).unwrap_or_default();
    let listening = interrupt.poll(STOP_TIMEOUT, || Ok(said().contains("listening on").then_some(())))?;
    let failed = || LabError::io("tcpdump", std::io::Error::other(said().trim().to_owned()));
    listening.ok_or_else(failed)
}

impl Running {
    fn finish(&mut self, interrupt: &Interrupt) -> Result<CaptureRow, LabError> {
        self.stop();
        let ended = interrupt.poll(STOP_TIMEOUT, || {
            let status = self.child.try_wait().map_err(|error| LabError::io("waiting for tcpdump", error))?;
            Ok(status.map(drop))
        })?;
        if ended.is_none() {
            return Err(LabError::io("tcpdump", std::io::Error::other("does not end")));
        }
        let pcap = fs::read(&self.file).map_err(|error| LabError::file(&self.file, error))?;
        let (packets, handshakes) = read(&pcap).map_err(|error| LabError::file(&self.file, error))?;
        Ok(CaptureRow {
            host: self.host.clone(),
            interface: self.interface.clone(),
            packets,
            handshakes,
            pcap,
        })
    }

    fn stop(&self) {
        // tcpdump may have ended by itself at the packet limit.
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
        }
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        for running in &mut self.0 {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

/// The number of packets in a capture, and the MPTCP handshakes.
fn read(pcap: &[u8]) -> std::io::Result<(usize, Vec<HandshakeRow>)> {
    let capture = PcapCapture::from_file(pcap).map_err(|error| std::io::Error::other(error.to_string()))?;
    let start = capture.blocks.first().map_or(0.0, |block| seconds(block.ts_sec, block.ts_usec));
    let rows = capture.blocks.iter().filter_map(|block| {
        let at = seconds(block.ts_sec, block.ts_usec) - start;
        handshake(at, block.data)
    });
    Ok((capture.blocks.len(), rows.take(MAX_HANDSHAKES).collect()))
}

fn seconds(whole: u32, micros: u32) -> f64 {
    f64::from(whole) + f64::from(micros) / 1e6
}

fn handshake(at: f64, bytes: &[u8]) -> Option<HandshakeRow> {
    let frame = Frame::parse(bytes).ok()?;
    let (tuple, tcp) = (frame.five_tuple()?, frame.tcp()?);
    let option: Summary = mptcp::handshake(tcp.options).ok()??.summary();
    let flags = [(TcpFlags::SYN, "SYN"), (TcpFlags::ACK, "ACK")];
    let flags = flags.iter().filter(|(flag, _)| tcp.flags.contains(*flag)).map(|(_, name)| *name);
    let flags = flags.collect::<Vec<_>>().join("/");
    let (src, src_port, dst, dst_port) = (tuple.src, tuple.src_port, tuple.dst, tuple.dst_port);
    Some(HandshakeRow { at, src, src_port, dst, dst_port, flags, option })
}

#[cfg(test)]
mod tests {
    use braid_packet::build;
    use braid_types::FiveTuple;

    use super::*;

    /// A capture of these frames, one a millisecond. The format is libpcap's, version 2.4.
    fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut pcap = Vec::new();
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
            pcap.extend(word.to_le_bytes());
        }
        for (index, frame) in frames.iter().enumerate() {
            let len = frame.len() as u32;
            for word in [7, index as u32 * 1_000, len, len] {
                pcap.extend(word.to_le_bytes());
            }
            pcap.extend(frame);
        }
        pcap
    }

    #[test]
    fn handshakes_are_found_among_other_packets() {
        let tuple = FiveTuple {
            src: "10.0.0.1".parse().unwrap(),
            dst: "10.0.0.2".parse().unwrap(),
            src_port: 40_000,
            dst_port: 5_201,
        };
        let join = [30, 12, 0x10, 1, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 9];
        let frames = [
            build::tcp(tuple).flags(TcpFlags::SYN).options(&[30, 4, 0x01, 0x81]).frame(),
            build::tcp(tuple).flags(TcpFlags::SYN).frame(),
            vec![0; 5],
            build::tcp(tuple).flags(TcpFlags::SYN).options(&join).frame(),
        ];
        let (packets, handshakes) = read(&pcap(&frames)).unwrap();
        assert_eq!((packets, handshakes.len()), (4, 2));
        assert_eq!((handshakes[1].src_port, handshakes[1].flags.as_str()), (40_000, "SYN"));
        assert!((handshakes[1].at - 0.003).abs() < 1e-9);
        let Summary::Join { token, address_id, .. } = handshakes[1].option else { panic!() };
        assert_eq!((token.0, address_id), (0xdead_beef, 1));
    }

    #[test]
    fn half_a_capture_is_an_error_or_fewer_packets() {
        let whole = pcap(&[vec![0; 60]]);
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut]).map_or(true, |(packets, _)| packets == 0), "{cut}");
        }
    }
}
