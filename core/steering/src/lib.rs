//! Transfers, their streams, and the policies that place streams on paths.
