//! Sites against each other over a network that loses, repeats, changes and forges.

mod attacks;
mod bonding;
mod reconfiguring;
mod sessions;
mod traffic;
mod world;
