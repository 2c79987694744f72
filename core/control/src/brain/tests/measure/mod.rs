//! Links measured through control channels that take time.

mod delay;
mod latent;
mod load;
mod publish;

use super::network::{HOST_PORT, dpid, ip, mac, port, tuple};
