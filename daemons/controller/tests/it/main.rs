//! A controller on loopback, and switches that behave or do not.

mod api;
mod misbehaviour;
mod recording;
mod support;
