//! Link measurement over OpenFlow connections with latency.

mod capacity;
mod delay;
mod latent;
mod load;
mod publish;

use super::network::{HOST_PORT, dpid, ip, mac, port, tuple};
