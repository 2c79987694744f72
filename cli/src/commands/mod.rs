//! One file a noun.

pub(crate) mod completion;
pub(crate) mod controller;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod lab;
pub(crate) mod openflow;
