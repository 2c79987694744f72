//! The controller's brain: events in, commands out. Performs no I/O.
//!
//! [`Session`] is one OpenFlow channel: bytes from a switch become [`Event`]s. [`Brain`] takes events in
//! order, each with its time, and appends [`Command`]s to a [`Commands`] batch; [`pipeline`] turns those
//! into OpenFlow messages. All three are deterministic: the same events give the same commands, so a run
//! that was recorded can be replayed.
//!
//! What it does not do: sockets, clocks, logging, configuration files. Those are `daemons/controller`.
//!
//! ```
//! use braid_control::{Brain, Command, Commands, Event, Settings, SwitchPorts};
//! use braid_types::{DatapathId, Time};
//!
//! let (mut brain, mut commands) = (Brain::new(Settings::default()), Commands::default());
//! let (dpid, description) = (DatapathId(1), "Open vSwitch".to_owned());
//! let switch = SwitchPorts { dpid, tables: 254, description, ports: Vec::new(), failover_groups: 0, found: None };
//! brain.handle(Time::ZERO, &Event::SwitchUp(switch), &mut commands);
//! assert!(commands.iter().any(|it| matches!(it, Command::Reset { .. })));
//! assert!(commands.iter().any(|it| matches!(it, Command::Add { .. })));
//! ```

mod admission;
mod brain;
mod command;
mod context;
mod cookie;
mod counters;
mod discovery;
mod event;
mod fabric;
mod hosts;
mod label;
mod measurement;
mod notice;
mod path_cache;
pub mod pipeline;
mod port_counters;
mod request;
mod requests;
mod reservations;
mod restore;
mod role;
mod routing;
mod session;
mod settings;
mod spray;
mod streams;
mod threat;
pub mod view;
mod writer;

pub use admission::Alarm;
pub use brain::Brain;
pub use command::{Command, Commands, Target};
pub use cookie::{Cookie, Purpose};
pub use counters::{Counters, Sizes};
pub use event::{Event, FoundMeters, FoundRules, PortStatus, Recorded, Stray, SwitchPorts};
pub use label::Label;
pub use measurement::Measuring;
pub use notice::{LinkLoss, Notice};
pub use port_counters::PortCounters;
pub use request::{Asker, AssignedPath, AssignmentView, PlacedView, Refusal, Reply, Request, Ticket};
pub use role::Role;
pub use session::{Session, SessionError, SessionEvent, SessionLimits, Unusable};
pub use settings::Settings;
pub use streams::Relief;
pub use threat::Threat;
