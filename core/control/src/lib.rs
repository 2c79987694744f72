//! The controller's brain: events in, commands out. Performs no I/O.
