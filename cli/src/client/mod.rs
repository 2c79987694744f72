//! Arguments and output of commands that query a running controller.

mod connect;
mod follow;
pub(crate) mod format;
pub(crate) mod route;
mod watch;

use braid_api::{Item, Page};
use braid_client::{Client, Error, List, Url};
use braid_filter::Filter;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::output;

pub(crate) use connect::{answer, connect, options, roots};
pub(crate) use follow::follow;

/// The options of every command that queries a controller.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address of the controller's API, http or https
    ///
    /// BRAID_TOKEN_FILE names a file with the API token, BRAID_CA one with the CA certificates for https.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The options of every command that prints a list.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Show only items that match, such as 'kind=mptcp sent_bps>10M -path=3 "10.0.0.1"'
    ///
    /// Conditions, all of which have to hold: words and phrases in any value; FIELD=VALUE, !=, ~ (contains), <, >, <=, >= with
    /// the fields of --json, for a list with any of its values. A minus sign negates a condition.
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true)]
    filter: Filter,
    #[command(flatten)]
    args: Args,
}

/// The options of lists that can be watched.
#[derive(clap::Args)]
pub(crate) struct WatchArgs {
    /// Refresh every second until Ctrl-C
    ///
    /// On a terminal the table is redrawn in place; elsewhere one table follows the other. With --json, each refresh is a
    /// line.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    list: ListArgs,
}

impl WatchArgs {
    /// A client of the named controller.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.list.args.client()
    }

    /// Whether the list is refreshed.
    pub(crate) const fn watches(&self) -> bool {
        self.watch
    }
}

/// Requests a list and prints it as JSON, or as the table that `table` makes of it.
pub(crate) fn show<T: Item>(list: &ListArgs, table: impl Fn(&List<T>) -> String) -> anyhow::Result<()> {
    let (body, answer) = list.ask(&list.args.client()?)?;
    if list.args.json { list.args.print(&body) } else { output::text(&table(&answer)) }
}

/// Requests a document whose field `name` is a list, and prints it as JSON, or as the text that `text` makes of it. Only
/// items that match the filter are in either.
pub(crate) fn show_document<T: DeserializeOwned>(
    list: &ListArgs,
    name: &str,
    request: impl FnOnce(&Client) -> Result<String, Error>,
    text: impl Fn(&T) -> String,
) -> anyhow::Result<()> {
    let client = list.args.client()?;
    let body = list.filtered(&client, name, answer(request(&client))?)?;
    if list.args.json {
        return list.args.print(&body);
    }
    output::text(&text(&answer(client.parse(&body))?))
}

/// As [`show`], once or every second.
pub(crate) fn show_or_watch<T: Item>(
    args: &WatchArgs,
    table: impl Fn(&List<T>) -> String,
) -> anyhow::Result<()> {
    if args.watch { watch::watch(&args.list, table) } else { show(&args.list, table) }
}

/// Requests all items of a list.
pub(crate) fn list<T: Item>(client: &Client) -> anyhow::Result<Vec<T>> {
    Ok(answer(client.list())?.items)
}

impl ListArgs {
    /// The matching items of the list, as text and parsed.
    fn ask<T: Item>(&self, client: &Client) -> anyhow::Result<(String, List<T>)> {
        let name = T::Page::NAME;
        let body = self.filtered(client, name, answer(client.list_text(name, self.filter.text()))?)?;
        let list = answer(client.read_list(&body))?;
        Ok((body, list))
    }

    /// A document with the matching items of its list `name`.
    fn filtered(&self, client: &Client, name: &str, body: String) -> anyhow::Result<String> {
        if self.filter.is_empty() {
            return Ok(body);
        }
        let mut value: Value = answer(client.parse(&body))?;
        if let Some(Value::Array(items)) = value.get_mut(name) {
            items.retain(|item| self.filter.fits(item));
        }
        Ok(value.to_string())
    }
}

impl Args {
    /// Whether to print JSON.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// A client of the named controller.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        connect(&self.controller)
    }

    /// Requests `name` with these parameters. Returns the response as text and parsed.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        parameters: &impl Serialize,
    ) -> anyhow::Result<(String, T)> {
        let client = self.client()?;
        let body = answer(client.get_text(name, parameters))?;
        let value = answer(client.parse(&body))?;
        Ok((body, value))
    }

    /// Prints a response as JSON.
    pub(crate) fn print(&self, body: &str) -> anyhow::Result<()> {
        output::text(&format!("{}\n", body.trim_end()))
    }
}
