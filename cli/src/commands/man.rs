//! `braid man`: manual pages of all commands.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::output;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write one file for each command into this folder, created if necessary, instead of printing all pages
    dir: Option<PathBuf>,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let mut command = crate::Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages)?;
    match &args.dir {
        Some(dir) => write(&pages, dir),
        None => output::text(&pages.into_iter().map(|page| page.text).collect::<String>()),
    }
}

/// A manual page in roff.
struct Page {
    file: String,
    text: String,
}

/// The page of the command, then those of its subcommands.
fn add_pages(command: &Command, pages: &mut Vec<Page>) -> anyhow::Result<()> {
    let source = concat!("braid ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("Braid");
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(Page { file: man.get_filename(), text: String::from_utf8(text)? });
    let mut shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    shown.try_for_each(|subcommand| add_pages(subcommand, pages))
}

fn write(pages: &[Page], dir: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    pages.iter().try_for_each(|page| {
        let path = dir.join(&page.file);
        fs::write(&path, &page.text).with_context(|| path.display().to_string())
    })
}
