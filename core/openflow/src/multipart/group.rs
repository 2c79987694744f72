//! Counters, descriptions and features of groups. OpenFlow 1.3.5 §7.3.5.9 to §7.3.5.11.

use std::time::Duration;

use crate::bucket::Bucket;
use crate::id::GroupId;
use crate::message::GroupType;
use crate::wire::{List, wire_flags, wire_struct};

wire_struct! {
    /// Asks for the counters of a group. OpenFlow 1.3.5 §7.3.5.9.
    pub struct GroupStatsRequest {
        /// The group, or `ALL`.
        pub group_id: GroupId; pad 4,
    }
}

wire_struct! {
    /// Counters of a group. OpenFlow 1.3.5 §7.3.5.9.
    pub struct GroupStats<'a> [GroupStats, length at 0, pad 2] {
        /// The group.
        pub group_id: GroupId,
        /// Flows and groups that use it.
        pub ref_count: u32; pad 4,
        /// Packets that it treated.
        pub packet_count: u64,
        /// Bytes of these packets.
        pub byte_count: u64,
        /// Whole seconds since it was added.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
        /// Counters of each bucket.
        pub bucket_stats: List<'a, BucketCounter>,
    }
}

impl GroupStats<'_> {
    /// The time since it was added.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}

wire_struct! {
    /// Counters of a bucket. OpenFlow 1.3.5 §7.3.5.9.
    pub struct BucketCounter {
        /// Packets that it treated.
        pub packet_count: u64,
        /// Bytes of these packets.
        pub byte_count: u64,
    }
}

wire_struct! {
    /// A group. OpenFlow 1.3.5 §7.3.5.10.
    pub struct GroupDesc<'a> [GroupDesc, length at 0] {
        /// Its type.
        pub group_type: GroupType; pad 1,
        /// The group.
        pub group_id: GroupId,
        /// Its buckets.
        pub buckets: List<'a, Bucket<'a>>,
    }
}

wire_struct! {
    /// The features of groups. OpenFlow 1.3.5 §7.3.5.11.
    ///
    /// The four numbers are for the group types all, select, indirect and fast failover.
    pub struct GroupFeatures {
        /// The group types that there are.
        pub types: GroupTypes,
        /// Their capabilities.
        pub capabilities: GroupCapabilities,
        /// The maximum number of groups of each type.
        pub max_groups: [u32; 4],
        /// The actions that they can do.
        pub actions: [ActionTypes; 4],
    }
}

wire_flags! {
    /// A set of group types.
    pub struct GroupTypes(u32) {
        /// Applies all buckets.
        ALL = 1 << 0,
        /// Chooses one bucket, by weight.
        SELECT = 1 << 1,
        /// Has one bucket.
        INDIRECT = 1 << 2,
        /// Uses the first bucket that is live.
        FF = 1 << 3,
    }
}

wire_flags! {
    /// The features of groups. OpenFlow 1.3.5 §7.3.5.11.
    pub struct GroupCapabilities(u32) {
        /// Select groups heed weights.
        SELECT_WEIGHT = 1 << 0,
        /// Select groups heed whether buckets are live.
        SELECT_LIVENESS = 1 << 1,
        /// Groups can use groups.
        CHAINING = 1 << 2,
        /// Loops of groups are refused, and groups in use are not deleted.
        CHAINING_CHECKS = 1 << 3,
    }
}

wire_flags! {
    /// A set of action types: bit `n` is type `n`.
    pub struct ActionTypes(u32) {
        /// Send to a port.
        OUTPUT = 1 << 0,
        /// Copy the time to live outwards.
        COPY_TTL_OUT = 1 << 11,
        /// Copy the time to live inwards.
        COPY_TTL_IN = 1 << 12,
        /// Set MPLS's time to live.
        SET_MPLS_TTL = 1 << 15,
        /// Lower MPLS's time to live.
        DEC_MPLS_TTL = 1 << 16,
        /// Add a VLAN tag.
        PUSH_VLAN = 1 << 17,
        /// Remove a VLAN tag.
        POP_VLAN = 1 << 18,
        /// Add an MPLS header.
        PUSH_MPLS = 1 << 19,
        /// Remove an MPLS header.
        POP_MPLS = 1 << 20,
        /// Choose the queue.
        SET_QUEUE = 1 << 21,
        /// Apply a group.
        GROUP = 1 << 22,
        /// Set IP's time to live.
        SET_NW_TTL = 1 << 23,
        /// Lower IP's time to live.
        DEC_NW_TTL = 1 << 24,
        /// Set a field of a header.
        SET_FIELD = 1 << 25,
        /// Add a provider backbone tag.
        PUSH_PBB = 1 << 26,
        /// Remove a provider backbone tag.
        POP_PBB = 1 << 27,
    }
}
