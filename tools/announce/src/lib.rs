//! A runner for commands that announces their TCP connections to a controller before they open.
//!
//! The kernel stops the command and its children at each connect(2) and notifies this process (seccomp user notification).
//! So programs need no change, and may be linked statically. [`start`] starts a process that calls [`become_command`],
//! [`Watched::serve`] releases its connections one by one, and an [`Announcer`] has each placed on a path.
//!
//! The caller implements [`Controller`], the access to the controller's API.
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
