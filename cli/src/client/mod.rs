//! Arguments and output of commands that ask a running controller.

mod connect;
mod filter;
mod follow;
pub(crate) mod format;
pub(crate) mod route;
mod watch;

use braid_api::{Item, Page};
use braid_client::{Client, List, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::output;

pub(crate) use connect::{answer, connect, roots};
use filter::Filter;
pub(crate) use follow::follow;

/// What every command that asks a controller takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The controller's API address, http or https
    ///
    /// BRAID_TOKEN_FILE names a file with the token, if the controller requires one. BRAID_CA names a file with the CA
    /// certificates for its TLS certificate.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What every command takes that lists something.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Show only what this is true of, such as 'kind=mptcp sent_bps>10M -path=3 "default path"'
    ///
    /// Words and phrases that stand in any value; FIELD=VALUE, !=, ~ (contains), <, >, <=, >= of the fields that --json shows,
    /// of a list any value; a minus sign before it: not. All of them have to hold.
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true)]
    filter: Filter,
    #[command(flatten)]
    args: Args,
}

/// Lists that can be watched.
#[derive(clap::Args)]
pub(crate) struct WatchArgs {
    /// Ask again every second, until Ctrl-C
    ///
    /// On a terminal the table is drawn anew in its place; elsewhere one table follows the other. With --json, each
    /// answer is a line.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    list: ListArgs,
}

/// Asks for a list and prints it as it came, or as the table that `table` makes of it.
pub(crate) fn show<T: Item>(list: &ListArgs, table: impl Fn(&List<T>) -> String) -> anyhow::Result<()> {
    let (body, answer) = list.ask(&list.args.client()?)?;
    if list.args.json { list.args.print(&body) } else { output::text(&table(&answer)) }
}

/// As [`show`], once or, if that is asked for, every second.
pub(crate) fn show_or_watch<T: Item>(
    args: &WatchArgs,
    table: impl Fn(&List<T>) -> String,
) -> anyhow::Result<()> {
    if args.watch { watch::watch(&args.list, table) } else { show(&args.list, table) }
}

/// Asks for all items of a list.
pub(crate) fn list<T: Item>(client: &Client) -> anyhow::Result<Vec<T>> {
    Ok(answer(client.list())?.items)
}

impl ListArgs {
    /// The list as far as it is shown: as text, and read.
    fn ask<T: Item>(&self, client: &Client) -> anyhow::Result<(String, List<T>)> {
        let name = T::Page::NAME;
        let mut body = answer(client.list_text(name))?;
        if self.filter != Filter::default() {
            let mut value: Value = answer(client.parse(&body))?;
            self.filter.apply(value.get_mut(name));
            body = value.to_string();
        }
        let list = answer(client.read_list(&body))?;
        Ok((body, list))
    }
}

impl Args {
    /// Whether the answer is to be printed as it came.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// A client of the controller that is named.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        connect(&self.controller)
    }

    /// Asks for `name` with these parameters; the answer as it came, and read.
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

    /// Prints an answer as it came.
    pub(crate) fn print(&self, body: &str) -> anyhow::Result<()> {
        output::text(&format!("{}\n", body.trim_end()))
    }
}
