//! OpenFlow 1.3 messages to bytes and back, for both ends of the wire.
