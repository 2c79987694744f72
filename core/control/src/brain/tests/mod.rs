//! Whole networks of switches that forward packets by the rules the brain wrote.
