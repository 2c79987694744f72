//! The path manager in user space: which subflows each connection has, by advice.
//!
//! [`Connections`] decides and does no I/O; [`Manager`] brings it events, advice and the time, and does what it orders.

mod adviser;
mod connections;
mod manager;
mod own;
mod stuck;

pub use adviser::{Adviser, MAX_ANSWER, Members, TIMEOUT};
pub use connections::{Connections, Order, Refusal};
pub use manager::{Input, Manager};
pub use own::advise;
pub use stuck::Stuck;
