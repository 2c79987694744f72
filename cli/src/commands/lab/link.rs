//! `braid lab link`: links of a running lab shown, changed, added and removed, and the process that emulates them.

use std::io::stdin;

use anyhow::Context;
use braid_lab::{LabName, Labs, LinkEdit, LinkInspection, WhichLink};
use braid_link_model::{Change, Delay, Distribution, Probability, QueueLimit};
use braid_types::BitsPerSec;
use clap::Subcommand;

use super::exit;
use super::link_table::{counters, links};
use crate::exit::{Code, error};
use crate::{complete, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Change a link at run time; properties that are not given stay
    ///
    /// Examples: braid lab link set east-asia SHA TOK --delay 40ms --loss 0.5%;
    /// braid lab link set SHA TOK --down. Frames in flight are not lost by a change.
    Set(Set),
    /// Add a link between two switches of Open vSwitch; both get a new port
    ///
    /// Example: braid lab link add ams2 gva1 --rate 50Mbit. The kernel makes it: with a rate and a queue, and more only if it
    /// has netem. The controller discovers it like any other, and knows its rate after `braid links measure`.
    Add(Add),
    /// Remove a link between two switches of Open vSwitch, with both ports
    Remove(Remove),
    /// Show the links of a lab with their properties and frame counters
    Show(Show),
    /// Emulate links in user space as described on standard input (internal)
    #[command(hide = true)]
    Serve,
}

#[derive(clap::Args)]
pub(crate) struct Set {
    /// The two ends of the link, each SWITCH, SWITCH:PORT, HOST or HOST.INTERFACE; LAB is optional if there is only one lab
    #[arg(value_names = ["LAB", "FROM", "TO"], num_args = 2..=3, required = true, add = complete::ends_of_links())]
    names: Vec<String>,
    #[command(flatten)]
    parameters: Parameters,
    /// Change only the direction from FROM to TO
    #[arg(long, conflicts_with = "reverse")]
    forward: bool,
    /// Change only the direction from TO to FROM
    #[arg(long)]
    reverse: bool,
    /// Cut the link: both ends lose their carrier
    #[arg(long, conflicts_with = "up")]
    down: bool,
    /// Restore the link
    #[arg(long)]
    up: bool,
    /// The number of the link, from 1, if there are several between the two ends
    #[arg(long, value_name = "NUMBER")]
    nth: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Add {
    /// The two switches; LAB is optional if there is only one lab
    #[arg(value_names = ["LAB", "FROM", "TO"], num_args = 2..=3, required = true, add = complete::ends_of_links())]
    names: Vec<String>,
    #[command(flatten)]
    parameters: Parameters,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Remove {
    /// The two ends of the link, each SWITCH or SWITCH:PORT; LAB is optional if there is only one lab
    #[arg(value_names = ["LAB", "FROM", "TO"], num_args = 2..=3, required = true, add = complete::ends_of_links())]
    names: Vec<String>,
    /// The number of the link, from 1, if there are several between the two ends
    #[arg(long, value_name = "NUMBER")]
    nth: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Parameters {
    /// The rate in bits per second, such as 50Mbit
    #[arg(long)]
    rate: Option<BitsPerSec>,
    /// The delay, such as 20ms
    #[arg(long)]
    delay: Option<Delay>,
    /// The variation of the delay
    #[arg(long)]
    jitter: Option<Delay>,
    /// The distribution of jitter: uniform or normal
    #[arg(long, value_parser = distribution)]
    distribution: Option<Distribution>,
    /// The share of lost frames, such as 1%
    #[arg(long)]
    loss: Option<Probability>,
    /// The average number of frames lost in a row
    #[arg(long, value_name = "FRAMES")]
    loss_burst: Option<f64>,
    /// The share of frames that overtake earlier ones
    #[arg(long)]
    reorder: Option<Probability>,
    /// The length of the queue, such as "100 packets" or 64kB
    #[arg(long)]
    queue: Option<QueueLimit>,
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The lab's name; optional if there is only one lab
    #[arg(add = complete::labs())]
    name: Option<LabName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => self::set(&set),
        Command::Add(add) => self::add(&add),
        Command::Remove(remove) => self::remove(&remove),
        Command::Show(show) => self::show(show),
        Command::Serve => braid_link::serve(stdin().lock()).context("links in user space"),
    }
}

fn set(set: &Set) -> anyhow::Result<()> {
    let labs = Labs::system();
    let (lab, from, to) = named(&labs, &set.names)?;
    let edit = set.edit();
    if edit == LinkEdit::default() {
        return Err(error(
            Code::Usage,
            "nothing to change; `braid lab link show` shows the links as they are",
        ));
    }
    let which = WhichLink { from: from.to_owned(), to: to.to_owned(), nth: set.nth };
    let link = exit(labs.change_link(&lab, &which, &edit))?;
    print(&lab, &[link], set.json, false)
}

fn add(add: &Add) -> anyhow::Result<()> {
    let labs = Labs::system();
    let (lab, from, to) = named(&labs, &add.names)?;
    let link = exit(labs.add_link(&lab, [from, to], &add.parameters.change()))?;
    print(&lab, &[link], add.json, false)
}

fn remove(remove: &Remove) -> anyhow::Result<()> {
    let labs = Labs::system();
    let (lab, from, to) = named(&labs, &remove.names)?;
    let which = WhichLink { from: from.to_owned(), to: to.to_owned(), nth: remove.nth };
    let link = exit(labs.remove_link(&lab, &which))?;
    print(&lab, &[link], remove.json, false)
}

/// The lab and both ends of a link.
fn named<'a>(labs: &Labs, names: &'a [String]) -> anyhow::Result<(LabName, &'a str, &'a str)> {
    match names {
        [lab, from, to] => Ok((exit(lab.parse().map_err(braid_lab::LabError::from))?, from, to)),
        [from, to] => Ok((only_lab(labs)?, from, to)),
        _ => Err(error(Code::Usage, "name the two ends of the link")),
    }
}

impl Set {
    fn edit(&self) -> LinkEdit {
        let change = self.parameters.change();
        let directions =
            [!self.reverse, !self.forward].map(|named| if named { change } else { Change::default() });
        let up = if self.up { Some(true) } else { self.down.then_some(false) };
        LinkEdit { directions, up }
    }
}

impl Parameters {
    fn change(&self) -> Change {
        let Self { rate, delay, jitter, distribution, loss, loss_burst, reorder, queue } = *self;
        Change { rate, queue, delay, jitter, distribution, loss, loss_burst, reorder }
    }
}

fn show(show: Show) -> anyhow::Result<()> {
    let labs = Labs::system();
    let lab = show.name.map_or_else(|| only_lab(&labs), Ok)?;
    print(&lab, &exit(labs.links(&lab))?, show.json, true)
}

fn print(lab: &LabName, all: &[LinkInspection], json: bool, counted: bool) -> anyhow::Result<()> {
    if json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "lab": lab, "links": all }));
    }
    let counters = if counted { counters(all) } else { None };
    let counters = counters.map_or_else(String::new, |table| format!("\n{table}"));
    output::text(&(links(all) + &counters))
}

fn only_lab(labs: &Labs) -> anyhow::Result<LabName> {
    let mut names = exit(labs.names())?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        (None, _) => Err(error(Code::NotFound, "there is no lab: create one with `braid lab deploy`")),
        (Some(_), false) => {
            Err(error(Code::Usage, "there are several labs: name one before the ends of the link"))
        }
    }
}

fn distribution(text: &str) -> Result<Distribution, String> {
    match text {
        "uniform" => Ok(Distribution::Uniform),
        "normal" => Ok(Distribution::Normal),
        _ => Err("uniform and normal are possible".to_owned()),
    }
}
