//! Lists that are read page by page: a file each, with its route, its key, its form in JSON, and how it is copied.

/// Defines the route of a list.
macro_rules! list_route {
    ($(#[doc = $doc:literal])* $name:ident, $path:tt, $item:ty, $page:ident) => {
        $(#[doc = $doc])*
        #[utoipa::path(get, path = $path, params(braid_api::PageParameters), responses((status = 200, body = $page)))]
        pub(in crate::http) async fn $name(
            axum::extract::State(replica): axum::extract::State<crate::http::replica::Replica>,
            part: crate::http::problem::Asked<braid_api::PageParameters>,
        ) -> Result<axum::response::Response, crate::http::problem::Problem> {
            crate::http::replica::page::<$item>(&replica, part).await
        }
    };
}

mod alarms;
mod assignments;
mod edges;
mod hosts;
mod links;
mod switches;
mod transfers;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::replica::Replica;
pub(super) use assignments::placed;
pub(super) use transfers::kind;

/// Names the lists whose items are copied one after the other: a list, its item, and how a replica renews what a page needs
/// of it. A new list is a line here, and its file.
macro_rules! item_lists {
    ($then:ident) => {
        $then! {
            switches: crate::state_copy::ConnectedSwitch, renew_part;
            links: braid_control::view::LinkView, renew_part;
            hosts: braid_control::view::HostView, renew_hosts;
            alarms: braid_control::Alarm, renew_part;
            assignments: braid_control::AssignmentView, renew_part;
        }
    };
}
pub(crate) use item_lists;

macro_rules! define {
    ($($name:ident: $item:ty, $renew:ident;)*) => {
        /// All lists.
        pub(super) fn routes(replica: &Replica) -> OpenApiRouter {
            OpenApiRouter::new()
                $(.routes(routes!($name::$name)))*
                .routes(routes!(edges::edges))
                .routes(routes!(transfers::transfers))
                .with_state(replica.clone())
        }
    };
}
item_lists!(define);
