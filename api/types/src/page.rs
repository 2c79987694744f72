//! Lists that are read page by page.

use braid_types::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// A part of a list.
pub trait Page: DeserializeOwned + Serialize {
    /// What is listed.
    type Item;
    /// The name of the list: the end of its path, and the member of a page with the items.
    const NAME: &'static str;

    /// When the list was made and where the next page begins, and the items of this one.
    fn into_parts(self) -> ((Time, Option<String>), Vec<Self::Item>);
}

/// An item of a list.
pub trait Item: Serialize + DeserializeOwned {
    /// A part of the list.
    type Page: Page<Item = Self>;
}

/// The part of a list that is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageParameters {
    /// The greatest number of items of a page; 1000 by default
    #[param(minimum = 1, maximum = 10_000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page; without: the first page
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Only items that meet these conditions, such as `kind=mptcp sent_bps>10M`; pages may then be short or empty, and the
    /// one without `next_cursor` is the last
    #[param(max_length = 1_024)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

/// The metrics that are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MetricsParameters {
    /// Only the totals, without those of each link and edge; false by default
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<bool>,
}

/// Defines the pages of a list.
macro_rules! pages {
    ($(#[doc = $doc:literal])* $page:ident, $name:ident: $item:ty) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub struct $page {
            /// `braid/v1`
            #[schema(value_type = String)]
            pub schema: crate::Schema,
            /// Everything that happened until then is in the list.
            #[schema(value_type = crate::schema::Nanoseconds)]
            pub now: braid_types::Time,
            /// Where the next page begins; null on the last one.
            pub next_cursor: Option<String>,
            /// The items, in the order of their key.
            pub $name: Vec<$item>,
        }

        impl crate::Page for $page {
            type Item = $item;
            const NAME: &'static str = stringify!($name);

            fn into_parts(self) -> ((braid_types::Time, Option<String>), Vec<$item>) {
                ((self.now, self.next_cursor), self.$name)
            }
        }

        impl crate::Item for $item {
            type Page = $page;
        }
    };
}
pub(crate) use pages;
