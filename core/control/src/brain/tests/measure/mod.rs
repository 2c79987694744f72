//! Links measured through control channels that take time.

mod delay;
mod latent;
mod load;
mod publish;

use super::network::{HOST_PORT, ip, mac, port, tuple};
