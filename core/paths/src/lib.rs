//! Path sets over a topology, one algorithm a file.
