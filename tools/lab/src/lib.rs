//! Testbeds from network namespaces and Open vSwitch, and the scenarios that run on them.
