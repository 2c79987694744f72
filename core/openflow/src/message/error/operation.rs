//! Errors of failed operations. OpenFlow 1.3.5 §7.4.4.6 to §7.4.4.14.

use crate::wire::wire_enum;

wire_enum! {
    /// A flow-mod was refused.
    pub enum FlowModFailedCode(u16) {
        /// No reason is given.
        Unspecified = 0,
        /// The table is full.
        TableFull = 1,
        /// There is no such table.
        BadTableId = 2,
        /// The flow overlaps another, and CHECK_OVERLAP is set.
        Overlap = 3,
        /// Not permitted.
        Eperm = 4,
        /// A timeout is not supported.
        BadTimeout = 5,
        /// The command is not known.
        BadCommand = 6,
        /// A flag is not known.
        BadFlags = 7,
    }
}

wire_enum! {
    /// A group-mod was refused.
    pub enum GroupModFailedCode(u16) {
        /// The group is there already.
        GroupExists = 0,
        /// The group is not valid.
        InvalidGroup = 1,
        /// Unequal weights are not supported.
        WeightUnsupported = 2,
        /// There are too many groups.
        OutOfGroups = 3,
        /// There are too many buckets.
        OutOfBuckets = 4,
        /// Groups cannot use groups.
        ChainingUnsupported = 5,
        /// The watched port or group of a bucket cannot be watched.
        WatchUnsupported = 6,
        /// Groups would form a loop.
        Loop = 7,
        /// There is no such group.
        UnknownGroup = 8,
        /// Another group uses the group.
        ChainedGroup = 9,
        /// The group type is not known.
        BadType = 10,
        /// The command is not known.
        BadCommand = 11,
        /// A bucket is not valid.
        BadBucket = 12,
        /// The watched port or group of a bucket is not valid.
        BadWatch = 13,
        /// Not permitted.
        Eperm = 14,
    }
}

wire_enum! {
    /// A port-mod was refused.
    pub enum PortModFailedCode(u16) {
        /// There is no such port.
        BadPort = 0,
        /// The port has another Ethernet address.
        BadHwAddr = 1,
        /// The configuration is not valid.
        BadConfig = 2,
        /// The advertised features are not valid.
        BadAdvertise = 3,
        /// Not permitted.
        Eperm = 4,
    }
}

wire_enum! {
    /// A table-mod was refused.
    pub enum TableModFailedCode(u16) {
        /// There is no such table.
        BadTable = 0,
        /// The configuration is not valid.
        BadConfig = 1,
        /// Not permitted.
        Eperm = 2,
    }
}

wire_enum! {
    /// A request for queues was refused.
    pub enum QueueOpFailedCode(u16) {
        /// There is no such port.
        BadPort = 0,
        /// There is no such queue.
        BadQueue = 1,
        /// Not permitted.
        Eperm = 2,
    }
}

wire_enum! {
    /// A set-config was refused.
    pub enum SwitchConfigFailedCode(u16) {
        /// The flags are not valid.
        BadFlags = 0,
        /// The length is not valid.
        BadLen = 1,
        /// Not permitted.
        Eperm = 2,
    }
}

wire_enum! {
    /// A role request was refused.
    pub enum RoleRequestFailedCode(u16) {
        /// The generation is older than one seen before.
        Stale = 0,
        /// Roles cannot be changed.
        Unsup = 1,
        /// The role is not valid.
        BadRole = 2,
    }
}

wire_enum! {
    /// A meter-mod was refused.
    pub enum MeterModFailedCode(u16) {
        /// No reason is given.
        Unspecified = 0,
        /// The meter is there already.
        MeterExists = 1,
        /// The meter is not valid.
        InvalidMeter = 2,
        /// There is no such meter.
        UnknownMeter = 3,
        /// The command is not known.
        BadCommand = 4,
        /// The flags are not supported.
        BadFlags = 5,
        /// The rate is not supported.
        BadRate = 6,
        /// The burst size is not supported.
        BadBurst = 7,
        /// A band is not supported.
        BadBand = 8,
        /// A band's value is not supported.
        BadBandValue = 9,
        /// There are too many meters.
        OutOfMeters = 10,
        /// There are too many bands.
        OutOfBands = 11,
    }
}

wire_enum! {
    /// A request to change tables was refused.
    pub enum TableFeaturesFailedCode(u16) {
        /// There is no such table.
        BadTable = 0,
        /// The metadata mask is not valid.
        BadMetadata = 1,
        /// A property's type is not known.
        BadType = 2,
        /// The length of a property does not fit.
        BadLen = 3,
        /// A property's value is not supported.
        BadArgument = 4,
        /// Not permitted.
        Eperm = 5,
    }
}
