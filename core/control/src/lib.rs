//! The controller's brain: events in, commands out. Performs no I/O.
//!
//! [`Session`] is one OpenFlow connection: bytes from a switch become [`Event`]s. [`Brain`] takes events in
//! order, each with its time, and appends [`Command`]s to a [`Commands`] batch. [`pipeline`] encodes those as
//! OpenFlow messages. All three are deterministic: the same events give the same commands, so a recorded run
//! can be replayed.
//!
//! Not included: sockets, clocks, logging, configuration files. Those are in `daemons/controller`.
//!
//! ```
//! use braid_control::{Brain, Command, Commands, Event, Settings, SwitchPorts};
//! use braid_types::{DatapathId, Time};
//!
//! let (mut brain, mut commands) = (Brain::new(Settings::default()), Commands::default());
//! let (dpid, description) = (DatapathId(1), "Open vSwitch".to_owned());
//! let switch = SwitchPorts { dpid, tables: 254, description, ports: Vec::new(), failover_groups: 0, select_groups: 0, installed: None };
//! brain.handle(Time::ZERO, &Event::SwitchUp(switch), &mut commands);
//! assert!(commands.iter().any(|it| matches!(it, Command::Reset { .. })));
//! assert!(commands.iter().any(|it| matches!(it, Command::Add { .. })));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod admission;
mod barrier;
mod bfd;
mod brain;
mod coalesce;
mod command;
mod context;
mod cookie;
mod counters;
mod discovery;
mod event;
mod fabric;
mod facts;
mod health;
mod hosts;
mod installed;
mod jitter;
mod label;
mod measurement;
mod names;
mod notice;
mod path_cache;
pub mod pipeline;
mod placer;
mod port_counters;
mod reconcile;
mod request;
mod requests;
mod reservations;
mod role;
mod routing;
mod session;
mod settings;
mod spray;
mod stalls;
mod streams;
mod threat;
pub mod view;
mod writer;

pub use admission::{Alarm, AlarmKey};
pub use brain::Brain;
pub use command::{Command, Commands, Encoder, Target};
pub use cookie::{Cookie, Purpose};
pub use counters::{Counters, Sizes};
pub use event::{
    Event, GroupReport, InstalledMeters, InstalledRules, PortStatus, Recorded, ShapedPort, SwitchPorts,
    UnknownRule,
};
pub use facts::{FACTS_VERSION, Fact, FactChange, FactKey, HostFact, LinkFact, LossyFact};
pub use health::LossEvidence;
pub use label::Label;
pub use names::{NetworkNames, NoNames, Text};
pub use notice::{LinkLoss, Notice};
pub use port_counters::PortCounters;
pub use request::{Asker, AssignedPath, AssignmentView, PlacedView, Refusal, Reply, Request, Ticket};
pub use role::Role;
pub use session::{DiscardReason, Session, SessionError, SessionEvent, SessionLimits};
pub use settings::{HealthSettings, MeasurementSettings, RebalanceSettings, Settings};
pub use threat::{AlarmSource, Threat};
