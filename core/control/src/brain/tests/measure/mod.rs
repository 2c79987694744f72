//! Links measured through control channels that take time.

mod capacity;
mod delay;
mod latent;
mod load;
mod publish;

use super::network::{HOST_PORT, dpid, ip, mac, port, tuple};
