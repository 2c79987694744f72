//! The commands of `braid`, one file for each noun.

pub(crate) mod alarms;
pub(crate) mod cluster;
pub(crate) mod completion;
pub(crate) mod controller;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod edges;
pub(crate) mod events;
pub(crate) mod hosts;
pub(crate) mod lab;
pub(crate) mod links;
pub(crate) mod man;
pub(crate) mod openflow;
pub(crate) mod openflow_tls;
pub(crate) mod page;
pub(crate) mod paths;
pub(crate) mod policy;
pub(crate) mod recording;
pub(crate) mod results;
pub(crate) mod sim;
pub(crate) mod switches;
pub(crate) mod topology;
pub(crate) mod transfers;
