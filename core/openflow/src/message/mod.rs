//! The messages. OpenFlow 1.3.5 §7.3 to §7.5.

mod async_config;
mod config;
mod echo;
mod error;
mod features;
mod flow_mod;
mod flow_removed;
mod group_mod;
mod hello;
mod meter_mod;
mod packet_in;
mod packet_out;
mod port_mod;
mod port_status;
mod queue;
mod role;
mod table_mod;

use serde::Serialize;

pub use async_config::{AsyncConfig, FlowRemovedReasons, PacketInReasons, PortReasons};
pub use config::{FragHandling, SwitchConfig};
pub use echo::{Echo, Experimenter};
pub use error::*;
pub use features::{Capabilities, SwitchFeatures};
pub use flow_mod::{FlowMod, FlowModCommand, FlowModFlags};
pub use flow_removed::{FlowRemoved, FlowRemovedReason};
pub use group_mod::{GroupMod, GroupModCommand, GroupType};
pub use hello::{Hello, HelloElement};
pub use meter_mod::{MeterBand, MeterFlags, MeterMod, MeterModCommand};
pub use packet_in::{PacketIn, PacketInReason};
pub use packet_out::PacketOut;
pub use port_mod::PortMod;
pub use port_status::{PortReason, PortStatus};
pub use queue::{PacketQueue, QueueGetConfigReply, QueueGetConfigRequest, QueueProperty, QueueRate};
pub use role::{ControllerRole, Role};
pub use table_mod::TableMod;

use crate::error::{DecodeError, EncodeError, Part};
use crate::header::{HEADER_LEN, Header, MessageType, VERSION};
use crate::id::Xid;
use crate::multipart::{MultipartReply, MultipartRequest};
use crate::wire::{Bytes, Prefixed, Reader, Wire};

macro_rules! messages {
    ($($(#[$meta:meta])* $variant:ident $(($body:ty))?,)*) => {
        /// A message of OpenFlow 1.3, in either direction.
        ///
        /// It borrows what has no fixed size: from the received bytes, or from what the sender has at hand.
        /// Serialises as an object with the key `type` and the fields of the message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Message<'a> {
            $($(#[$meta])* $variant $(($body))?,)*
            /// A message of a type that OpenFlow 1.3 does not have, kept as it is.
            Unknown {
                /// Its type.
                message_type: u8,
                /// The body after the header.
                body: Bytes<'a>,
            },
        }

        impl<'a> Message<'a> {
            /// The type of the message.
            pub const fn message_type(&self) -> MessageType {
                match self {
                    $(messages!(@pattern $variant $(($body))?) => MessageType::$variant,)*
                    Self::Unknown { message_type, .. } => MessageType::Unknown(*message_type),
                }
            }

            fn read_body(kind: MessageType, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                Ok(match kind {
                    $(MessageType::$variant => messages!(@read $variant $(($body))?, reader),)*
                    MessageType::Unknown(message_type) => Self::Unknown { message_type, body: reader.read()? },
                })
            }

            fn write_body(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                match self {
                    $(messages!(@bind $variant $(($body))?, body) => messages!(@write $(($body))?, body, out),)*
                    Self::Unknown { body, .. } => body.write(out),
                }
            }
        }
    };
    (@pattern $variant:ident ($body:ty)) => { Self::$variant(_) };
    (@pattern $variant:ident) => { Self::$variant };
    (@bind $variant:ident ($body:ty), $bound:ident) => { Self::$variant($bound) };
    (@bind $variant:ident, $bound:ident) => { Self::$variant };
    (@read $variant:ident ($body:ty), $reader:ident) => { Self::$variant($reader.read()?) };
    (@read $variant:ident, $reader:ident) => { Self::$variant };
    (@write ($body:ty), $bound:ident, $out:ident) => { $bound.write($out) };
    (@write , $bound:ident, $out:ident) => { Ok(()) };
}

messages! {
    /// Opens a channel; both ends send it first.
    Hello(Hello<'a>),
    /// Says that a message was refused.
    Error(ErrorMsg<'a>),
    /// Asks the other end for an echo.
    EchoRequest(Echo<'a>),
    /// Gives the echo.
    EchoReply(Echo<'a>),
    /// An experimenter extension.
    Experimenter(Experimenter<'a>),
    /// Asks the switch who it is.
    FeaturesRequest,
    /// The switch says who it is.
    FeaturesReply(SwitchFeatures),
    /// Asks for the switch's configuration.
    GetConfigRequest,
    /// Gives the switch's configuration.
    GetConfigReply(SwitchConfig),
    /// Sets the switch's configuration.
    SetConfig(SwitchConfig),
    /// The switch passes a packet to the controller.
    PacketIn(PacketIn<'a>),
    /// A flow ended.
    FlowRemoved(FlowRemoved<'a>),
    /// A port came, went or changed.
    PortStatus(PortStatus<'a>),
    /// The controller has the switch send a packet.
    PacketOut(PacketOut<'a>),
    /// Adds, changes or deletes flows.
    FlowMod(FlowMod<'a>),
    /// Adds, changes or deletes a group.
    GroupMod(GroupMod<'a>),
    /// Changes a port.
    PortMod(PortMod),
    /// Changes a table.
    TableMod(TableMod),
    /// Asks for statistics or descriptions.
    MultipartRequest(MultipartRequest<'a>),
    /// Gives statistics or descriptions.
    MultipartReply(MultipartReply<'a>),
    /// Asks to finish all that was asked before.
    BarrierRequest,
    /// Says that all that was asked before is finished.
    BarrierReply,
    /// Asks for the queues of a port.
    QueueGetConfigRequest(QueueGetConfigRequest),
    /// Gives the queues of a port.
    QueueGetConfigReply(QueueGetConfigReply<'a>),
    /// Asks for a role.
    RoleRequest(Role),
    /// Gives the role.
    RoleReply(Role),
    /// Asks which messages the switch sends of its own accord.
    GetAsyncRequest,
    /// Gives which messages the switch sends of its own accord.
    GetAsyncReply(AsyncConfig),
    /// Sets which messages the switch sends of its own accord.
    SetAsync(AsyncConfig),
    /// Adds, changes or deletes a meter.
    MeterMod(MeterMod<'a>),
}

impl<'a> Message<'a> {
    /// Decodes the message that `bytes` are, header included, without copying or allocating.
    ///
    /// HELLO may be of any version, for it is there to agree on one. Fails on any other message of another
    /// version than 1.3, and if any length within the message does not fit. Unknown types, fields, actions,
    /// instructions and properties are no failure.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<(Xid, Self), DecodeError> {
        let header = Header::decode(bytes)?;
        let kind = header.message_type;
        if kind != MessageType::Hello && header.version != VERSION {
            return Err(DecodeError::Version { version: header.version });
        }
        let mut whole = Reader::new(Part::Header, bytes);
        let mut body = whole.split(Part::Message(kind), usize::from(header.length), HEADER_LEN)?;
        whole.finish()?;
        body.skip(HEADER_LEN)?;
        let message = match Self::read_body(kind, &mut body) {
            Ok(Self::Hello(hello)) => Self::Hello(Hello { version: header.version, ..hello }),
            // Before 1.3 a HELLO had no elements, and whatever it holds is to be ignored.
            Err(_) if header.version < VERSION => Self::Hello(Hello::of_version(header.version)),
            other => other?,
        };
        body.finish()?;
        Ok((header.xid, message))
    }

    /// Appends the message to `out`, and leaves `out` as it was if that fails.
    ///
    /// Fails if the message or a part of it is longer than its length field can express: 65,535 bytes for most,
    /// 255 for a field of a match. Allocates only if `out` must grow.
    #[inline]
    pub fn encode(&self, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = out.len();
        let result = self.append(xid, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    #[inline]
    fn append(&self, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let kind = self.message_type();
        let message = Prefixed::begin(out, Part::Message(kind), 2);
        let [a, b, c, d] = xid.0.to_be_bytes();
        out.extend_from_slice(&[self.version(), kind.into(), 0, 0, a, b, c, d]);
        self.write_body(out)?;
        message.end(out)
    }

    const fn version(&self) -> u8 {
        match self {
            Self::Hello(hello) => hello.version,
            _ => VERSION,
        }
    }
}
