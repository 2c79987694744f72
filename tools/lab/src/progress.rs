//! Progress of a run on standard error, or nowhere.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The receiver of a run's progress.
pub trait Progress {
    /// A stage without a known length begins.
    fn stage(&self, what: &str);
    /// A transfer of this length begins.
    fn transfer(&self, what: &str, length: Duration);
    /// The time since the start of the transfer.
    fn elapsed(&self, elapsed: Duration);
    /// The run ends.
    fn done(&self);
}

/// A progress bar if standard error is a terminal; otherwise a line for every stage.
#[derive(Debug)]
pub struct StderrProgress {
    bar: ProgressBar,
    plain: bool,
}

/// No progress output.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl StderrProgress {
    /// Nothing is shown before the first stage.
    pub fn new() -> Self {
        let plain = !stderr().is_terminal();
        let bar = if plain { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        Self { bar, plain }
    }

    fn show(&self, what: &str, template: &str) {
        // The templates are constants of this file.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_message(what.to_owned());
        self.bar.enable_steady_tick(Duration::from_millis(100));
        if self.plain {
            // `eprintln!` would panic without a reader, and the lab would stay.
            let _ = writeln!(stderr(), "{what}");
        }
    }
}

impl Default for StderrProgress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress for StderrProgress {
    fn stage(&self, what: &str) {
        self.show(what, "{spinner} {msg}");
    }

    fn transfer(&self, what: &str, length: Duration) {
        self.bar.set_length(millis(length));
        self.bar.set_position(0);
        self.show(what, "{spinner} {msg} {wide_bar} {percent} %");
    }

    fn elapsed(&self, elapsed: Duration) {
        self.bar.set_position(millis(elapsed).min(self.bar.length().unwrap_or(0)));
    }

    fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for NoProgress {
    fn stage(&self, _: &str) {}
    fn transfer(&self, _: &str, _: Duration) {}
    fn elapsed(&self, _: Duration) {}
    fn done(&self) {}
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
