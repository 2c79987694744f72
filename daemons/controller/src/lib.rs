//! Sockets, HTTP and metrics around the controller's brain.
