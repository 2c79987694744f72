//! `braid switches rules`: the rules in a switch, and what they are for.

use std::time::Duration;

use braid_api::{Rule, Rules, RulesParameters};

use crate::client::{ListArgs, format, show_document};
use crate::table::table;
use crate::{complete, exit};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The switch, by its name or datapath id
    #[arg(add = complete::switches())]
    switch: String,
    /// Show only the rules of this table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=254))]
    table: Option<u8>,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<()> {
    let parameters = RulesParameters { table: args.table };
    show_document(&args.list, "rules", |client| client.rules_text(&args.switch, &parameters), text)
}

fn text(rules: &Rules) -> String {
    if rules.truncated {
        let advice = "choose a table with --table";
        exit::say(&format!("the switch has more rules than these {}: {advice}", rules.rules.len()));
    }
    let heading = ["TABLE", "PRIORITY", "PACKETS", "BYTES", "AGE", "PURPOSE", "MATCH", "ACTIONS", "GROUP"];
    table(heading, rules.rules.iter().map(row))
}

fn row(rule: &Rule) -> [String; 9] {
    [
        format::list([Some(rule.table.to_string()), rule.table_name.clone()].into_iter().flatten(), " "),
        rule.priority.to_string(),
        format::list(rule.packets, ""),
        rule.bytes.map_or_else(|| "-".to_owned(), format::bytes),
        age(rule.age_seconds),
        rule.purpose.clone(),
        rule.matching.clone(),
        rule.actions.clone(),
        // Beside the actions, which stay as `ovs-ofctl` reads them.
        format::list(rule.group.as_ref().map(|group| &group.purpose), ""),
    ]
}

/// A time that is known in whole seconds.
fn age(seconds: u32) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format::duration(Duration::from_secs(seconds.into())),
    }
}
