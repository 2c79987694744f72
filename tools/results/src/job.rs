//! A run of the plan, as a whole or shortened, with its number of repetitions.

use crate::plan::Run;
use crate::shorten::Shortening;

/// What is measured under one name.
#[derive(Clone, PartialEq, Debug)]
pub struct Job<'a> {
    /// Its folder in the store: the run's name, with `~` and the selection's where it is shortened.
    pub name: String,
    /// The run.
    pub run: &'a Run,
    /// What is left out.
    pub shortening: Option<&'a Shortening>,
    /// Repetitions.
    pub repeat: u16,
}
