//! What is answered, where no type that is served says it.

use braid_control::view::{EdgeView, HostView, LinkView, TransferView};
use braid_control::{Alarm, AssignmentView, PlacedView};
use braid_steering::Policies;
use braid_types::Time;
use utoipa::ToSchema;

use crate::http::live::Event;
use crate::state_copy::ConnectedSwitch;

/// Describes an answer with one list.
macro_rules! list {
    ($answer:ident, $name:ident: $item:ty) => {
        #[derive(ToSchema)]
        #[expect(dead_code, reason = "a description")]
        pub(super) struct $answer {
            /// `braid/v1`
            schema: String,
            /// What happened until then is in the list.
            now: Time,
            /// Where the next page begins; null after the last one.
            next_cursor: Option<String>,
            $name: Vec<$item>,
        }
    };
}

list!(Switches, switches: ConnectedSwitch);
list!(Links, links: LinkView);
list!(Hosts, hosts: HostView);
list!(Edges, edges: EdgeView);
list!(Transfers, transfers: TransferView);
list!(Alarms, alarms: Alarm);
list!(Assignments, assignments: AssignmentView);

/// What is wrong with a request: RFC 9457.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct ProblemDocument {
    schema: String,
    r#type: String,
    title: String,
    status: u16,
    /// In words.
    detail: String,
    /// For programs.
    code: String,
    /// Which parameter is wrong, or which field: its path, such as `subflows[0].local`.
    parameter: Option<String>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Events {
    schema: String,
    now: Time,
    /// Where the stream of events goes on.
    last_event_id: String,
    events: Vec<Event>,
}

/// It was done at this time, or has begun.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Done {
    schema: String,
    now: Time,
}

/// The data of the first message of a stream, named `snapshot`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Snapshot {
    schema: String,
    now: Time,
    switches: Vec<ConnectedSwitch>,
    links: Vec<LinkView>,
    hosts: Vec<HostView>,
    edges: Vec<EdgeView>,
    transfers: Vec<TransferView>,
    events: Vec<Event>,
}

/// What has changed of a list.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Changes<T> {
    /// New or different.
    set: Vec<T>,
    /// The keys of what is not there any more.
    gone: Vec<String>,
}

/// The data of the messages named `delta`; a list that has not changed is not there.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Delta {
    schema: String,
    now: Time,
    #[schema(nullable = false)]
    switches: Option<Changes<ConnectedSwitch>>,
    #[schema(nullable = false)]
    links: Option<Changes<LinkView>>,
    #[schema(nullable = false)]
    hosts: Option<Changes<HostView>>,
    #[schema(nullable = false)]
    edges: Option<Changes<EdgeView>>,
    #[schema(nullable = false)]
    transfers: Option<Changes<TransferView>>,
}

/// An assignment that was made, is renewed, or was given back.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Assigned {
    schema: String,
    assignment: AssignmentView,
    /// What it lacks of what was asked for, in words.
    warnings: Vec<String>,
}

/// A stream has its path.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Placed {
    schema: String,
    stream: PlacedView,
}

/// A stream is forgotten.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct Ended {
    schema: String,
}

/// What is steered how.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(super) struct PolicyInUse {
    schema: String,
    now: Time,
    policy: Policies,
}
