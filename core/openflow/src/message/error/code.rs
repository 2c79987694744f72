//! The error codes of every error type. OpenFlow 1.3.5 §7.4.4.

use serde::Serialize;

use super::{operation::*, request::*};
use crate::id::ExperimenterId;

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
                /// The experimenter's id.
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
