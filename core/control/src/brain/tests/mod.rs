//! Whole networks of switches that forward packets by the OpenFlow messages that the brain's commands become.

mod network;
mod switch;

mod advice;
mod assignments;
mod broadcast;
mod chaos;
mod consistency;
mod detours;
mod discovery;
mod edges;
mod forwarding;
mod guard;
mod hostile;
mod joint;
mod measure;
mod meters;
mod mptcp;
mod neighbours;
mod parallel;
mod policy;
mod records;
mod relief;
mod repair;
mod restart;
mod spray;
mod takeover;
mod trouble;
mod trunks;
