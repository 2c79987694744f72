//! iperf3 between the hosts.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::testbed::{Testbed, run};

pub(crate) struct Outcome {
    pub(crate) bits_per_second: f64,
    pub(crate) retransmits: u64,
}

/// Runs until it is dropped.
pub(crate) struct Background(Vec<Child>);

fn server(testbed: &Testbed, port: u16) -> Child {
    let words = format!("netns exec {} iperf3 -s -1 -p {port}", testbed.right());
    let server = Command::new("ip").args(words.split(' ')).stdout(Stdio::null()).spawn().expect("iperf3");
    std::thread::sleep(Duration::from_millis(400));
    server
}

/// One TCP flow from left to right.
pub(crate) fn iperf(testbed: &Testbed, seconds: u64, more: &[&str]) -> Outcome {
    let mut server = server(testbed, 5_201);
    let more = more.join(" ");
    let words =
        format!("ip netns exec {} iperf3 -c 10.9.0.2 -C cubic --json -t {seconds} {more}", testbed.left());
    let result: serde_json::Value = serde_json::from_str(&run(words.trim_end())).expect("what iperf3 says");
    let _ = server.wait();
    Outcome {
        bits_per_second: result["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or_default(),
        retransmits: result["end"]["sum_sent"]["retransmits"].as_u64().unwrap_or_default(),
    }
}

/// A TCP flow of a rate beside what is measured.
pub(crate) fn background(testbed: &Testbed, seconds: u64, bits_per_second: f64) -> Background {
    let server = server(testbed, 5_202);
    let words = format!(
        "netns exec {} iperf3 -c 10.9.0.2 -p 5202 -C cubic -t {} -b {bits_per_second:.0}",
        testbed.left(),
        seconds + 2
    );
    let client = Command::new("ip").args(words.split(' ')).stdout(Stdio::null()).spawn().expect("iperf3");
    std::thread::sleep(Duration::from_millis(500));
    Background(vec![client, server])
}

impl Drop for Background {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
