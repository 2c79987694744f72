//! Links, TCP and MPTCP connections, and the clock that drives them.
//!
//! [`Simulation`] performs no I/O, has no threads, and draws all random numbers from its seed.
//!
//! ```
//! use braid_link_model::{Delay, Parameters};
//! use braid_sim::Control;
//! use braid_sim::engine::{Amount, NewConnection, Picos, Simulation};
//! use braid_types::BitsPerSec;
//!
//! let way = Parameters { rate: Some(BitsPerSec(100_000_000)), delay: Delay::from_millis(5), ..Parameters::default() };
//! let mut simulation = Simulation::new(Picos::from_micros(10), 1);
//! let [there, back] = [simulation.add_link(&way), simulation.add_link(&way)];
//! let transfer = NewConnection::tcp(vec![there], vec![back], Amount::Bytes(1_000_000), Control::Cubic);
//! let transfer = simulation.open(&transfer);
//! simulation.run_until(Picos::from_millis(1_000));
//! // 80 ms at the rate of the link, and slow start before that.
//! let seconds = simulation.finished(transfer).unwrap().as_secs_f64();
//! assert!((0.1..0.2).contains(&seconds));
//! ```

mod bits;
mod buffers;
mod connection;
mod edges;
mod event_queue;
mod hosts;
mod link;
mod linux;
mod packet;
mod ring;
mod sending;
mod simulation;
mod time;
mod timers;
mod write_queue;

pub(crate) use bits::Arrivals;
pub use connection::{Amount, NewConnection, Scheduler, Way};
pub use edges::Sprayed;
pub use event_queue::EventQueue;
pub use link::LinkCounters;
pub(crate) use packet::Stamp;
pub(crate) use ring::Ring;
pub use simulation::{ConnectionId, LinkId, Simulation, SubflowCounters};
pub use time::Picos;
