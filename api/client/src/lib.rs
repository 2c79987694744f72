//! A blocking client of the controller's HTTP API: typed requests, all pages of lists, and followed events.
//!
//! It shows a token and checks certificates ([`Credentials`]), ignores web proxies, and turns problem documents into
//! errors that name the reason. It does not retry, and knows no command line: which controller, and with which
//! credentials, is the caller's choice.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use braid_api::Link;
//! use braid_client::Client;
//!
//! let client = Client::new(&"http://127.0.0.1:8653".parse()?, Duration::from_secs(5));
//! for link in client.list::<Link>()?.items {
//!     println!("{} > {}: {} bit/s", link.src, link.dst, link.capacity_bps);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod credentials;
mod endpoints;
mod error;
mod messages;
mod pages;
mod request;
mod url;

pub use credentials::Credentials;
pub use error::Error;
pub use messages::{Message, Messages};
pub use pages::List;
pub use request::{Client, Options};
pub use url::{Url, UrlError};
