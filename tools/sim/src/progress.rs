//! Progress of a study on standard error.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// How far a study is, on stderr: a bar if that is a terminal, else a line for every run.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    plain: bool,
}

impl Progress {
    /// Of so many runs.
    pub fn new(runs: u64) -> Self {
        let plain = !stderr().is_terminal();
        let bar = if plain { ProgressBar::hidden() } else { ProgressBar::new(runs) };
        bar.set_length(runs);
        // The template is a constant.
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Self { bar, plain }
    }

    /// A run is over, of which there is this to say.
    pub fn done(&self, what: String) {
        self.bar.inc(1);
        if self.plain {
            // `eprintln!` would panic without a reader.
            let _ = writeln!(stderr(), "{}/{} {what}", self.bar.position(), self.bar.length().unwrap_or(0));
        }
        self.bar.set_message(what);
    }

    /// Nothing more comes.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
