//! The client of a running controller.

mod fetch;
mod filter;
mod follow;
pub(crate) mod format;
mod pages;
pub(crate) mod route;
pub(crate) mod view;
mod watch;

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use braid_types::Time;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::exit::{self, Code};
use crate::output;

pub(crate) use fetch::tls;
use filter::Filter;
pub(crate) use follow::follow;

/// What every command that asks a controller takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The controller's address for programs, http or https
    ///
    /// BRAID_TOKEN_FILE names a file with the token that it may want, BRAID_CA one with the certificates that its own leads to.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Controller,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What every command takes that lists something.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Show only what this is true of, such as 'kind=mptcp sent_bps>10M -path=3 "default route"'
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

/// Where a controller serves programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Controller(String);

/// A list and when it was made, on the controller's clock.
pub(crate) struct Answer<T> {
    pub(crate) now: Time,
    pub(crate) items: Vec<T>,
}

/// Asks for the list `name` and prints it as it came, or as the table that `table` makes of it.
pub(crate) fn show<T: DeserializeOwned>(
    list: &ListArgs,
    name: &str,
    table: impl Fn(&Answer<T>) -> String,
) -> anyhow::Result<()> {
    let (body, answer) = list.ask(name)?;
    if list.args.json { list.args.print(&body) } else { output::text(&table(&answer)) }
}

/// As [`show`], once or, if that is asked for, every second.
pub(crate) fn show_or_watch<T: DeserializeOwned>(
    args: &WatchArgs,
    name: &str,
    table: impl Fn(&Answer<T>) -> String,
) -> anyhow::Result<()> {
    if args.watch { watch::watch(&args.list, name, table) } else { show(&args.list, name, table) }
}

/// Asks for the list `name`.
pub(crate) fn list<T: DeserializeOwned>(controller: &Controller, name: &str) -> anyhow::Result<Vec<T>> {
    Ok(controller.list(name)?.1.items)
}

impl ListArgs {
    /// The list `name` as far as it is shown: as text, and read.
    fn ask<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<(String, Answer<T>)> {
        let controller = &self.args.controller;
        if self.filter == Filter::default() {
            return controller.list(name);
        }
        let filtered = |body: &str| {
            let mut body = read(body)?;
            self.filter.apply(body.get_mut(name));
            let body = body.to_string();
            read_list(&body, name).map(|answer| (body, answer))
        };
        filtered(&controller.whole(name)?).map_err(|reason| controller.no_answer(&reason))
    }
}

impl Args {
    /// Whether the answer is to be printed as it came.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// Asks for `name` with these parameters; the answer as it came, and as one value.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        parameters: &[(&str, String)],
    ) -> anyhow::Result<(String, T)> {
        let value = |body: &str| {
            read(body).and_then(|body| serde_json::from_value(body).map_err(|error| error.to_string()))
        };
        self.controller.get(name, parameters, value)
    }

    /// Has the controller do `name` with these parameters; when it began, on its clock.
    pub(crate) fn order(&self, name: &str, parameters: &[(&str, String)]) -> anyhow::Result<Time> {
        self.controller.post(name, parameters)
    }

    /// Has the controller take `text` over as `name`; the answer as it came.
    pub(crate) fn put(&self, name: &str, text: &str) -> anyhow::Result<String> {
        fetch::put(&self.controller.0, &format!("/api/v1/{name}"), text)
    }

    /// The list `name`, and the answer as it came.
    pub(crate) fn list<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<(String, Answer<T>)> {
        self.controller.list(name)
    }

    /// Prints an answer as it came.
    pub(crate) fn print(&self, body: &str) -> anyhow::Result<()> {
        output::text(&format!("{}\n", body.trim_end()))
    }
}

impl Controller {
    fn list<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<(String, Answer<T>)> {
        let body = self.whole(name)?;
        let answer = read_list(&body, name).map_err(|reason| self.no_answer(&reason))?;
        Ok((body, answer))
    }

    fn stream(&self, name: &str, last: &str) -> anyhow::Result<impl BufRead + use<>> {
        fetch::stream(&self.0, &format!("/api/v1/{name}"), last)
    }

    fn post(&self, name: &str, parameters: &[(&str, String)]) -> anyhow::Result<Time> {
        let body = fetch::post(&self.0, &format!("/api/v1/{name}"), parameters)?;
        let mut answer = read(&body).map_err(|reason| self.no_answer(&reason))?;
        let now = answer.get_mut("now").map(Value::take).unwrap_or_default();
        serde_json::from_value(now).map_err(|error| self.no_answer(&format!("now: {error}")))
    }

    /// Sends an object to `name`; the answer.
    pub(crate) fn send(&self, method: &str, name: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = fetch::send(&self.0, method, &format!("/api/v1/{name}"), &body.to_string())?;
        read(&answer).map_err(|reason| self.no_answer(&reason))
    }

    fn get<T>(
        &self,
        name: &str,
        parameters: &[(&str, String)],
        read: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<(String, T)> {
        let body = fetch::get(&self.0, &format!("/api/v1/{name}"), parameters)?;
        let answer = read(&body).map_err(|reason| self.no_answer(&reason))?;
        Ok((body, answer))
    }

    fn no_answer(&self, reason: &str) -> anyhow::Error {
        exit::error(Code::Failure, format!("{self} gave no answer of a Braid controller: {reason}"))
    }
}

fn read(body: &str) -> Result<Value, String> {
    let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    match body.get("schema").and_then(Value::as_str) {
        Some("braid/v1") => Ok(body),
        schema => Err(format!("its schema is {}, not braid/v1", schema.unwrap_or("not given"))),
    }
}

fn read_list<T: DeserializeOwned>(body: &str, name: &str) -> Result<Answer<T>, String> {
    let mut body = read(body)?;
    let mut take = |key: &str| body.get_mut(key).map(Value::take).ok_or(format!("it has no {key}"));
    let now = serde_json::from_value(take("now")?).map_err(|error| format!("now: {error}"))?;
    let items = serde_json::from_value(take(name)?).map_err(|error| format!("{name}: {error}"))?;
    Ok(Answer { now, items })
}

impl FromStr for Controller {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            None => Ok(Self(format!("http://{}", text.trim_end_matches('/')))),
            Some(("http" | "https", _)) => Ok(Self(text.trim_end_matches('/').to_owned())),
            Some((scheme, _)) => Err(format!("{scheme} is not spoken, only http and https")),
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_is_a_url_or_an_address() {
        for text in ["http://10.0.0.1:80", "http://10.0.0.1:80/", "10.0.0.1:80"] {
            assert_eq!(text.parse(), Ok(Controller("http://10.0.0.1:80".to_owned())), "{text}");
        }
        assert_eq!("https://10.0.0.1".parse(), Ok(Controller("https://10.0.0.1".to_owned())));
        assert!("ftp://10.0.0.1".parse::<Controller>().is_err());
    }

    #[test]
    fn answer_of_something_else_is_refused() {
        let refusal = |body: &str| read_list::<u8>(body, "links").err().unwrap();
        assert_eq!(refusal(r#"{"schema":"braid/v2","links":[]}"#), "its schema is braid/v2, not braid/v1");
        assert_eq!(refusal(r#"{"now":1,"links":[]}"#), "its schema is not given, not braid/v1");
        assert_eq!(refusal(r#"{"schema":"braid/v1","now":1}"#), "it has no links");
        assert!(refusal("<html>").starts_with("expected value"));
    }
}
