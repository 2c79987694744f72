//! What Braid reads in packets: LLDP, ARP, ND, TCP flags, MPTCP options.
