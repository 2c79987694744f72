//! The edge's OpenFlow side: `ovs-ofctl` as a controller, the group client, and outgoing connections.
//! Tests that need interfaces are in `tests/edge/edge.py`.

mod connecting;
mod groups;
mod ofctl;
mod support;
mod tls;
