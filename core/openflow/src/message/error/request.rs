//! Errors of malformed or refused requests. OpenFlow 1.3.5 §7.4.4.1 to §7.4.4.5.

use crate::wire::wire_enum;

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
        /// The combination of omitted fields is not supported.
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
