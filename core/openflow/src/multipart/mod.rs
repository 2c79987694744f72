//! Statistics and descriptions, asked for and given in as many messages as they need. OpenFlow 1.3.5 §7.3.5.

mod desc;
mod flow;
mod group;
mod meter;
mod port;
mod queue;
mod table;
mod table_features;
mod table_ids;

use serde::Serialize;

pub use desc::Desc;
pub use flow::{AggregateStats, FlowStats, FlowStatsRequest};
pub use group::{
    ActionTypes, BucketCounter, GroupCapabilities, GroupDesc, GroupFeatures, GroupStats, GroupStatsRequest,
    GroupTypes,
};
pub use meter::{BandTypes, MeterBandStats, MeterConfig, MeterFeatures, MeterRequest, MeterStats};
pub use port::{PortStats, PortStatsRequest};
pub use queue::{QueueStats, QueueStatsRequest};
pub use table::TableStats;
pub use table_features::{TableFeatureProperty, TableFeatures};
pub use table_ids::{ActionId, InstructionId, OxmId};

use crate::error::{DecodeError, EncodeError, Part};
use crate::message::Experimenter;
use crate::port::Port;
use crate::wire::{Bytes, List, Reader, Wire, wire_enum, wire_flags, zeros};

wire_enum! {
    /// The body of a multipart request. OpenFlow 1.3.5 §7.3.5.
    pub enum MultipartType(u16) {
        /// The description of the switch.
        Desc = 0,
        /// Flows.
        Flow = 1,
        /// Flows, summed up.
        Aggregate = 2,
        /// Counters of tables.
        Table = 3,
        /// Counters of ports.
        Port = 4,
        /// Counters of queues.
        Queue = 5,
        /// Counters of groups.
        Group = 6,
        /// Groups.
        GroupDesc = 7,
        /// The features of groups.
        GroupFeatures = 8,
        /// Counters of meters.
        Meter = 9,
        /// Meters.
        MeterConfig = 10,
        /// The features of meters.
        MeterFeatures = 11,
        /// The features of tables.
        TableFeatures = 12,
        /// Ports.
        PortDesc = 13,
        /// Defined by an experimenter.
        Experimenter = 0xffff,
    }
}

wire_flags! {
    /// Whether a request or a reply goes on. OpenFlow 1.3.5 §7.3.5.
    pub struct MultipartFlags(u16) {
        /// Another message of the same transaction follows.
        MORE = 1 << 0,
    }
}

macro_rules! multipart {
    (
        $(#[$meta:meta])* $message:ident, $(#[$body_meta:meta])* $bodies:ident:
        $($(#[$variant_meta:meta])* $variant:ident $(($body:ty))?,)*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct $message<'a> {
            /// Whether more follows.
            pub flags: MultipartFlags,
            /// The type of the multipart message.
            pub body: $bodies<'a>,
        }

        $(#[$body_meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $bodies<'a> {
            $($(#[$variant_meta])* $variant $(($body))?,)*
            /// Any other type, kept as it is.
            Unknown {
                /// Its type.
                multipart_type: u16,
                /// The body after the multipart header.
                body: Bytes<'a>,
            },
        }

        impl $bodies<'_> {
            /// The multipart type that it belongs to.
            pub const fn multipart_type(&self) -> MultipartType {
                match self {
                    $(multipart!(@pattern $variant $(($body))?) => MultipartType::$variant,)*
                    Self::Unknown { multipart_type, .. } => MultipartType::Unknown(*multipart_type),
                }
            }
        }

        impl<'a> Wire<'a> for $message<'a> {
            fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                let (kind, flags) = (reader.read()?, reader.read()?);
                reader.skip(4)?;
                let mut own = Reader::new(Part::$message(kind), reader.rest());
                let body = match kind {
                    $(MultipartType::$variant => multipart!(@read $bodies $variant $(($body))?, own),)*
                    MultipartType::Unknown(multipart_type) => {
                        $bodies::Unknown { multipart_type, body: own.read()? }
                    }
                };
                own.finish()?;
                Ok(Self { flags, body })
            }

            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                self.body.multipart_type().write(out)?;
                self.flags.write(out)?;
                zeros(out, 4);
                match &self.body {
                    $(multipart!(@bind $bodies $variant $(($body))?, body) => {
                        multipart!(@write $(($body))?, body, out)
                    })*
                    $bodies::Unknown { body, .. } => body.write(out),
                }
            }
        }
    };
    (@pattern $variant:ident ($body:ty)) => { Self::$variant(_) };
    (@pattern $variant:ident) => { Self::$variant };
    (@bind $bodies:ident $variant:ident ($body:ty), $bound:ident) => { $bodies::$variant($bound) };
    (@bind $bodies:ident $variant:ident, $bound:ident) => { $bodies::$variant };
    (@read $bodies:ident $variant:ident ($body:ty), $reader:ident) => { $bodies::$variant($reader.read()?) };
    (@read $bodies:ident $variant:ident, $reader:ident) => { $bodies::$variant };
    (@write ($body:ty), $bound:ident, $out:ident) => { $bound.write($out) };
    (@write , $bound:ident, $out:ident) => { Ok(()) };
}

multipart! {
    /// Asks for statistics or descriptions. OpenFlow 1.3.5 §7.3.5.
    MultipartRequest,
    /// The body of a multipart request.
    RequestBody:
    /// The description of the switch.
    Desc,
    /// The flows that fit.
    Flow(FlowStatsRequest<'a>),
    /// The sum of the flows that fit.
    Aggregate(FlowStatsRequest<'a>),
    /// Counters of all tables.
    Table,
    /// Counters of ports.
    Port(PortStatsRequest),
    /// Counters of queues.
    Queue(QueueStatsRequest),
    /// Counters of groups.
    Group(GroupStatsRequest),
    /// All groups.
    GroupDesc,
    /// The features of groups.
    GroupFeatures,
    /// Counters of meters.
    Meter(MeterRequest),
    /// Meters.
    MeterConfig(MeterRequest),
    /// The features of meters.
    MeterFeatures,
    /// The features of tables; with entries, the features to set.
    TableFeatures(List<'a, TableFeatures<'a>>),
    /// All ports.
    PortDesc,
    /// An experimenter extension.
    Experimenter(Experimenter<'a>),
}

multipart! {
    /// Gives statistics or descriptions. OpenFlow 1.3.5 §7.3.5.
    MultipartReply,
    /// The body of a multipart reply.
    ReplyBody:
    /// The description of the switch.
    Desc(Desc<'a>),
    /// Flows.
    Flow(List<'a, FlowStats<'a>>),
    /// The sum of flows.
    Aggregate(AggregateStats),
    /// Counters of tables.
    Table(List<'a, TableStats>),
    /// Counters of ports.
    Port(List<'a, PortStats>),
    /// Counters of queues.
    Queue(List<'a, QueueStats>),
    /// Counters of groups.
    Group(List<'a, GroupStats<'a>>),
    /// Groups.
    GroupDesc(List<'a, GroupDesc<'a>>),
    /// The features of groups.
    GroupFeatures(GroupFeatures),
    /// Counters of meters.
    Meter(List<'a, MeterStats<'a>>),
    /// Meters.
    MeterConfig(List<'a, MeterConfig<'a>>),
    /// The features of meters.
    MeterFeatures(MeterFeatures),
    /// The features of tables.
    TableFeatures(List<'a, TableFeatures<'a>>),
    /// Ports.
    PortDesc(List<'a, Port<'a>>),
    /// An experimenter extension.
    Experimenter(Experimenter<'a>),
}

impl<'a> From<RequestBody<'a>> for MultipartRequest<'a> {
    fn from(body: RequestBody<'a>) -> Self {
        Self { flags: MultipartFlags::NONE, body }
    }
}

impl<'a> From<ReplyBody<'a>> for MultipartReply<'a> {
    fn from(body: ReplyBody<'a>) -> Self {
        Self { flags: MultipartFlags::NONE, body }
    }
}
