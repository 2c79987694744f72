//! Tests on whole networks of switches that forward packets by the OpenFlow encoding of the brain's commands.

mod network;
mod switch;

mod advice;
mod advice_refusals;
mod assignments;
mod broadcast;
mod bypasses;
mod call_backs;
mod chaos;
mod consistency;
mod discovery;
mod ecmp;
mod edges;
mod forwarding;
mod hostile;
mod joint;
mod label_groups;
mod large;
mod lossy_links;
mod measure;
mod meters;
mod mptcp;
mod neighbours;
mod overload;
mod parallel;
mod policy;
mod prefetch;
mod protection;
mod rebalance;
mod records;
mod repair;
mod restart;
mod spray;
mod takeover;
mod trouble;
