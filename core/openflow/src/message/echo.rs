//! Echo messages and experimenter messages, whose bodies are opaque bytes. OpenFlow 1.3.5 §7.5.2, §7.5.4.

use crate::id::ExperimenterId;
use crate::wire::{Bytes, wire_struct};

wire_struct! {
    /// An echo request or reply. OpenFlow 1.3.5 §7.5.2.
    pub struct Echo<'a> {
        /// The data that the reply returns unchanged.
        pub data: Bytes<'a>,
    }
}

wire_struct! {
    /// An experimenter extension: a message, or the body of a multipart message. OpenFlow 1.3.5 §7.5.4.
    pub struct Experimenter<'a> {
        /// The experimenter's id.
        pub experimenter: ExperimenterId,
        /// Which of the experimenter's messages it is.
        pub exp_type: u32,
        /// The body.
        pub data: Bytes<'a>,
    }
}
