//! Why messages are refused. OpenFlow 1.3.5 §7.4.4.

use serde::Serialize;

use crate::id::ExperimenterId;
use crate::wire::wire_enum;

macro_rules! error_types {
    ($($(#[$meta:meta])* $number:literal $variant:ident($code:ty),)*) => {
        /// The type and the code of an error. OpenFlow 1.3.5 §7.4.4.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode {
            $($(#[$meta])* $variant($code),)*
            /// An error that an experimenter defined.
            Experimenter {
                /// Which of the experimenter's errors it is.
                exp_type: u16,
                /// Who defined it.
                experimenter: ExperimenterId,
            },
            /// An error of a type that OpenFlow 1.3 does not name.
            Unknown {
                /// Its type.
                error_type: u16,
                /// Its code.
                code: u16,
            },
        }

        impl ErrorCode {
            /// The type and the code as they are sent; for an experimenter's error, 0xffff and its type.
            pub fn numbers(self) -> (u16, u16) {
                match self {
                    $(Self::$variant(code) => ($number, code.into()),)*
                    Self::Experimenter { exp_type, .. } => (EXPERIMENTER, exp_type),
                    Self::Unknown { error_type, code } => (error_type, code),
                }
            }

            /// The error of these numbers; an experimenter's error still lacks the experimenter.
            pub(super) fn from_numbers(error_type: u16, code: u16) -> Self {
                match error_type {
                    $($number => Self::$variant(code.into()),)*
                    EXPERIMENTER => Self::Experimenter { exp_type: code, experimenter: ExperimenterId(0) },
                    error_type => Self::Unknown { error_type, code },
                }
            }
        }
    };
}

const EXPERIMENTER: u16 = 0xffff;

error_types! {
    /// The channel could not be opened.
    0 HelloFailed(HelloFailedCode),
    /// The request was not understood.
    1 BadRequest(BadRequestCode),
    /// An action was refused.
    2 BadAction(BadActionCode),
    /// An instruction was refused.
    3 BadInstruction(BadInstructionCode),
    /// A match was refused.
    4 BadMatch(BadMatchCode),
    /// A flow-mod was refused.
    5 FlowModFailed(FlowModFailedCode),
    /// A group-mod was refused.
    6 GroupModFailed(GroupModFailedCode),
    /// A port-mod was refused.
    7 PortModFailed(PortModFailedCode),
    /// A table-mod was refused.
    8 TableModFailed(TableModFailedCode),
    /// A request for queues was refused.
    9 QueueOpFailed(QueueOpFailedCode),
    /// A set-config was refused.
    10 SwitchConfigFailed(SwitchConfigFailedCode),
    /// A role request was refused.
    11 RoleRequestFailed(RoleRequestFailedCode),
    /// A meter-mod was refused.
    12 MeterModFailed(MeterModFailedCode),
    /// A request to change tables was refused.
    13 TableFeaturesFailed(TableFeaturesFailedCode),
}

wire_enum! {
    /// The channel could not be opened.
    pub enum HelloFailedCode(u16) {
        /// No common version.
        Incompatible = 0,
        /// Not permitted.
        Eperm = 1,
    }
}

wire_enum! {
    /// The request was not understood.
    pub enum BadRequestCode(u16) {
        /// The version is not supported.
        BadVersion = 0,
        /// The message type is not supported.
        BadType = 1,
        /// The multipart type is not supported.
        BadMultipart = 2,
        /// The experimenter is not known.
        BadExperimenter = 3,
        /// The experimenter's type is not known.
        BadExpType = 4,
        /// Not permitted.
        Eperm = 5,
        /// The length does not fit the type.
        BadLen = 6,
        /// The buffered packet was used before.
        BufferEmpty = 7,
        /// There is no such buffered packet.
        BufferUnknown = 8,
        /// There is no such table.
        BadTableId = 9,
        /// The controller has the role SLAVE.
        IsSlave = 10,
        /// The port is not valid.
        BadPort = 11,
        /// The packet in a packet-out is not valid.
        BadPacket = 12,
        /// A multipart request is too long altogether.
        MultipartBufferOverflow = 13,
    }
}

wire_enum! {
    /// An action was refused.
    pub enum BadActionCode(u16) {
        /// The type is not supported.
        BadType = 0,
        /// The length does not fit.
        BadLen = 1,
        /// The experimenter is not known.
        BadExperimenter = 2,
        /// The experimenter's type is not known.
        BadExpType = 3,
        /// The output port is not valid.
        BadOutPort = 4,
        /// An argument is not valid.
        BadArgument = 5,
        /// Not permitted.
        Eperm = 6,
        /// There are too many actions.
        TooMany = 7,
        /// The queue is not valid.
        BadQueue = 8,
        /// The group is not valid.
        BadOutGroup = 9,
        /// The action does not suit the match, or the field needs another before it.
        MatchInconsistent = 10,
        /// The order of an action list is not supported.
        UnsupportedOrder = 11,
        /// The tag is not supported.
        BadTag = 12,
        /// The field to set is not supported.
        BadSetType = 13,
        /// The length of the field to set does not fit.
        BadSetLen = 14,
        /// The value to set is not valid.
        BadSetArgument = 15,
    }
}

wire_enum! {
    /// An instruction was refused.
    pub enum BadInstructionCode(u16) {
        /// The type is not known.
        UnknownInst = 0,
        /// The table does not support it.
        UnsupInst = 1,
        /// There is no such table, or it is not a later one.
        BadTableId = 2,
        /// The metadata is not supported.
        UnsupMetadata = 3,
        /// The mask of the metadata is not supported.
        UnsupMetadataMask = 4,
        /// The experimenter is not known.
        BadExperimenter = 5,
        /// The experimenter's type is not known.
        BadExpType = 6,
        /// The length does not fit.
        BadLen = 7,
        /// Not permitted.
        Eperm = 8,
    }
}

wire_enum! {
    /// A match was refused.
    pub enum BadMatchCode(u16) {
        /// The match type is not supported.
        BadType = 0,
        /// The length does not fit.
        BadLen = 1,
        /// The tag is not supported.
        BadTag = 2,
        /// The mask of an Ethernet address is not supported.
        BadDlAddrMask = 3,
        /// The mask of an IP address is not supported.
        BadNwAddrMask = 4,
        /// The combination of fields left out is not supported.
        BadWildcards = 5,
        /// The field is not supported.
        BadField = 6,
        /// The value is not valid.
        BadValue = 7,
        /// The field takes no mask, or not this one.
        BadMask = 8,
        /// A field needs another before it.
        BadPrereq = 9,
        /// A field is there twice.
        DupField = 10,
        /// Not permitted.
        Eperm = 11,
    }
}

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
        /// What a bucket watches cannot be watched.
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
        /// What a bucket watches is not valid.
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
        /// What to advertise is not valid.
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
