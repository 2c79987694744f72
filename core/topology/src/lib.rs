//! Switches, ports, links and hosts: what the network is made of.
