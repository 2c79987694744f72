//! Integration tests: a controller on loopback with well-behaved and misbehaving switches.

mod access;
mod advice;
mod api;
mod browsers;
mod cluster;
mod exhaustion;
mod hostile;
mod links;
mod live;
mod metrics;
mod misbehaviour;
mod names;
mod network;
mod openapi;
mod openflow_tls;
mod ovsdb;
mod paths;
mod policy;
mod process;
mod reading;
mod recording;
mod roles;
mod rpc;
mod rules;
mod support;
mod waits;
