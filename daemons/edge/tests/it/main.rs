//! The edge's OpenFlow side: `ovs-ofctl` as a controller, the client of its groups, and a controller that it connects to.
//! What needs interfaces is in `tests/edge/edge.py`.

mod connecting;
mod groups;
mod ofctl;
mod support;
