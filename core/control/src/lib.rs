//! The controller's brain: events in, commands out. Performs no I/O.
//!
//! [`Session`] is one OpenFlow channel: bytes from a switch become [`Event`]s. [`Brain`] takes events in
//! order, each with its time, and appends [`Command`]s to a [`Commands`] batch; [`pipeline`] turns those
//! into OpenFlow messages. All three are deterministic: the same events give the same commands, so a run
//! that was recorded can be replayed.
//!
//! What it does not do: sockets, clocks, logging, configuration files. Those are `daemons/controller`.

mod brain;
mod command;
mod cookie;
mod event;
mod label;
mod notice;
pub mod pipeline;
mod port_counters;
mod request;
mod session;
mod threat;

pub use brain::{Alarm, Brain, Counters, Measuring, Relief, Role, Settings, Sizes, view};
pub use command::{Command, Commands, Target};
pub use cookie::{Cookie, Purpose};
pub use event::{Event, FoundMeters, FoundRules, PortStatus, Recorded, Stray, SwitchPorts};
pub use label::Label;
pub use notice::Notice;
pub use port_counters::PortCounters;
pub use request::{Asker, AssignedPath, AssignmentView, PlacedView, Refusal, Reply, Request, Ticket};
pub use session::{Session, SessionError, SessionEvent, SessionLimits, Unusable};
pub use threat::Threat;
