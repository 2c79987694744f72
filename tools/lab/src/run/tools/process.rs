//! Tool processes whose output goes to a file.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};

use crate::error::LabError;
use crate::system::Tool;

pub(super) fn spawn(mut tool: Tool, log: &Path) -> Result<Child, LabError> {
    let failed = |error| LabError::file(log, error);
    let output = File::create(log).map_err(failed)?;
    let errors = output.try_clone().map_err(failed)?;
    tool.spawn(Stdio::null(), output.into(), errors.into())
}

pub(super) fn ended(child: &mut Child) -> Result<Option<ExitStatus>, LabError> {
    child.try_wait().map_err(|error| LabError::io("waiting for a tool", error))
}

pub(super) fn last_line(log: &Path) -> String {
    let said = fs::read_to_string(log).unwrap_or_default();
    said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned()
}
