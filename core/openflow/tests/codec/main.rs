//! Messages to bytes and back: against recorded ones, against other implementations, and at random.

mod golden;
mod known;
mod support;
