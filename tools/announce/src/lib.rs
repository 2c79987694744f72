//! Runs a command, and tells a controller of its TCP connections before they open.
//!
//! The kernel stops the command, and whatever it starts, at each connect(2) and tells us (seccomp's user notification),
//! so that programs need no change and may be linked as they like. [`start`] begins a process that calls [`become_command`],
//! [`Watched::serve`] lets its connections go on one by one, and an [`Announcer`] has each placed on a path.
//!
//! How a controller is reached is for whoever implements [`Controller`].
//!
//! ```no_run
//! use std::process::Command;
//!
//! // Started with `--begin`, this program calls `become_command` with the arguments that follow.
//! let mut process = Command::new(std::env::current_exe()?);
//! process.args(["--begin", "iperf3", "-c", "10.0.0.2"]);
//! let watched = braid_announce::start(&mut process)?;
//! let status = watched.serve(|connection| println!("{connection} is about to open"))?;
//! println!("the command ended: {status}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod announcer;
mod connection;
mod notifications;
mod start;

pub use announcer::{Announcer, Assigning, Controller};
pub use notifications::Watched;
pub use start::{BecomeError, StartError, become_command, start};
