//! Recorded captures, and tshark as the reference that parsers are compared with.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use braid_types::FiveTuple;
use pcap_parser::PcapCapture;

/// Every capture of `testdata`.
pub(crate) const CAPTURES: [&str; 7] = [
    "mptcp-v4-fullmesh",
    "mptcp-v6-fullmesh",
    "mptcp-v6-single",
    "mptcp-v4-checksum",
    "mptcp-v4-flags",
    "neighbours",
    "lldp-openvswitch",
];

pub(crate) fn capture_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name).with_extension("pcap")
}

/// The frames of a capture, cut as they were recorded.
pub(crate) fn capture(name: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(capture_path(name)).unwrap();
    let capture = PcapCapture::from_file(&bytes).unwrap();
    capture.blocks.iter().map(|block| block.data.to_vec()).collect()
}

/// What tshark prints for `fields`, a row for each frame. A field that occurs more than once is joined by commas.
pub(crate) fn tshark(frames: &[Vec<u8>], fields: &[&str]) -> Vec<Vec<String>> {
    tshark_pcap(&as_pcap(frames), fields)
}

/// The same for the bytes of a capture.
pub(crate) fn tshark_pcap(pcap: &[u8], fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-r", "-", "-n", "-T", "fields", "-E", "separator=;", "-E", "occurrence=a"]);
    for checked in ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"] {
        command.args(["-o", checked]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let text = run_with_input(command, pcap);
    text.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect()
}

fn run_with_input(mut command: Command, input: &[u8]) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!(
            "these tests compare with tshark, which cannot be started (Debian: apt install tshark): {error}"
        )
    });
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "tshark failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A classic pcap file of Ethernet frames.
fn as_pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut pcap = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65535, 1] {
        pcap.extend(word.to_be_bytes());
    }
    for (second, frame) in frames.iter().enumerate() {
        for word in [second, 0, frame.len(), frame.len()] {
            pcap.extend(u32::try_from(word).unwrap().to_be_bytes());
        }
        pcap.extend(frame);
    }
    pcap
}

pub(crate) fn tuple(src: &str, dst: &str) -> FiveTuple {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    FiveTuple { src: ip(src), dst: ip(dst), src_port: 40000, dst_port: 5201 }
}

pub(crate) fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text.split_whitespace().collect::<String>()).unwrap()
}
