//! A controller on loopback, and switches that behave or do not.

mod access;
mod advice;
mod api;
mod browsers;
mod exhaustion;
mod hostile;
mod links;
mod live;
mod misbehaviour;
mod network;
mod openapi;
mod paths;
mod policy;
mod process;
mod reading;
mod recording;
mod rpc;
mod support;
